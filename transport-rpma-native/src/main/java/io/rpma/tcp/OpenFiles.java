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
package io.rpma.tcp;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.software.OpenFileLimit;

/** Errors of a process, or of a system, that has no file descriptor left, or no memory for one. */
final class OpenFiles {
    private OpenFiles() {
    }

    /** Returns the exception to be thrown. */
    static RpmaException failure(int errno, String what) {
        boolean noMemory = errno == Posix.ENOMEM || errno == Sockets.ENOBUFS;
        return TcpLog.failure(noMemory ? RpmaError.NO_MEMORY : RpmaError.PROVIDER, errno, OpenFileLimit.text(errno, what), null);
    }
}
