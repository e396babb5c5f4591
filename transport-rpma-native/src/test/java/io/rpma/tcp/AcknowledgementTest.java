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

import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.WorkCompletions;
import io.rpma.posix.Sockets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests when an acknowledgement is sent in a frame of its own, and when together with an answer. */
@Timeout(120)
class AcknowledgementTest {
    /** The number of rounds in which the acknowledgement must be part of the answer. */
    private static final int TOGETHER = 25;
    private static final int MOST_ROUNDS = 1000;
    private static final int LENGTH = 8;
    private static final int MESSAGES = 4;

    /**
     * A thread that polls the completions of its sends does not see the messages in the shared queue. Polling twice therefore
     * does not mean that it has no answer to send. In some rounds, and on a busy machine in many, the adapter sends the
     * acknowledgement first.
     */
    @Test
    void rideOnAnswersWhereReceivesCompleteElsewhere() throws Exception {
        WorkCompletions batch = new WorkCompletions(4);
        try (Station station = new Station(); SharedReceiveQueue queue = newQueue(station);
                RawClient client = RawClient.requesting(station.address()); Connection server = accept(station, queue, client)) {
            CompletionQueue received = queue.receiveCompletionQueue();
            int together = 0;
            for (int round = 1; together < TOGETHER; round++) {
                assertTrue(round <= MOST_ROUNDS, together + " acknowledgements came with an answer, the others alone");
                client.write(RawClient.frame(Wire.SEND, Wire.WANTED, LENGTH, round, round - 1, 0, 0, 0, new byte[LENGTH]));
                assertEquals(1, Sockets.poll(received.fd(), (short) Sockets.EPOLLIN, (int) Station.LONG.toMillis()));
                for (int look = 0; look < 3; look++) {
                    server.completionQueue().poll(batch);
                }
                assertEquals(1, received.poll(batch, Station.LONG));
                assertEquals(CompletionStatus.SUCCESS, batch.status(0));
                queue.receive(station.region, 0, LENGTH, round);
                server.send(station.region, 64, LENGTH, CompletionFlag.ALWAYS, round);
                byte[] frame = client.read(Wire.HEADER);
                if (frame[0] == Wire.ACK) {
                    frame = client.read(Wire.HEADER);
                } else {
                    together++;
                }
                assertEquals(Wire.SEND, frame[0]);
                assertEquals((byte) round, frame[12], "the number that is acknowledged");
                client.read(LENGTH);
            }
        }
    }

    /**
     * A thread that polls without events receives several messages before it acknowledges them in one frame. In some rounds, and
     * on a busy machine in many, the adapter sends an acknowledgement before.
     */
    @Test
    void areForSeveralMessages() throws Exception {
        try (Station station = new Station(); SharedReceiveQueue queue = newQueue(station);
                RawClient client = RawClient.requesting(station.address()); Connection server = accept(station, queue, client)) {
            int number = 0;
            int together = 0;
            for (int round = 1; together < TOGETHER; round++) {
                assertTrue(round <= MOST_ROUNDS, together + " acknowledgements were for several messages");
                for (int i = 0; i < MESSAGES; i++) {
                    send(client, ++number);
                    receive(station, queue);
                }
                int frames = 0;
                byte acknowledged;
                do {
                    while (client.available() < Wire.HEADER) {
                        assertEquals(0, queue.receiveCompletionQueue().pollWithoutEvent(new WorkCompletions(4)));
                    }
                    byte[] frame = client.read(Wire.HEADER);
                    assertEquals(Wire.ACK, frame[0]);
                    acknowledged = frame[12];
                    frames++;
                } while (acknowledged != (byte) number);
                together += frames == 1 ? 1 : 0;
            }
            assertEquals(0, server.completionQueue().poll(new WorkCompletions(4)));
        }
    }

    /** A thread that polls for the last time before it waits leaves no acknowledgement pending. */
    @Test
    void areSentBeforeTheThreadWaits() throws Exception {
        try (Station station = new Station(); SharedReceiveQueue queue = newQueue(station);
                RawClient client = RawClient.requesting(station.address()); Connection server = accept(station, queue, client)) {
            for (int number = 1; number <= MESSAGES; number++) {
                send(client, number);
                receive(station, queue);
                // On a busy machine the adapter receives some messages, and signals an event.
                queue.receiveCompletionQueue().consumeEvent();
                assertEquals(0, queue.receiveCompletionQueue().pollWithoutEvent(new WorkCompletions(4)));
                assertEquals(Wire.HEADER, client.available());
                assertEquals((byte) number, client.read(Wire.HEADER)[12], "the number that is acknowledged");
            }
            assertEquals(0, server.completionQueue().poll(new WorkCompletions(4)));
        }
    }

    private static void send(RawClient client, int number) throws Exception {
        client.write(RawClient.frame(Wire.SEND, Wire.WANTED, LENGTH, number, 0, 0, 0, 0, new byte[LENGTH]));
    }

    /** Polls without events until a message has arrived, and posts its receive again. */
    private static void receive(Station station, SharedReceiveQueue queue) throws Exception {
        WorkCompletions batch = new WorkCompletions(4);
        long deadline = System.nanoTime() + Station.LONG.toNanos();
        while (queue.receiveCompletionQueue().pollWithoutEvent(batch) == 0) {
            assertTrue(System.nanoTime() - deadline < 0, "no message");
        }
        assertEquals(CompletionStatus.SUCCESS, batch.status(0));
        queue.receive(station.region, 0, LENGTH, 1);
    }

    /** If the process only polls the completions of its sends, messages in the shared queue are acknowledged nevertheless. */
    @Test
    void goAloneWhereNobodyAnswers() throws Exception {
        WorkCompletions batch = new WorkCompletions(4);
        try (Station station = new Station(); SharedReceiveQueue queue = newQueue(station);
                RawClient client = RawClient.requesting(station.address()); Connection server = accept(station, queue, client)) {
            client.write(RawClient.frame(Wire.SEND, Wire.WANTED, LENGTH, 1, 0, 0, 0, 0, new byte[LENGTH]));
            Thread poller = Thread.ofPlatform().daemon().start(() -> {
                try {
                    while (!Thread.currentThread().isInterrupted()) {
                        server.completionQueue().poll(batch);
                    }
                } catch (RpmaException e) {
                    throw new AssertionError(e);
                }
            });
            byte[] frame = client.read(Wire.HEADER);
            poller.interrupt();
            poller.join();
            assertEquals(Wire.ACK, frame[0]);
            assertEquals(1, frame[12], "the number that is acknowledged");
        }
    }

    private static SharedReceiveQueue newQueue(Station station) throws Exception {
        try (SharedReceiveQueueConfig config = station.provider.newSharedReceiveQueueConfig()) {
            SharedReceiveQueue queue = station.peer.newSharedReceiveQueue(config.receiveCompletionQueueSize(64));
            queue.receive(station.region, 0, LENGTH, 0);
            return queue;
        }
    }

    private static Connection accept(Station station, SharedReceiveQueue queue, RawClient client) throws Exception {
        try (ConnectionConfig config = station.provider.newConnectionConfig().completionQueueSize(64)) {
            ConnectionRequest request =
                station.endpoint.waitForConnectionRequest(config.sharedReceiveQueue(queue), Station.LONG);
            assertNotNull(request, "no request");
            Connection connection = request.connect(null);
            client.establish();
            assertEquals(ConnectionEvent.ESTABLISHED, connection.waitForEvent(Station.LONG));
            return connection;
        }
    }
}
