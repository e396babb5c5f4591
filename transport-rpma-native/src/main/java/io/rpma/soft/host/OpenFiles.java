/*
 * Copyright 2026 The Netty over RPMA Authors
 *
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with the
 * License. You may obtain a copy of the License at
 *
 *     https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on an
 * "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License.
 */
package io.rpma.soft.host;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Sockets;
import io.rpma.software.OpenFileLimit;

/** Errors for a process, or a system, that has no file descriptor left. */
public final class OpenFiles {
    private OpenFiles() {
    }

    /** Returns whether an {@code errno} means that there is no file descriptor left. */
    public static boolean areExhausted(int errno) {
        return errno == Sockets.EMFILE || errno == Sockets.ENFILE;
    }

    /**
     * Returns the exception to be thrown.
     *
     * @param errno {@code EMFILE} or {@code ENFILE}
     * @param what cannot be done, as the beginning of a sentence
     */
    public static RpmaException failure(int errno, String what) {
        return SoftLog.failure(RpmaError.PROVIDER, errno, OpenFileLimit.text(errno, what), null);
    }
}
