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
package io.rpma.librpma;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.CFunction;
import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/** Makes the file descriptors of the library non-blocking. */
final class LibrpmaDescriptor {
    private static final CFunction POLL = CFunction.of("poll", 3);
    private static final short POLLIN = 1;

    private LibrpmaDescriptor() {
    }

    /**
     * Gets the descriptor of an object and makes it non-blocking.
     *
     * @param function {@code int f(handle, int *)}
     * @param name its name
     * @param handle the object
     * @return the descriptor, which the object owns
     */
    static int nonBlocking(MethodHandle function, String name, long handle) throws RpmaException {
        int fd = LibrpmaHandle.getInt(function, name, handle);
        int result = Posix.setNonBlocking(fd);
        if (result < 0) {
            throw new RpmaException(RpmaError.PROVIDER, -result, "the descriptor " + fd + " of " + name
                + " could not be made non-blocking: " + Posix.strerror(-result), null);
        }
        return fd;
    }

    /** Returns whether the next call on a descriptor would find an event or an error. */
    static boolean isReadable(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pollfd = arena.allocate(8, 4);
            pollfd.set(JAVA_INT, 0, fd);
            pollfd.set(JAVA_SHORT, 4, POLLIN);
            // After an interrupted or failed poll the state is unknown: let the call itself determine it.
            return POLL.call(pollfd.address(), 1L, 0) != 0;
        }
    }
}
