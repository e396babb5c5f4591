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
package io.rpma.soft;

import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Waits for a descriptor with edge-triggered notification, as the transport does: readiness is reported once, and again only
 * after something new has arrived.
 */
final class EdgeTriggered implements AutoCloseable {
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLLIN = 1;
    private static final int EPOLLET = 1 << 31;
    private static final MethodHandle EPOLL_CTL = Posix.downcallErrno("epoll_ctl",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));

    private final int epoll = Sockets.epollCreate();

    EdgeTriggered(int fd) {
        assertTrue(epoll >= 0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(16, 8);
            event.set(JAVA_INT, 0, EPOLLIN | EPOLLET);
            MemorySegment capture = Posix.capture();
            assertEquals(0, (int) EPOLL_CTL.invokeExact(capture, epoll, EPOLL_CTL_ADD, fd, event.address()));
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Waits until the descriptor is reported as ready. Returns whether this happens within the time. */
    boolean await(int millis) {
        return Sockets.poll(epoll, (short) Sockets.EPOLLIN, millis) > 0 && Sockets.epollNext(epoll) >= 0;
    }

    @Override
    public void close() {
        Posix.close(epoll);
    }
}
