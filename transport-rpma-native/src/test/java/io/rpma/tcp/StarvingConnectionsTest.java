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

import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.WorkCompletions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tests connections that wait for a receive of their shared receive queue. */
@Timeout(120)
class StarvingConnectionsTest {
    private static final int SILENT = 20;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final WorkCompletions batch = new WorkCompletions(1);
    private Station station;
    private SharedReceiveQueue queue;
    private ConnectionConfig config;

    /** What ends a connection. */
    enum End { CLOSE, DISCONNECT, HANG_UP }

    /** A client and its connection. */
    private record Pair(RawClient client, Connection server) {
        /** Sends a message that finds no receive. */
        void starve() throws Exception {
            client.write(message());
            assertEquals(Wire.NOT_READY, client.read(Wire.HEADER)[0]);
            awaitIdle();
        }

        private void awaitIdle() throws Exception {
            AdapterPlace place = (AdapterPlace) Station.field(Station.field(server, "pair"), "place");
            // The adapter would find the receive when it looks at the connection.
            while (place.isListed()) {
                Thread.onSpinWait();
            }
        }

        /** Sends the header and the first half of a message. */
        void sendHalf() throws Exception {
            client.write(message(), Wire.HEADER + 4);
        }
    }

    @BeforeEach
    void open() throws Exception {
        station = new Station();
    }

    @AfterEach
    void close() throws Exception {
        TcpSharedReceiveQueue.millisOfNext = TcpSharedReceiveQueue.MESSAGE_MILLIS;
        for (AutoCloseable one : opened) {
            one.close();
        }
        if (queue != null) {
            config.close();
            queue.close();
        }
        station.close();
    }

    private void share(int receives, int completions) throws Exception {
        try (SharedReceiveQueueConfig sizes = station.provider.newSharedReceiveQueueConfig().receiveQueueSize(receives)
                .receiveCompletionQueueSize(completions)) {
            queue = station.peer.newSharedReceiveQueue(sizes);
        }
        config = station.provider.newConnectionConfig().sharedReceiveQueue(queue);
    }

    private Pair connect() throws Exception {
        RawClient client = RawClient.requesting(station.address());
        opened.add(client);
        ConnectionRequest request = station.endpoint.waitForConnectionRequest(config, Station.LONG);
        Connection connection = request.connect(null);
        opened.add(connection);
        client.establish();
        assertEquals(ConnectionEvent.ESTABLISHED, connection.waitForEvent(Station.LONG));
        return new Pair(client, connection);
    }

    private Pair connectAndStarve() throws Exception {
        Pair pair = connect();
        pair.starve();
        return pair;
    }

    private static byte[] message() {
        return message(1);
    }

    private static byte[] message(int number) {
        return RawClient.frame(Wire.SEND, 0, 8, number, 0, 0, 0, 0, new byte[8]);
    }

    private Collection<?> starving() throws Exception {
        return (Collection<?>) Station.field(queue, "starving");
    }

    /** Posts receives, and waits until as many connections have taken them. */
    private void haveTaken(Pair... pairs) throws Exception {
        for (Pair pair : pairs) {
            queue.receive(station.region, 0, 64, 1);
            pair.sendHalf();
        }
        while (!((TcpSharedReceiveQueue) queue).receives().isEmpty()) {
            Thread.onSpinWait();
        }
    }

    /** Checks that a connection is told that there is a receive, and that its message is received. */
    private void assertServed(Pair pair) throws Exception {
        assertEquals(Wire.RESUME, pair.client.read(Wire.HEADER)[0]);
        pair.client.write(message());
        assertEquals(1, pair.server.completionQueue().poll(batch, Station.LONG));
        assertEquals(CompletionStatus.SUCCESS, batch.status(0));
    }

    /** The others are told that there is a receive, and do not send their messages again. */
    @Test
    void oneIsServedThoughManyOthersBeforeItAreSilent() throws Exception {
        share(1, 64);
        for (int i = 0; i < SILENT; i++) {
            connectAndStarve();
        }
        Pair last = connectAndStarve();
        queue.receive(station.region, 0, 64, 1);
        assertEquals(Wire.RESUME, last.client.read(Wire.HEADER)[0]);
        last.client.write(message());
        assertEquals(1, queue.receiveCompletionQueue().poll(batch, Station.LONG));
    }

