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
import io.rpma.posix.Posix;

/** Errors for a shortage in this process, because of which it cannot take what a peer has sent. The peer is not at fault. */
public final class Shortage {
    private Shortage() {
    }

    /** Returns whether an {@code errno} of {@code mmap} means a shortage of memory; others mean that the file is invalid. */
    public static boolean isOfMemory(int errno) {
        return errno == Posix.ENOMEM || errno == Posix.EAGAIN;
    }

    /**
     * Returns whether a call failed because this process lacks descriptors or memory, so that the call can be repeated when it
     * has more. A limit that is reached is no shortage.
     */
    public static boolean isCauseOf(RpmaException e) {
        return OpenFiles.areExhausted(e.errno()) || e.error() == RpmaError.NO_MEMORY && isOfMemory(e.errno());
    }

    /**
     * Returns the exception to be thrown.
     *
     * @param errno that there are too few descriptors, or that there is too little memory
     * @param what cannot be done, as the beginning of a sentence
     */
    public static RpmaException failure(int errno, String what) {
        return OpenFiles.areExhausted(errno) ? OpenFiles.failure(errno, what)
            : SoftLog.failure(RpmaError.NO_MEMORY, errno, what + ": " + Posix.strerror(errno) + "; this process has too little"
                + " address space left (ulimit -v) or too many mappings (sysctl vm.max_map_count), or the machine has too little"
                + " memory",
                null);
    }
}
