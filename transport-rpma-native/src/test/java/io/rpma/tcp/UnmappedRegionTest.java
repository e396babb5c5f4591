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

import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.EnumSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/** Tests registered memory that does not exist any more, because the application has truncated the file that it maps. */
@Timeout(120)
class UnmappedRegionTest {
    private static final int SIZE = 16 << 10;
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int BATCH = 100;
    /** Often enough for the JVM to compile the code that executes the requests. */
    private static final int MANY = 300 * BATCH;

    @TempDir
    Path folder;
    private Station station;

    /** Sends a request that accesses a region. */
    private interface Request {
        void send(RawClient client, int number, int flags, LocalMemoryRegion region) throws Exception;
    }

    @BeforeEach
    void open() throws Exception {
        station = new Station();
    }

    @AfterEach
    void close() throws Exception {
        station.close();
    }

    private static Request write(int length) {
        return (client, number, flags, region) -> client.write(RawClient.frame(Wire.WRITE, flags, length, number, 0,
            region.address(), Station.key(region), 0, new byte[length]));
    }

    private static Request atomicWrite(int offset) {
        return (client, number, flags, region) -> client.write(RawClient.frame(Wire.ATOMIC_WRITE, flags, 0, number, 0,
            region.address() + offset, Station.key(region), 0));
    }

    /**
     * Checks that the connection ends, and that the region can be closed.
     *
     * @param before how many requests are executed before the file is truncated
     */
    private void endsWith(int before, Request request) throws Exception {
        try (FileChannel file = FileChannel.open(folder.resolve("memory"), StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE); Arena arena = Arena.ofShared()) {
            LocalMemoryRegion region = station.peer.register(file.map(FileChannel.MapMode.READ_WRITE, 0, SIZE, arena),
                EnumSet.of(MemoryUsage.WRITE_DST, MemoryUsage.READ_SRC));
            try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
                for (int i = 1; i <= before; i++) {
                    request.send(client, i, i % BATCH == 0 ? Wire.WANTED : 0, region);
                    if (i % BATCH == 0) {
                        assertEquals(Wire.ACK, client.read(Wire.HEADER)[0]);
                    }
                }
                file.truncate(0);
                request.send(client, before + 1, Wire.WANTED, region);
                while (client.next() >= 0) {
                    // Compiled code finds the fault a little later, and may have acknowledged the request before.
                }
                assertTimeoutPreemptively(LIMIT, region::close);
                assertEquals(ConnectionEvent.LOST, server.waitForEvent(Station.LONG));
            } finally {
                region.close();
            }
        }
        station.serves();
    }

    /** Short payloads are copied; the kernel stores long ones. */
    @ParameterizedTest
    @ValueSource(ints = {1, 8, 1000, 4000})
    void aWriteEndsTheConnection(int length) throws Exception {
        endsWith(0, write(length));
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 1000, 4000})
    void aWriteEndsTheConnectionIfItsCodeIsCompiled(int length) throws Exception {
        endsWith(MANY, write(length));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void anAtomicWriteEndsTheConnection(int offset) throws Exception {
        endsWith(0, atomicWrite(offset));
    }

    @Test
    void aReadEndsTheConnection() throws Exception {
        endsWith(0, (client, number, flags, region) -> client.write(RawClient.frame(Wire.READ, flags, 1000, number, 0,
            region.address(), Station.key(region), 0)));
    }
}
