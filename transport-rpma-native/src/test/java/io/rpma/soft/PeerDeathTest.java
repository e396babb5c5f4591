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

import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.WorkCompletions;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests that the death or stop of the other process at any moment causes an event, never a hang, and loses nothing; and that
 * memory that has been taken away from it is not accessed.
 */
@Timeout(120)
class PeerDeathTest {
    private static final int FLUSHED = CompletionStatus.WR_FLUSH_ERR.code();
    private static final int LARGE = 1 << 20;

    private Listening listening;
    private Station station;
    private Endpoint endpoint;
    private int port;

    @BeforeEach
    void open() throws Exception {
        listening = new Listening();
        station = listening.station;
        endpoint = listening.endpoint;
        port = listening.port;
    }

    @AfterEach
    void close() throws Exception {
        listening.close();
    }

    private Connection accept(ConnectionConfig config, int receives) throws Exception {
        return listening.accept(config, receives, 64);
    }

    /**
     * The process dies in the middle of its third message. The completed messages are available, and the other receives are
     * flushed.
     */
    @ParameterizedTest
    @CsvSource({"taken,2", "copied,2", "published,3"})
    void deathInTheMiddleOfAMessage(String place, int completed) throws Exception {
        try (Child child = Child.start("die", port, place, 3, "kill"); Connection connection = accept(null, 4)) {
            Station.expect(ConnectionEvent.CLOSED, connection);
            child.awaitEnd();
            for (int i = 0; i < completed; i++) {
                Station.expect(connection.completionQueue(), i, 0);
            }
            assertEquals(0, connection.completionQueue().poll(new WorkCompletions(1)));
            connection.disconnect();
            for (int i = completed; i < 4; i++) {
                Station.expect(connection.completionQueue(), i, FLUSHED);
            }
            assertNull(connection.nextEvent());
        }
    }

