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
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.ADDRESS;
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

    private static final MethodHandle CREATE = Posix.downcallErrno("epoll_create1", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle CTL = Posix.downcallErrno("epoll_ctl",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle WAIT = Posix.downcallErrno("epoll_wait",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT));

    private final int fd;

    /** Makes an empty set, which lives as long as the process. */
    Epoll() {
        MemorySegment capture = Posix.capture();
        try {
            fd = (int) CREATE.invokeExact(capture, CLOEXEC);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
        if (fd < 0) {
            throw new IllegalStateException("epoll_create1: " + Posix.strerror(Posix.errno(capture)));
        }
    }

    /**
     * Watches a descriptor until it is readable, once.
     *
     * @return 0, or {@code -errno}
     */
    int add(int watched) {
        return control(CTL_ADD, watched);
    }

    /** Watches a descriptor once more. */
    int again(int watched) {
        return control(CTL_MOD, watched);
    }

    /** Stops watching a descriptor if it is still open. */
    void remove(int watched) {
        control(CTL_DEL, watched);
    }

    private int control(int operation, int watched) {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(BYTES, 8);
            event.set(JAVA_INT, 0, IN | ONESHOT);
            event.set(JAVA_INT_UNALIGNED, DATA, watched);
            return (int) CTL.invokeExact(capture, fd, operation, watched, event) == 0 ? 0 : -Posix.errno(capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
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
            MemorySegment capture = Posix.capture();
            int count;
            try {
                count = (int) WAIT.invokeExact(capture, fd, events, BATCH, -1);
            } catch (Throwable e) {
                throw Posix.unexpected(e);
            }
            if (count < 0 && Posix.errno(capture) != Posix.EINTR) {
                throw new IllegalStateException("epoll_wait: " + Posix.strerror(Posix.errno(capture)));
            }
            for (int i = 0; i < count; i++) {
                handler.ready(events.get(JAVA_INT_UNALIGNED, (long) BYTES * i + DATA));
            }
        }
    }
}
