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

import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/** Waits on the provider's descriptors as an event loop does, but with a time limit. */
final class Wait {
    private static final int LIMIT_MILLIS = 20_000;
    private static final MethodHandle POLL =
        Posix.downcallErrno("poll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));

    private Wait() {
    }

    /** Returns whether a descriptor becomes readable in time. */
    static boolean readable(int fd, int millis) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pollfd = arena.allocate(8, 4);
            pollfd.set(JAVA_INT, 0, fd);
            pollfd.set(JAVA_SHORT, 4, (short) 1);
            return (int) POLL.invokeExact(Posix.capture(), pollfd, 1L, millis) > 0;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static void readable(int fd, String what) {
        if (!readable(fd, LIMIT_MILLIS)) {
            throw new AssertionError(what + " did not occur within " + LIMIT_MILLIS + " ms");
        }
    }

    static ConnectionEvent event(Connection connection) throws RpmaException {
        while (true) {
            ConnectionEvent event = connection.nextEvent();
            if (event != null) {
                return event;
            }
            readable(connection.eventFd(), "a connection event");
        }
    }

    static ConnectionRequest request(Endpoint endpoint, ConnectionConfig config) throws RpmaException {
        while (true) {
            ConnectionRequest request = endpoint.nextConnectionRequest(config);
            if (request != null) {
                return request;
            }
            readable(endpoint.fd(), "a connection request");
        }
    }

    /** Waits for at least one completion, in an order that loses no wake-up. Returns the number of completions. */
    static int completions(CompletionQueue queue, WorkCompletions completions) throws RpmaException {
        while (true) {
            int count = queue.poll(completions);
            if (count > 0) {
                return count;
            }
            if (!queue.consumeEvent()) {
                readable(queue.fd(), "a completion");
            }
        }
    }
}