    /**
     * The process dies while it holds a receive of the shared queue. The receive is returned once, and the other connections
     * continue with all receives.
     */
    @ParameterizedTest
    @CsvSource({"taken,20", "copied,20", "published,20", "taken,0", "copied,0", "published,0"})
    void deathWithASharedReceive(String place, int completions) throws Exception {
        int slots = 4;
        SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
            .receiveQueueSize(slots).receiveCompletionQueueSize(completions));
        for (int i = 0; i < slots; i++) {
            shared.receive(station.region, i * 64L, 64, i);
        }
        ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(shared).completionQueueSize(40);
        Child other = Child.start("die", port, "never", 1, "kill");
        try (other) {
            Connection healthy = accept(config, 0);
            Child child = Child.start("die", port, place, 7, "kill");
            Connection doomed = accept(config, 0);
            Set<Long> lost = new HashSet<>();
            // The queue is always full, except for the receives that have been taken and not returned.
            int reports = 0;
            boolean ended = false;
            WorkCompletions batch = new WorkCompletions(8);
            int afterwards = 0;
            long deadline = System.nanoTime() + 60_000_000_000L;
            while (afterwards < 1000) {
                assertTrue(System.nanoTime() < deadline, "after the process died only " + afterwards + " messages arrived");
                int count = completions > 0 ? shared.receiveCompletionQueue().poll(batch)
                    : healthy.completionQueue().poll(batch);
                if (count == 0 && completions == 0 && !ended) {
                    count = doomed.completionQueue().poll(batch);
                }
                if (count == 0) {
                    // On a machine with one processor, the senders could not run otherwise.
                    Thread.yield();
                }
                for (int i = 0; i < count; i++) {
                    if (batch.statusCode(i) == FLUSHED) {
                        lost.add(batch.context(i));
                        reports++;
                    } else {
                        assertEquals(0, batch.statusCode(i));
                    }
                    shared.receive(station.region, batch.context(i) * 64, 64, batch.context(i));
                    afterwards += ended ? 1 : 0;
                }
                if (count == 0) {
                    Station.pause();
                }
                if (!ended && doomed.nextEvent() == ConnectionEvent.CLOSED) {
                    if (completions == 0) {
                        // If the shared queue has no completion queue, the connection's queue only reports completed receives.
                        count = doomed.completionQueue().poll(batch);
                        for (int i = 0; i < count; i++) {
                            shared.receive(station.region, batch.context(i) * 64, 64, batch.context(i));
                        }
                    }
                    // Only now is it certain that the other process does nothing more.
                    child.awaitEnd();
                    doomed.close();
                    ended = true;
                }
            }
            if (completions > 0) {
                assertEquals(place.equals("published") ? 0 : 1, reports);
                assertEquals(reports, lost.size());
            }
            healthy.close();
        }
        config.close();
        shared.close();
    }

    /**
     * More processes die with a receive than there are receives. No connection can be notified, so the receives are posted again.
     */
    @Test
    void deathsLoseNoSharedReceive() throws Exception {
        int slots = 1;
        SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
            .receiveQueueSize(slots).receiveCompletionQueueSize(0));
        for (int i = 0; i < slots; i++) {
            shared.receive(station.region, i * 64L, 64, i);
        }
        try (ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(shared)) {
            for (int i = 0; i < slots + 1; i++) {
                try (Child child = Child.start("die", port, i % 2 == 0 ? "taken" : "copied", 1, "kill");
                    Connection doomed = accept(config, 0)) {
                    Station.expect(ConnectionEvent.CLOSED, doomed);
                    child.awaitEnd();
                }
            }
            ConnectionRequest request = station.peer.newConnectionRequest(endpoint.localAddress(), null);
            try (Connection client = request.connect(null);
                Connection server = Station.awaitRequest(endpoint, config).connect(null)) {
                Station.expect(ConnectionEvent.ESTABLISHED, client);
                Station.expect(ConnectionEvent.ESTABLISHED, server);
                Set<Long> seen = new HashSet<>();
                WorkCompletions one = new WorkCompletions(1);
                for (int i = 0; i < slots; i++) {
                    client.send(station.region, 0, 8, CompletionFlag.ALWAYS, i);
                    Station.expect(client.completionQueue(), i, 0);
                    assertEquals(1, server.completionQueue().poll(one));
                    assertEquals(0, one.statusCode(0));
                    seen.add(one.context(0));
                }
                assertEquals(slots, seen.size());
            }
        }
        shared.close();
    }

    /**
     * A process sleeps for completions of the shared queue when a sender dies between writing the entry and ringing the doorbell,
     * or announces that it rings and dies before it does. The process still finds the entry.
     */
    @ParameterizedTest
    @ValueSource(strings = {"published", "fired"})
    void deathBeforeTheDoorbellWakesThePollerAllTheSame(String place) throws Exception {
        SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig());
        for (int i = 0; i < 4; i++) {
            shared.receive(station.region, i * 64L, 64, i);
        }
        ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(shared);
        try (Child child = Child.start("die", port, place, 1, "kill")) {
            Connection connection = accept(config, 0);
            CompletionQueue queue = shared.receiveCompletionQueue();
            // The queue is armed from the start.
            child.awaitEnd();
            Station.expect(ConnectionEvent.CLOSED, connection);
            assertTrue(Station.isReadable(queue.fd()));
            Station.expect(queue, 0, 0);
            connection.close();
        }
        config.close();
        shared.close();
    }

    /** A client that disappears before its request is accepted, or between that and the answer, only makes that request fail. */
    @Test
    void deathBeforeTheAnswer() throws Exception {
        try (Child child = Child.start("request", port)) {
            child.expect("ready");
            child.kill();
            RpmaException gone = assertThrows(RpmaException.class, () -> Station.awaitRequest(endpoint, null));
            assertEquals(RpmaError.PROVIDER, gone.error());
        }
        try (Child child = Child.start("request", port)) {
            child.expect("ready");
            ConnectionRequest request = Station.awaitRequest(endpoint, null);
            child.kill();
            RpmaException gone = assertThrows(RpmaException.class, () -> request.connect(null));
            assertEquals(RpmaError.PROVIDER, gone.error());
        }
        try (Child child = Child.start("request", port)) {
            child.expect("ready");
            Connection connection = Station.awaitRequest(endpoint, null).connect(null);
            child.kill();
            Station.expect(ConnectionEvent.REJECTED, connection);
            connection.close();
        }
        assertNull(endpoint.nextConnectionRequest(null));
        try (Child child = Child.start("idle", port); Connection connection = accept(null, 0)) {
            child.expect("ready");
            connection.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            Station.expect(connection.completionQueue(), 1, 0);
        }
    }

    /** Work requests that wait for a peer that dies end with an error, even if nothing is posted. */
    @Test
    void deathOfAPeerThatIsWaitedFor() throws Exception {
        try (Child child = Child.start("idle", port); Connection connection = accept(null, 0)) {
            child.expect("ready");
            for (int i = 0; i < 6; i++) {
                connection.send(station.region, 0, 8, CompletionFlag.ALWAYS, i);
            }
            for (int i = 0; i < 4; i++) {
                Station.expect(connection.completionQueue(), i, 0);
            }
            child.kill();
            Station.expect(ConnectionEvent.CLOSED, connection);
            Station.expect(connection.completionQueue(), 4, CompletionStatus.RETRY_EXC_ERR.code());
            Station.expect(connection.completionQueue(), 5, FLUSHED);
            connection.send(station.region, 0, 8, CompletionFlag.ON_ERROR, 6);
            Station.expect(connection.completionQueue(), 6, FLUSHED);
        }
    }

    /**
     * Checks that the memory has not changed since the other process reported its failure. Before that report, the process may
     * still write.
     */
    private static void assertUntouched(MemorySegment memory, byte[] before) {
        assertEquals(-1, MemorySegment.ofArray(before).mismatch(memory));
    }

    /** After a region has been closed, nothing that the other process still does reaches its memory. */
    @Test
    void memoryIsLeftAloneOnceDeregistered() throws Exception {
        for (int round = 0; round < 5; round++) {
            MemorySegment memory = station.memory.asSlice(0, LARGE);
            LocalMemoryRegion region = station.peer.register(memory, Station.ALL);
            ByteBuffer descriptor = ByteBuffer.allocate(region.descriptorSize());
            region.descriptor(descriptor);
            try (Child child = Child.start("write", port, HexFormat.of().formatHex(descriptor.array()), LARGE);
                Connection connection = accept(null, 0)) {
                child.expect("ready");
                while (memory.get(JAVA_BYTE, LARGE - 1) < 5) {
                    Station.pause();
                }
                region.close();
                while (!region.isQuiescent()) {
                    Station.pause();
                }
                byte[] after = memory.toArray(JAVA_BYTE);
                child.expect("REM_ACCESS_ERR");
                assertUntouched(memory, after);
                assertNull(connection.nextEvent());
            }
            memory.fill((byte) 0);
        }
    }

    /** After a connection has been closed, nothing reaches the buffers of its receives, whether or not they are completed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void memoryIsLeftAloneOnceTheConnectionIsClosed(boolean disconnectFirst) throws Exception {
        for (int round = 0; round < 5; round++) {
            try (Child child = Child.start("flood", port, LARGE)) {
                ConnectionRequest request = Station.awaitRequest(endpoint, null);
                for (int i = 0; i < 8; i++) {
                    request.receive(station.region, (long) i * LARGE, LARGE, i);
                }
                Connection connection = request.connect(null);
                Station.expect(ConnectionEvent.ESTABLISHED, connection);
                child.expect("ready");
                WorkCompletions batch = new WorkCompletions(1);
                for (int i = 0; i < 20 + round; i++) {
                    Station.await(connection.completionQueue(), batch, Station.Waiting.SPINNING);
                    connection.receive(station.region, batch.context(0) * LARGE, LARGE, batch.context(0));
                }
                if (disconnectFirst) {
                    connection.disconnect();
                    int left = 8;
                    while (left > 0) {
                        Station.await(connection.completionQueue(), batch, Station.Waiting.BLOCKING);
                        left--;
                    }
                } else {
                    connection.close();
                    while (!connection.isQuiescent()) {
                        Station.pause();
                    }
                }
                byte[] after = station.memory.asSlice(0, 8L * LARGE).toArray(JAVA_BYTE);
                child.expect("RETRY_EXC_ERR");
                assertUntouched(station.memory.asSlice(0, 8L * LARGE), after);
                connection.close();
            }
        }
    }
}