    /** A connection that is closed in the middle of a message gives its receive back. */
    @Test
    void oneIsServedWithAReceiveThatIsGivenBack() throws Exception {
        share(1, 0);
        Pair first = connect();
        haveTaken(first);
        Pair second = connectAndStarve();
        first.server.close();
        assertServed(second);
    }

    /** The peer may end only its sending direction, and the application may keep the connection open. */
    @Test
    void theEndOfAPeerInTheMiddleOfAMessageGivesTheReceiveBack() throws Exception {
        share(1, 0);
        Pair first = connect();
        haveTaken(first);
        Pair second = connectAndStarve();
        first.client.endSending();
        assertServed(second);
        assertEquals(ConnectionEvent.CLOSED, first.server.waitForEvent(Station.LONG));
    }

    /** The connection that waits is served as soon as one of the others has ended. */
    @Test
    void silentPeersDoNotHoldReceivesForLong() throws Exception {
        TcpSharedReceiveQueue.millisOfNext = 500;
        share(2, 0);
        haveTaken(connect(), connect());
        assertServed(connectAndStarve());
    }

    /** With a completion queue, the receives complete there. The connection waits until the application has posted others. */
    @Test
    void theReceivesOfSilentPeersComplete() throws Exception {
        TcpSharedReceiveQueue.millisOfNext = 500;
        share(2, 64);
        List<Pair> silent = List.of(connect(), connect());
        haveTaken(silent.getFirst(), silent.getLast());
        connectAndStarve();
        for (int i = 0; i < 2; i++) {
            assertEquals(1, queue.receiveCompletionQueue().poll(batch, Station.LONG));
            assertEquals(CompletionStatus.WR_FLUSH_ERR, batch.status(0));
        }
        for (Pair pair : silent) {
            assertEquals(-1, pair.client.next());
            assertEquals(ConnectionEvent.LOST, pair.server.waitForEvent(Station.LONG));
        }
    }

    /** Nothing refers to a connection that needs no receive any more. */
    @ParameterizedTest
    @EnumSource(End.class)
    void connectionsThatHaveEndedDoNotWait(End end) throws Exception {
        share(1, 0);
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < SILENT; i++) {
            pairs.add(connectAndStarve());
        }
        assertEquals(SILENT, starving().size());
        for (Pair pair : pairs) {
            switch (end) {
                case CLOSE -> pair.server.close();
                case DISCONNECT -> {
                    pair.server.disconnect();
                    // The adapter's thread may have been driving the connection.
                    assertEquals(-1, pair.client.next());
                }
                case HANG_UP -> {
                    pair.client.hangUp();
                    assertEquals(ConnectionEvent.CLOSED, pair.server.waitForEvent(Station.LONG));
                }
            }
        }
        assertEquals(0, starving().size());
    }

    /** A thread that posts a receive takes a connection from the list, and may wake it much later. */
    @Test
    void aConnectionThatIsWokenLateIsOnTheListOnce() throws Exception {
        share(1, 0);
        Pair pair = connectAndStarve();
        TcpSharedReceiveQueue.Waiter taken = (TcpSharedReceiveQueue.Waiter) ((Queue<?>) starving()).remove();
        // The connection itself finds the receive, and then needs another one.
        queue.receive(station.region, 0, 64, 1);
        assertEquals(0, pair.server.completionQueue().poll(batch));
        assertServed(pair);
        pair.client.write(message(2));
        byte type = pair.client.read(Wire.HEADER)[0];
        if (type == Wire.ACK) {
            type = pair.client.read(Wire.HEADER)[0];
        }
        assertEquals(Wire.NOT_READY, type);
        pair.awaitIdle();
        assertEquals(1, starving().size());
        taken.wake();
        assertEquals(1, starving().size());
        pair.server.close();
        assertEquals(0, starving().size());
    }
}
