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
import io.rpma.posix.Memory;
import io.rpma.posix.Sockets;
import io.rpma.soft.shared.Half;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests that a process that is stopped in the middle of an operation prevents the reuse of the memory of that operation until it
 * continues or ends. Nothing waits for it, and no other memory is affected.
 */
@Timeout(300)
class StoppedPeerTest {
    private static final int LARGE = 1 << 20;
    /**
     * Much less than any wait for the other process would take, and much more than a busy machine needs for an operation that
     * does not wait.
     */
    private static final long AT_ONCE_NANOS = 30_000_000_000L;
    private static final int MOST_STOPPED = 64;
    /** More wake-ups than a thread needs in a second, and far fewer than one that does not sleep has. */
    private static final int MOST_WAKE_UPS = 50;

    private Station station;
    private Endpoint endpoint;
    private int port;

    @BeforeEach
    void open() throws Exception {
        station = new Station();
        endpoint = station.listen();
        port = endpoint.localAddress().getPort();
    }

    @AfterEach
    void close() throws Exception {
        endpoint.close();
        station.close();
        await(() -> process().queuePairCount() == 0);
    }

    private static LocalProcess process() {
        return ((SoftProvider) SoftProvider.instance()).process();
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Station.pause();
        }
    }

    private interface Step {
        void run() throws Exception;
    }

    private static void atOnce(Step step) throws Exception {
        long start = System.nanoTime();
        step.run();
        long took = System.nanoTime() - start;
        assertTrue(took < AT_ONCE_NANOS, "took " + took + " ns");
    }

    private Connection accept(ConnectionConfig config, long receiveBytes) throws Exception {
        ConnectionRequest request = Station.awaitRequest(endpoint, config);
        if (receiveBytes > 0) {
            request.receive(station.region, 0, receiveBytes, 1);
        }
        Connection connection = request.connect(null);
        Station.expect(ConnectionEvent.ESTABLISHED, connection);
        return connection;
    }

    /**
     * Continues or kills the other process. The memory of its operation is then quiescent, and its content does not change any
     * more.
     */
    private static void release(Child child, boolean kill, BooleanSupplier quiescent, MemorySegment memory) throws Exception {
        assertFalse(quiescent.getAsBoolean());
        if (kill) {
            child.kill();
            await(quiescent);
            return;
        }
        child.goOn();
        await(quiescent);
        memory.fill((byte) 1);
        // The work request of the process has ended, so the process does nothing more here.
        child.answer();
        assertEquals(-1, memory.mismatch(MemorySegment.ofArray(new byte[LARGE]).fill((byte) 1)));
    }

    @ParameterizedTest
    @CsvSource({"executing,false", "taken,false", "copying,false", "copied,false", "copying,true"})
    void theReceivesOfAClosedConnection(String place, boolean kill) throws Exception {
        MemorySegment memory = station.memory.asSlice(0, LARGE);
        try (Child child = Child.start("hold", port, place)) {
            Connection connection = accept(null, LARGE);
            child.expect("ready");
            child.awaitStop();
            atOnce(connection::close);
            connection.close();
            byte before = memory.get(JAVA_BYTE, LARGE - 1);
            release(child, kill, connection::isQuiescent, memory);
            assertEquals(place.equals("copied") ? 7 : 0, before);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRegionThatIsClosed(boolean kill) throws Exception {
        MemorySegment memory = station.range.commit(Station.SIZE, LARGE);
        LocalMemoryRegion other = station.peer.register(memory, Station.ALL);
        LocalMemoryRegion region = station.peer.register(memory, Station.ALL);
        ByteBuffer descriptor = ByteBuffer.allocate(region.descriptorSize());
        region.descriptor(descriptor);
        try (Child child = Child.start("hold", port, "copying", HexFormat.of().formatHex(descriptor.array()))) {
            Connection connection = accept(null, 0);
            child.expect("ready");
            child.awaitStop();
            assertFalse(region.isQuiescent());
            atOnce(() -> {
                region.close();
                other.close();
            });
            assertTrue(other.isQuiescent(), "the stopped process is not in this region");
            RpmaException early = assertThrows(RpmaException.class, () -> station.range.decommit(Station.SIZE, LARGE));
            assertEquals(RpmaError.PROVIDER, early.error());
            release(child, kill, region::isQuiescent, memory);
            station.range.decommit(Station.SIZE, LARGE);
            connection.close();
        }
    }

    /** The range can be closed at once, and its pages are never used for anything else. */
    @Test
    void aRangeThatIsClosed() throws Exception {
        try (Station own = new Station()) {
            ByteBuffer descriptor = ByteBuffer.allocate(own.region.descriptorSize());
            own.region.descriptor(descriptor);
            try (Endpoint listening = own.listen();
                Child child = Child.start("hold", listening.localAddress().getPort(), "copying",
                    HexFormat.of().formatHex(descriptor.array()))) {
                Connection connection = Station.awaitRequest(listening, null).connect(null);
                Station.expect(ConnectionEvent.ESTABLISHED, connection);
                child.expect("ready");
                child.awaitStop();
                connection.close();
                atOnce(own.region::close);
                atOnce(own.range::close);
                child.goOn();
                child.expect("SUCCESS");
                await(() -> own.region.isQuiescent() && connection.isQuiescent());
            }
        }
    }

    /** If a connection is closed while its process accesses a region, the reuse of that region is prevented too. */
    @Test
    void aRegionThatIsClosedAfterItsConnection() throws Exception {
        LocalMemoryRegion region = station.peer.register(station.memory, Station.ALL);
        ByteBuffer descriptor = ByteBuffer.allocate(region.descriptorSize());
        region.descriptor(descriptor);
        try (Child child = Child.start("hold", port, "copying", HexFormat.of().formatHex(descriptor.array()))) {
            Connection connection = accept(null, 0);
            child.expect("ready");
            child.awaitStop();
            connection.close();
            region.close();
            release(child, false, region::isQuiescent, station.memory.asSlice(0, LARGE));
            await(connection::isQuiescent);
        }
    }

    @ParameterizedTest
    @CsvSource({"0,false", "20,false", "0,true", "20,true"})
    void theReceivesOfASharedQueue(int completions, boolean kill) throws Exception {
        SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
            .receiveQueueSize(4).receiveCompletionQueueSize(completions));
        shared.receive(station.region, 0, LARGE, 1);
        try (Child child = Child.start("hold", port, "copying");
            ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(shared)) {
            Connection connection = accept(config, 0);
            child.expect("ready");
            child.awaitStop();
            atOnce(connection::close);
            assertFalse(connection.isQuiescent());
            if (completions > 0) {
                // The receive is not reported before the other process has finished with it.
                assertEquals(0, shared.receiveCompletionQueue().poll(new WorkCompletions(4)));
            }
            assertFalse(shared.isQuiescent());
            atOnce(shared::close);
            shared.close();
            release(child, kill, shared::isQuiescent, station.memory.asSlice(0, LARGE));
            // This is the last step of the thread that reclaims the queue.
            await(connection::isQuiescent);
        }
    }

    /**
     * A thread waits for the receives of a connection that has failed, which are flushed when the other process has finished with
     * them. It sleeps until then.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theThreadThatWaitsForTheReceives(boolean kill) throws Exception {
        try (Child child = Child.start("hold", port, "copying");
            ConnectionConfig config = station.provider.newConnectionConfig()) {
            Connection connection = accept(config, LARGE);
            connection.receive(station.region, LARGE, 64, 2);
            child.expect("ready");
            child.awaitStop();
            connection.disconnect();
            CompletionQueue queue = connection.completionQueue();
            WorkCompletions batch = new WorkCompletions(1);
            int wakeUps = 0;
            long end = System.nanoTime() + 1_000_000_000;
            for (long left = 1_000; left > 0; left = (end - System.nanoTime()) / 1_000_000) {
                if (Sockets.poll(queue.fd(), (short) Sockets.EPOLLIN, (int) left) > 0) {
                    wakeUps++;
                    queue.consumeEvent();
                }
                assertEquals(0, queue.poll(batch));
            }
            assertTrue(wakeUps < MOST_WAKE_UPS, "the thread was woken " + wakeUps + " times");
            if (kill) {
                child.kill();
            } else {
                child.goOn();
            }
            for (int context = 1; context <= 2; context++) {
                assertEquals(1, queue.poll(batch, Duration.ofSeconds(60)));
                assertEquals(context, batch.context(0));
            }
            connection.close();
        }
    }

    /** Three processes are stopped, and operations that concern other processes wait for none of them. */
    @Test
    void othersGoOn() throws Exception {
        List<Child> stopped = new ArrayList<>();
        List<Connection> connections = new ArrayList<>();
        try (Child idle = Child.start("idle", port)) {
            Connection healthy = accept(null, 0);
            idle.expect("ready");
            for (int i = 0; i < 3; i++) {
                Child child = Child.start("hold", port, "copying");
                stopped.add(child);
                connections.add(accept(null, LARGE));
                child.expect("ready");
                child.awaitStop();
            }
            atOnce(() -> {
                for (int i = 0; i < 100; i++) {
                    LocalMemoryRegion region =
                        station.peer.register(station.memory.asSlice(0, 64), java.util.EnumSet.of(io.rpma.MemoryUsage.WRITE_DST));
                    region.close();
                    assertTrue(region.isQuiescent());
                }
                for (Connection connection : connections) {
                    connection.close();
                }
                healthy.send(station.region, 0, 64, CompletionFlag.ALWAYS, 1);
                Station.expect(healthy.completionQueue(), 1, 0);
                healthy.close();
                assertTrue(healthy.isQuiescent());
            });
            stopped.forEach(Child::kill);
            await(() -> connections.stream().allMatch(Connection::isQuiescent));
        } finally {
            stopped.forEach(Child::kill);
        }
    }

    /** A process that claims never to finish gets no further connections, and keeps no memory after its end. */
    @Test
    void whatAProcessKeepsOutOfUseHasABound() throws Exception {
        List<Connection> connections = new ArrayList<>();
        List<Long> words = new ArrayList<>();
        try (Child child = Child.start("connect", port)) {
            child.expect("ready");
            for (int i = 0; i < MOST_STOPPED; i++) {
                child.order("next");
                Connection connection = accept(null, 64);
                child.expect("ESTABLISHED");
                connections.add(connection);
                words.add(((SoftConnection) connection).queuePair().remote().base() + Half.BUSY);
                Memory.putIntVolatile(words.getLast(), 1);
                connection.close();
                assertFalse(connection.isQuiescent());
            }
            child.order("next");
            RpmaException refused = assertThrows(RpmaException.class, () -> Station.awaitRequest(endpoint, null));
            assertTrue(refused.getMessage().contains("process " + child.pid() + " "), refused.getMessage());
            child.expect("REJECTED");
            Memory.putIntVolatile(words.getFirst(), 2);
            child.order("next");
            accept(null, 64).close();
            child.expect("ESTABLISHED");
            assertFalse(connections.getLast().isQuiescent());
            child.kill();
            await(() -> connections.stream().allMatch(Connection::isQuiescent));
        }
    }

    /** A process that writes to the busy word of the other end does not block any thread there. */
    @Test
    void theOwnBusyWordIsNotBelieved() throws Exception {
        try (Child child = Child.start("idle", port)) {
            Connection connection = accept(null, 0);
            child.expect("ready");
            Memory.putIntVolatile(((SoftConnection) connection).queuePair().base() + Half.BUSY, 1);
            atOnce(process()::awaitOwn);
            atOnce(connection::close);
            assertTrue(connection.isQuiescent());
        }
    }
}
