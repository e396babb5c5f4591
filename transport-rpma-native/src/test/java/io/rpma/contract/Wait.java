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

import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

/** Waits on descriptors for events that must occur, with a deadline, and for events that must not occur, with a limit. */
final class Wait {
    private Wait() {
    }

    private static long deadline() {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Contract.DEADLINE);
    }

    private static void await(int fd, long deadline, String what) {
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (left <= 0 || !Poll.readable(fd, left)) {
            fail("no " + what + " within " + Contract.DEADLINE + " ms");
        }
    }

    /** Waits for the next connection request. */
    static ConnectionRequest request(Endpoint endpoint, ConnectionConfig config) throws RpmaException {
        long deadline = deadline();
        while (true) {
            ConnectionRequest request = endpoint.nextConnectionRequest(config);
            if (request != null) {
                return request;
            }
            await(endpoint.fd(), deadline, "connection request");
        }
    }

    /** Waits for the request of a client that may send it only when its events are taken. */
    static ConnectionRequest requestOf(Connection client, Endpoint endpoint, ConnectionConfig config) throws RpmaException {
        long deadline = deadline();
        ConnectionRequest request = endpoint.nextConnectionRequest(config);
        while (request == null) {
            assertNull(client.nextEvent());
            if (System.nanoTime() - deadline >= 0) {
                fail("no connection request within " + Contract.DEADLINE + " ms");
            }
            Thread.onSpinWait();
            request = endpoint.nextConnectionRequest(config);
        }
        return request;
    }

    /** Waits for the next event of a connection. */
    static ConnectionEvent event(Connection connection) throws RpmaException {
        long deadline = deadline();
        while (true) {
            ConnectionEvent event = connection.nextEvent();
            if (event != null) {
                return event;
            }
            await(connection.eventFd(), deadline, "connection event");
        }
    }

    /** Waits for this event to be the next one. */
    static void event(ConnectionEvent expected, Connection connection) throws RpmaException {
        assertEquals(expected, event(connection));
    }

    /** Checks that no event occurs. */
    static void noEvent(Connection connection) throws RpmaException {
        ConnectionEvent event = connection.nextEvent();
        if (event == null && Poll.readable(connection.eventFd(), Contract.ABSENCE)) {
            event = connection.nextEvent();
        }
        assertNull(event);
    }

    /** Waits for the event of a queue, and consumes the event. */
    static void consumed(CompletionQueue queue) throws RpmaException {
        long deadline = deadline();
        do {
            await(queue.fd(), deadline, "completion event");
        } while (!isThere(queue.consumeEvent()));
    }

    /** Waits for an event of a connection whose queues share their descriptor, and consumes the event. */
    static CompletionQueue consumed(Connection connection) throws RpmaException {
        long deadline = deadline();
        CompletionQueue queue;
        do {
            await(connection.completionFd(), deadline, "completion event");
            queue = connection.consumeCompletionEvent();
        } while (!isThere(queue != null));
        return queue;
    }

    /**
     * Returns whether there is an event. Normally a readable descriptor means that there is one. Over TCP, it may also mean that
     * another thread is reading data from the socket that may cause an event.
     */
    private static boolean isThere(boolean event) {
        assertTrue(event || Contract.PROVIDER.name().equals("tcp"), "the descriptor is readable, and there is no event");
        return event;
    }

    /** Waits for the given number of completions, in an order that loses no wake-up. Further completions stay in the queue. */
    static List<Completion> completions(CompletionQueue queue, int count) throws RpmaException {
        List<Completion> taken = new ArrayList<>();
        long deadline = deadline();
        while (true) {
            take(queue, count, taken);
            if (taken.size() == count) {
                return taken;
            }
            await(queue.fd(), deadline, "more completions than " + taken.size() + " of " + count + " " + taken);
            queue.consumeEvent();
        }
    }

    /** Waits for the next completion. */
    static Completion completion(CompletionQueue queue) throws RpmaException {
        return completions(queue, 1).getFirst();
    }

    /** Waits for the given number of completions of a queue that shares its descriptor. */
    static List<Completion> sharedCompletions(Connection connection, CompletionQueue queue, int count) throws RpmaException {
        List<Completion> taken = new ArrayList<>();
        long deadline = deadline();
        while (true) {
            take(queue, count, taken);
            if (taken.size() == count) {
                return taken;
            }
            await(connection.completionFd(), deadline, "more completions than " + taken.size() + " of " + count);
            connection.consumeCompletionEvent();
        }
    }

    /** Waits for the given number of completions, which must all be successes. */
    static List<Completion> successes(CompletionQueue queue, int count) throws RpmaException {
        List<Completion> taken = completions(queue, count);
        for (Completion completion : taken) {
            assertTrue(completion.success(), completion::toString);
        }
        return taken;
    }

    /** Waits for the next completion, which must be a success. */
    static Completion success(CompletionQueue queue) throws RpmaException {
        return successes(queue, 1).getFirst();
    }

    /** Waits for the next completion, which must be a failure. */
    static Completion failure(CompletionQueue queue) throws RpmaException {
        Completion completion = completion(queue);
        assertFalse(completion.success(), completion::toString);
        return completion;
    }

    /** Returns the completions that are in the queue now, at most the given number. */
    static List<Completion> available(CompletionQueue queue, int most) throws RpmaException {
        List<Completion> taken = new ArrayList<>();
        take(queue, most, taken);
        return taken;
    }

    /** Checks that the queue is empty and stays empty. */
    static void noCompletion(CompletionQueue queue) throws RpmaException {
        WorkCompletions batch = new WorkCompletions(1);
        assertEquals(0, queue.poll(batch), () -> "" + Completion.of(batch, 0));
        // The event may be a stale one, so only a poll shows whether there is a completion.
        if (Poll.readable(queue.fd(), Contract.ABSENCE)) {
            queue.consumeEvent();
        }
        if (Poll.readable(queue.fd(), Contract.ABSENCE)) {
            queue.consumeEvent();
        }
        assertEquals(0, queue.poll(batch), () -> "" + Completion.of(batch, 0));
    }

    private static void take(CompletionQueue queue, int count, List<Completion> taken) throws RpmaException {
        while (taken.size() < count) {
            WorkCompletions batch = new WorkCompletions(count - taken.size());
            int got = queue.poll(batch);
            for (int i = 0; i < got; i++) {
                taken.add(Completion.of(batch, i));
            }
            if (got == 0) {
                return;
            }
        }
    }
}
