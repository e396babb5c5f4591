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

import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.WorkCompletions;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests waiting for events as an event loop does: by a task if the provider runs one, and otherwise by a descriptor. */
class EventTaskContractTest extends ContractCase {
    private static final int NONE = Connection.NO_DESCRIPTOR;
    private static final long STEP_MILLIS = 10;

    /** What a loop knows about one source of events. */
    private static final class Watch {
        private final Semaphore told = new Semaphore(0);
        private int fd;

        /** Waits until there may be an event. */
        void await() throws InterruptedException {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Contract.DEADLINE);
            boolean woken = false;
            while (!woken) {
                assertTrue(System.nanoTime() - deadline < 0, "no event within " + Contract.DEADLINE + " ms");
                woken = told.tryAcquire() || (fd == NONE ? told.tryAcquire(STEP_MILLIS, TimeUnit.MILLISECONDS)
                    : Poll.readable(fd, STEP_MILLIS));
            }
        }

        void of(Connection connection) {
            fd = connection.eventFd(told::release);
        }

        void of(CompletionQueue queue) {
            fd = queue.fd(told::release);
        }

        /** Returns the next event of a connection, and watches it for the one after that. */
        ConnectionEvent next(Connection connection) throws RpmaException, InterruptedException {
            ConnectionEvent event = connection.nextEvent();
            while (event == null) {
                await();
                event = connection.nextEvent();
            }
            of(connection);
            return event;
        }
    }

    @Test
    void eachEventIsTold() throws Exception {
        Endpoint endpoint = endpoint();
        Watch atClient = new Watch();
        Watch atServer = new Watch();
        // The events begin before the listener has answered, if the provider allows it.
        ConnectionRequest request = peer().tryNewConnectionRequest(endpoint.localAddress(), config());
        if (request == null) {
            request = peer().newConnectionRequest(endpoint.localAddress(), config());
        }
        Connection client = scope.own(request.connect(null));
        atClient.of(client);
        Connection server = scope.own(Wait.requestOf(client, endpoint, config()).connect(null));
        atServer.of(server);
        assertEquals(ConnectionEvent.ESTABLISHED, atClient.next(client));
        assertEquals(ConnectionEvent.ESTABLISHED, atServer.next(server));
        assertNull(client.nextEvent());
        assertNull(server.nextEvent());
        client.disconnect();
        assertEquals(ConnectionEvent.CLOSED, atServer.next(server));
        server.disconnect();
        assertEquals(ConnectionEvent.CLOSED, atClient.next(client));
    }

    /** An event that has occurred before is told to the task that is set now, as a descriptor that is added now reports it. */
    @Test
    void anEarlierEventIsToldToALaterTask() throws Exception {
        Pair pair = pair();
        Watch first = new Watch();
        first.of(pair.server);
        pair.client.disconnect();
        first.await();
        Watch second = new Watch();
        second.of(pair.server);
        second.await();
        assertEquals(ConnectionEvent.CLOSED, second.next(pair.server));
    }

    @Test
    void anotherTaskReplacesTheFirst() throws Exception {
        Pair pair = pair();
        Watch first = new Watch();
        first.of(pair.server);
        Watch second = new Watch();
        second.of(pair.server);
        pair.client.disconnect();
        second.await();
        assertFalse(first.told.tryAcquire());
        assertEquals(ConnectionEvent.CLOSED, second.next(pair.server));
    }

    /** The same connection can be waited for by the descriptor, too. */
    @Test
    void theDescriptorStillReportsEvents() throws Exception {
        Pair pair = pair();
        Watch watch = new Watch();
        watch.of(pair.server);
        pair.client.disconnect();
        Wait.event(ConnectionEvent.CLOSED, pair.server);
    }

    /** Each completion in an armed queue is told, with receives of the connection's own and with a shared receive queue. */
    @Test
    void eachCompletionIsTold() throws Exception {
        completions(pair());
        SharedReceiveQueueConfig queueConfig = scope.own(Contract.PROVIDER.newSharedReceiveQueueConfig());
        SharedReceiveQueue queue = scope.own(peer().newSharedReceiveQueue(queueConfig));
        completions(scope.own(Pair.with().peer(peer()).both(config -> config.sharedReceiveQueue(queue)).connect()));
    }

    private static void completions(Pair pair) throws Exception {
        CompletionQueue queue = pair.client.completionQueue();
        Watch watch = new Watch();
        watch.of(queue);
        WorkCompletions batch = new WorkCompletions(4);
        for (int i = 0; i < 10; i++) {
            pair.client.write(pair.atServer, 0, pair.clientMemory, 0, 64, CompletionFlag.ALWAYS, i);
            int count = queue.poll(batch);
            while (count == 0) {
                watch.await();
                queue.consumeEvent();
                count = queue.poll(batch);
            }
            assertEquals(i, batch.context(0));
        }
    }
}
