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

import io.rpma.AddressRange;
import io.rpma.CompletionFlag;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.RemoteMemoryRegion;
import io.rpma.WorkCompletions;
import io.rpma.posix.Posix;
import io.rpma.soft.shared.Ranges;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests thousands of regions, each in memory that was reserved only for it. */
@Timeout(120)
class ManyRegionsTest {
    private static final int COUNT = 10_000;
    /** The number of files or mappings that a process may additionally have for all regions together. */
    private static final int FEW = 100;
    private static final int MORE_THAN_A_LINK_HAS_ROOM_FOR = 600;

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
    }

    private Connection accept(ConnectionConfig config) throws Exception {
        ConnectionRequest request = Station.awaitRequest(endpoint, config);
        Connection connection = request.connect(null);
        Station.expect(ConnectionEvent.ESTABLISHED, connection);
        return connection;
    }

    /**
     * This process does nothing while the other process registers its regions, but the regions are available when they are used.
     */
    @ParameterizedTest
    @CsvSource({"10000,4096,before", "10000,4096,while", "300,67108864,before", "300,67108864,while"})
    void regionsOfTheOtherProcessAreReached(int count, long bytes, String when) throws Exception {
        int mappings = mappings();
        try (Child child = Child.start("regions", port, count, bytes, when);
            ConnectionConfig config = station.provider.newConnectionConfig(); Connection connection = accept(config)) {
            child.expect("ready");
            child.order("register");
            child.expect("registered");
            for (int index : new int[] {0, count / 2, count - 1}) {
                child.order("descriptor " + index);
                RemoteMemoryRegion remote =
                    station.provider.openRemoteRegion(ByteBuffer.wrap(HexFormat.of().parseHex(child.answer())));
                connection.read(station.region, 0, remote, 0, 8, CompletionFlag.ALWAYS, 1);
                Station.expect(connection.completionQueue(), 1, 0);
                assertEquals(index, station.memory.get(JAVA_LONG, 0));
                station.memory.set(JAVA_LONG, 0, 4711 + index);
                connection.write(remote, 0, station.region, 0, 8, CompletionFlag.ALWAYS, 2);
                Station.expect(connection.completionQueue(), 2, 0);
                child.order("check " + index);
                child.expect(Integer.toString(4711 + index));
            }
            assertTrue(mappings() - mappings < FEW, () -> "too many mappings of the other process's memory");
            child.order("drop");
            child.expect("dropped");
            while (Station.isReadable(connection.eventFd())) {
                assertNull(connection.nextEvent(), "the connection was not closed");
            }
            child.order("events");
            child.expect("null");
            child.order("end");
            Station.expect(ConnectionEvent.CLOSED, connection);
            child.awaitEnd();
        }
    }

    /**
     * The other process has registered and released so many regions that its link to this process, which takes no events, has no
     * room for the memory of the last one. This process does not blame it, and the access waits until the other process has taken
     * its events.
     */
    @Test
    void aRegionIsReachedAlthoughTheLinkHadNoRoomForIt() throws Exception {
        try (Child child = Child.start("regions", port, 1, Ranges.LARGE, "while");
            ConnectionConfig config = station.provider.newConnectionConfig(); Connection connection = accept(config)) {
            RemoteMemoryRegion remote = awaitUnsentRegion(child);
            connection.write(remote, 0, station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            connection.read(station.region, 8, remote, 0, 8, CompletionFlag.ALWAYS, 2);
            assertEquals(0, connection.completionQueue().poll(new WorkCompletions(1)));
            child.order("events");
            child.expect("null");
            Station.expect(connection.completionQueue(), 1, 0);
            Station.expect(connection.completionQueue(), 2, 0);
            assertEquals(4711, station.memory.get(JAVA_LONG, 8));
            child.order("check 0");
            child.expect("4711");
            child.order("end");
            Station.expect(ConnectionEvent.CLOSED, connection);
        }
    }

    /** A process that does not send the memory of its region at all cannot make this one wait for ever. */
    @Test
    void aRegionThatIsNeverSentIsGivenUp() throws Exception {
        long millis = RemoteAccess.unsentMillis;
        RemoteAccess.unsentMillis = 100;
        try (Child child = Child.start("regions", port, 1, Ranges.LARGE, "while");
            ConnectionConfig config = station.provider.newConnectionConfig(); Connection connection = accept(config)) {
            connection.read(station.region, 8, awaitUnsentRegion(child), 0, 8, CompletionFlag.ALWAYS, 1);
            Station.expect(connection.completionQueue(), 1, CompletionStatus.RETRY_EXC_ERR.code());
        } finally {
            RemoteAccess.unsentMillis = millis;
        }
    }

    private RemoteMemoryRegion awaitUnsentRegion(Child child) throws Exception {
        child.expect("ready");
        child.order("churn " + MORE_THAN_A_LINK_HAS_ROOM_FOR);
        child.expect("churned");
        child.order("register");
        child.expect("registered");
        child.order("descriptor 0");
        station.memory.set(JAVA_LONG, 0, 4711);
        return station.provider.openRemoteRegion(ByteBuffer.wrap(HexFormat.of().parseHex(child.answer())));
    }

    @Test
    void regionsOfThisProcessAreReached() throws Exception {
        List<AddressRange> ranges = new ArrayList<>();
        List<LocalMemoryRegion> regions = new ArrayList<>();
        long files = files();
        for (int i = 0; i < COUNT; i++) {
            AddressRange range = station.provider.reserve(Posix.PAGE_SIZE);
            ranges.add(range);
            regions.add(station.peer.register(range.commit(0, range.size()), Station.ALL));
        }
        assertTrue(files() - files < FEW, "too many files for the regions");
        LocalMemoryRegion last = regions.removeLast();
        ByteBuffer descriptor = ByteBuffer.allocate(last.descriptorSize());
        last.descriptor(descriptor);
        try (Child child = Child.start("write", port, HexFormat.of().formatHex(descriptor.array()), 8);
            ConnectionConfig config = station.provider.newConnectionConfig(); Connection connection = accept(config)) {
            child.expect("ready");
            while (last.memory().get(JAVA_LONG, 0) == 0) {
                Thread.onSpinWait();
            }
            last.close();
            child.expect(CompletionStatus.REM_ACCESS_ERR.name());
            assertTrue(connection.queuePairNumber() > 0);
        }
        for (LocalMemoryRegion region : regions) {
            region.close();
        }
        ranges.forEach(AddressRange::close);
        assertEquals(files, files(), "files after the regions");
    }

    /** The sizes identify the ranges in what the other process has mapped. */
    @Test
    void aProcessIsSentOnlyTheRangesThatItMayNeed() throws Exception {
        long reached = Ranges.LARGE + Posix.PAGE_SIZE;
        long local = Ranges.LARGE + 2 * Posix.PAGE_SIZE;
        long past = Ranges.LARGE + 3 * Posix.PAGE_SIZE;
        long stranger = Ranges.LARGE + 4 * Posix.PAGE_SIZE;
        Peer domain = station.provider.devices().getFirst().newPeer();
        List<AddressRange> ranges = new ArrayList<>();
        List<LocalMemoryRegion> regions = new ArrayList<>();
        for (long size : new long[] {reached, local, past, stranger}) {
            AddressRange range = station.provider.reserve(size);
            ranges.add(range);
            regions.add((size == stranger ? domain : station.peer).register(range.commit(0, Posix.PAGE_SIZE), size == local
                ? EnumSet.of(MemoryUsage.READ_DST, MemoryUsage.WRITE_SRC, MemoryUsage.SEND) : EnumSet.of(MemoryUsage.READ_SRC)));
        }
        regions.remove(2).close();
        try (Child child = Child.start("idle", port);
            ConnectionConfig config = station.provider.newConnectionConfig(); Connection connection = accept(config)) {
            child.expect("ready");
            assertTrue(hasMapped(child, reached), "sent before the connection was accepted");
            assertFalse(hasMapped(child, local), "this range cannot be accessed by peers");
            assertFalse(hasMapped(child, past), "no region of this range is left");
            assertFalse(hasMapped(child, stranger), "the range belongs to a protection domain without connections");
            assertTrue(connection.queuePairNumber() > 0);
        }
        for (LocalMemoryRegion region : regions) {
            region.close();
        }
        ranges.forEach(AddressRange::close);
        domain.close();
    }

    private static boolean hasMapped(Child child, long size) throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/" + child.pid() + "/maps"))) {
            int dash = line.indexOf('-');
            long first = Long.parseUnsignedLong(line, 0, dash, 16);
            long end = Long.parseUnsignedLong(line, dash + 1, line.indexOf(' '), 16);
            if (end - first == size && line.contains("memfd:rpma-range")) {
                return true;
            }
        }
        return false;
    }

    private static long files() throws Exception {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(descriptor -> {
                try {
                    return Files.readSymbolicLink(descriptor).toString().contains("memfd:rpma-range");
                } catch (java.io.IOException e) {
                    return false;
                }
            }).count();
        }
    }

    private static int mappings() throws Exception {
        return (int) Files.readAllLines(Path.of("/proc/self/maps")).stream().filter(line -> line.contains("memfd:rpma"))
            .count();
    }
}
