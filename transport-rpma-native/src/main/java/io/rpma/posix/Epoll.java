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

package io.rpma.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

/** A set of descriptors that are watched for input, each once ({@code epoll(7)} with {@code EPOLLONESHOT}). Thread-safe. */
final class Epoll {
    private static final int CLOEXEC = 0x80000;
    private static final int CTL_ADD = 1;
    private static final int CTL_DEL = 2;
    private static final int CTL_MOD = 3;
    private static final int IN = 1;
    private static final int ONESHOT = 1 << 30;
    // struct epoll_event is packed on x86-64 alone.
    private static final int DATA = System.getProperty("os.arch").equals("amd64") ? 4 : 8;
    private static final int BYTES = DATA + 8;
    private static final int BATCH = 64;
    private static final int EEXIST = 17;

    private static final CFunction CREATE = CFunction.of("epoll_create1", 1);
    private static final CFunction CTL = CFunction.of("epoll_ctl", 4);
    private static final CFunction WAIT = CFunction.of("epoll_wait", 4);

    private final int fd;

    /** Wraps a descriptor from {@link #create}. */
    Epoll(int fd) {
        this.fd = fd;
    }

    /**
     * Makes the descriptor of an empty set.
     *
     * @return the descriptor, or {@code -errno}
     */
    static int create() {
        return CREATE.call(CLOEXEC);
    }

    /**
     * Watches a descriptor until it is readable, once.
     *
     * @param again whether it is probably in the set already; a wrong value costs a system call
     * @return 0, or {@code -errno}
     */
    int watch(int watched, boolean again) {
        int result = control(again ? CTL_MOD : CTL_ADD, watched);
        return result == -Posix.ENOENT ? control(CTL_ADD, watched)
            : result == -EEXIST ? control(CTL_MOD, watched) : result;
    }

    /** Stops watching a descriptor if it is still open. */
    void remove(int watched) {
        control(CTL_DEL, watched);
    }

    private int control(int operation, int watched) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(BYTES, 8);
            event.set(JAVA_INT, 0, IN | ONESHOT);
            event.set(JAVA_INT_UNALIGNED, DATA, watched);
            return CTL.call(fd, operation, watched, event.address());
        }
    }

    /** Takes a descriptor that has become readable, or that has failed. */
    interface Ready {
        void ready(int watched);
    }

    /** Waits for descriptors in an endless loop. */
    void run(Ready handler) {
        MemorySegment events = Arena.ofAuto().allocate((long) BYTES * BATCH, 8);
        while (true) {
            int count = WAIT.call(fd, events.address(), BATCH, -1);
            if (count < 0 && count != -Posix.EINTR) {
                throw new IllegalStateException("epoll_wait: " + Posix.strerror(-count));
            }
            for (int i = 0; i < count; i++) {
                handler.ready(events.get(JAVA_INT_UNALIGNED, (long) BYTES * i + DATA));
            }
        }
    }
}
