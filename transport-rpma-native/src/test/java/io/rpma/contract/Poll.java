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
package io.rpma.contract;

import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/** Waits for descriptors with {@code poll(2)}, as a user of the descriptors would do. */
final class Poll {
    private static final short POLLIN = 1;
    private static final short POLLNVAL = 0x20;
    private static final long POLLFD = 8;
    private static final MethodHandle POLL = Posix.downcallErrno("poll",
        FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));

    private Poll() {
    }

    /** Returns whether the descriptor is readable now. */
    static boolean readable(int fd) {
        return readable(fd, 0);
    }

    /** Waits for at most the given time until the descriptor is readable. Returns whether it is readable. */
    static boolean readable(int fd, long millis) {
        return any(millis, fd) == 0;
    }

    /**
     * Waits for at most the given time until one of the descriptors is readable. Returns the index of the first readable one, or
     * -1.
     */
    static int any(long millis, int... fds) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment set = arena.allocate(POLLFD * fds.length, 8);
            for (int i = 0; i < fds.length; i++) {
                set.set(JAVA_INT, POLLFD * i, fds[i]);
                set.set(JAVA_SHORT, POLLFD * i + 4, POLLIN);
            }
            int left = (int) millis;
            while (true) {
                MemorySegment capture = Posix.capture();
                int count;
                try {
                    count = (int) POLL.invokeExact(capture, set, (long) fds.length, left);
                } catch (Throwable e) {
                    throw Posix.unexpected(e);
                }
                if (count < 0 && Posix.errno(capture) != Posix.EINTR) {
                    throw new AssertionError("poll(2): " + Posix.strerror(Posix.errno(capture)));
                }
                for (int i = 0; count > 0 && i < fds.length; i++) {
                    short events = set.get(JAVA_SHORT, POLLFD * i + 6);
                    if ((events & POLLNVAL) != 0) {
                        throw new AssertionError("descriptor " + fds[i] + " is not open");
                    }
                    if (events != 0) {
                        return i;
                    }
                }
                left = (int) Math.max(0, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()));
                if (count == 0 && left == 0) {
                    return -1;
                }
            }
        }
    }
}
