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
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.FlushType;
import io.rpma.RemoteMemoryRegion;
import io.rpma.SharedReceiveQueue;
import io.rpma.WorkCompletions;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests two processes: streams, wake-ups, one-sided operations in memory of every kind, shared receive queues. */
@Timeout(120)
class TwoProcessTest {
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
        return listening.accept(config, receives, Numbered.MAX);
    }

    /** The receive queue is much shorter than the stream, so the sender frequently waits for receives and is woken. */
    @ParameterizedTest
    @CsvSource({"SPINNING,SPINNING,300000", "BLOCKING,BLOCKING,60000", "MIXED,MIXED,300000", "BLOCKING,MIXED,100000",
        "MIXED,BLOCKING,100000"})
    void streamsArriveWholeAndInOrder(Station.Waiting here, Station.Waiting there, int most) throws Exception {
        int count = Station.affordable(most);
        try (Child child = Child.start("stream", port, count, there);
            ConnectionConfig config = station.provider.newConnectionConfig().receiveQueueSize(32).completionQueueSize(64);
            Connection connection = accept(config, 32)) {
            child.expect("ready");
            CompletionQueue queue = connection.completionQueue();
            WorkCompletions batch = new WorkCompletions(8);
            int next = 0;
            while (next < count) {
                int got = Station.await(queue, batch, here);
                for (int i = 0; i < got; i++) {
                    assertEquals(0, batch.statusCode(i));
                    long slot = batch.context(i);
                    Numbered.check(station.memory, slot * Numbered.MAX, batch.byteLength(i), 0, next++);
                    connection.receive(station.region, slot * Numbered.MAX, Numbered.MAX, slot);
                }
            }
            child.expect("done");
        }
    }

    /**
     * Eight connections from each of two processes use the receives of one queue. The short queue is always used up. The long one
     * is not, but then the completion ring of a connection is full.
     */
    @ParameterizedTest
    @CsvSource({"64,64", "64,0", "1000,1000", "1000,0"})
    void sharedReceivesServeSeveralProcesses(int slots, int completions) throws Exception {
        int count = Station.affordable(3000);
        int perProcess = 8;
        SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
            .receiveQueueSize(slots).receiveCompletionQueueSize(completions));
        for (int i = 0; i < slots; i++) {
            shared.receive(station.region, (long) i * Numbered.MAX, Numbered.MAX, i);
        }
        Map<Integer, int[]> progress = new HashMap<>();
        Connection[] connections = new Connection[2 * perProcess];
        try (Child one = Child.start("streams", port, count, Station.Waiting.MIXED, perProcess, 0);
            Child two = Child.start("streams", port, count, Station.Waiting.BLOCKING, perProcess, perProcess);
            ConnectionConfig config =
                station.provider.newConnectionConfig().sharedReceiveQueue(shared).completionQueueSize(2048)) {
            one.expect("ready");
            two.expect("ready");
            for (int i = 0; i < connections.length; i++) {
                ConnectionRequest request = Station.awaitRequest(endpoint, config);
                int id = request.privateData().getInt();
                connections[i] = request.connect(null);
                progress.put(connections[i].queuePairNumber(), new int[] {id, 0});
            }
            WorkCompletions batch = new WorkCompletions(16);
            int left = count * connections.length;
            while (left > 0) {
                if (completions > 0) {
                    left -= take(shared.receiveCompletionQueue(), Station.Waiting.MIXED, batch, shared, progress);
                } else {
                    int before = left;
                    for (Connection connection : connections) {
                        int got = connection.completionQueue().poll(batch);
                        left -= check(batch, got, shared, progress);
                    }
                    if (left == before) {
                        // On a machine with one processor, the senders could not run otherwise.
                        Thread.yield();
                    }
                }
            }
            one.expect("done");
            two.expect("done");
        } finally {
            for (Connection connection : connections) {
                if (connection != null) {
                    connection.close();
                }
            }
            shared.close();
        }
    }

    private int take(CompletionQueue queue, Station.Waiting waiting, WorkCompletions batch, SharedReceiveQueue shared,
            Map<Integer, int[]> progress) throws Exception {
        return check(batch, Station.await(queue, batch, waiting), shared, progress);
    }

    private int check(WorkCompletions batch, int got, SharedReceiveQueue shared, Map<Integer, int[]> progress)
            throws Exception {
        for (int i = 0; i < got; i++) {
            assertEquals(0, batch.statusCode(i));
            int[] sender = progress.get(batch.queuePairNumber(i));
            long slot = batch.context(i);
            Numbered.check(station.memory, slot * Numbered.MAX, batch.byteLength(i), sender[0], sender[1]++);
            shared.receive(station.region, slot * Numbered.MAX, Numbered.MAX, slot);
        }
        return got;
    }

    /** The sender sleeps on the descriptor of its completion queue, and a receive that is posted here wakes it. */
    @Test
    void aSleepingSenderIsWokenByAReceive() throws Exception {
        try (Child child = Child.start("stall", port); Connection connection = accept(null, 0)) {
            child.expect("ready");
            connection.receive(station.region, 0, 64, 1);
            Station.expect(connection.completionQueue(), 1, 0);
            connection.receive(station.region, 0, 64, 2);
            Station.expect(connection.completionQueue(), 2, 0);
            child.expect("done");
        }
    }

    /**
     * Memory of both kinds that the other process registers later is read, written, flushed, written atomically and used for
     * receives.
     */
    @ParameterizedTest
    @ValueSource(strings = {"range", "foreign"})
    void memoryOfTheOtherProcessIsReached(String kind) throws Exception {
        try (Child child = Child.start("offer", port); Connection connection = accept(null, 0)) {
            child.expect("ready");
            child.order(kind);
            RemoteMemoryRegion remote =
                station.provider.openRemoteRegion(ByteBuffer.wrap(HexFormat.of().parseHex(child.answer())));
            connection.read(station.region, 0, remote, 100, 5000, CompletionFlag.ALWAYS, 1);
            Station.expect(connection.completionQueue(), 1, 0);
            for (int i = 0; i < 5000; i++) {
                assertEquals((byte) ((100 + i) * 7), station.memory.get(JAVA_BYTE, i));
            }
            station.memory.set(JAVA_LONG, 0, 0x1122334455667788L);
            connection.write(remote, 64, station.region, 0, 8, CompletionFlag.ALWAYS, 2);
            Station.expect(connection.completionQueue(), 2, 0);
            child.order("check 64");
            child.expect("1122334455667788");
            connection.flush(remote, 64, 8, FlushType.VISIBILITY, CompletionFlag.ALWAYS, 3);
            Station.expect(connection.completionQueue(), 3, 0);
            child.order("receive");
            child.expect("posted");
            station.memory.set(JAVA_LONG, 0, 0x99L);
            connection.send(station.region, 0, 1 << 20, CompletionFlag.ALWAYS, 4);
            Station.expect(connection.completionQueue(), 4, 0);
            child.order("received");
            child.expect("received");
            child.order("check 0");
            child.expect("99");
            connection.atomicWrite(remote, 8, 0x77L, CompletionFlag.ALWAYS, 5);
            Station.expect(connection.completionQueue(), 5, 0);
            child.order("check 8");
            child.expect("77");
            child.order("end");
            child.awaitEnd();
        }
    }

    /** A range that the other process releases is unmapped here, and access to its region is refused. */
    @Test
    void memoryGivenBackIsUnmapped() throws Exception {
        try (Child child = Child.start("offer", port); Connection connection = accept(null, 0)) {
            child.expect("ready");
            int before = mappings();
            child.order("range");
            RemoteMemoryRegion remote =
                station.provider.openRemoteRegion(ByteBuffer.wrap(HexFormat.of().parseHex(child.answer())));
            connection.write(remote, 0, station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            Station.expect(connection.completionQueue(), 1, 0);
            assertEquals(before + 1, mappings());
            child.order("drop");
            child.expect("dropped");
            assertTrue(Station.isReadable(connection.eventFd()));
            assertEquals(null, connection.nextEvent());
            assertFalse(Station.isReadable(connection.eventFd()));
            assertEquals(before, mappings());
            connection.write(remote, 0, station.region, 0, 8, CompletionFlag.ALWAYS, 2);
            Station.expect(connection.completionQueue(), 2, CompletionStatus.REM_ACCESS_ERR.code());
            child.order("end");
            child.awaitEnd();
        }
    }

    private static int mappings() throws Exception {
        return (int) Files.readAllLines(Path.of("/proc/self/maps")).stream().filter(line -> line.contains("memfd:rpma"))
            .count();
    }
}
