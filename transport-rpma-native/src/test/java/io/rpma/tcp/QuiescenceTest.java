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

import io.rpma.AddressRange;
import io.rpma.Connection;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.WorkCompletions;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests when the memory of the receives of a connection may be used again. */
@Timeout(120)
class QuiescenceTest {
    /** More than the buffers of both sockets hold. */
    private static final int LENGTH = 16 << 20;
    private static final int RECEIVE_BUFFER = 8 << 10;

    /** The thread that drives a connection may still receive while another thread closes the connection. */
    @Test
    void beginsWhenNoThreadDrivesTheConnectionAnyMore() throws Exception {
        CountDownLatch logs = new CountDownLatch(1);
        CountDownLatch continues = new CountDownLatch(1);
        try (Station station = new Station(); AddressRange range = station.provider.reserve(LENGTH);
                RawClient client = RawClient.requesting(station.address(), RECEIVE_BUFFER);
                Connection server = station.accept(client)) {
            LocalMemoryRegion region = station.peer.register(range.commit(0, LENGTH), EnumSet.of(MemoryUsage.READ_SRC));
            client.write(RawClient.frame(Wire.READ, 0, LENGTH, 1, 0, region.address(), Station.key(region), 0));
            client.write(RawClient.frame(Wire.SEND, 0, 0, 2, 0, 0, 0, 0));
            assertEquals(1, server.completionQueue().poll(new WorkCompletions(1), Station.LONG));
            // A read whose answer has not begun would be refused instead.
            assertEquals(Wire.READ_DATA, client.read(Wire.HEADER)[0]);
            TcpLog.INSTANCE.sink((level, file, line, function, message) -> {
                logs.countDown();
                Station.await(continues);
            });
            TcpLog.INSTANCE.threshold(RpmaLog.Threshold.MAIN, RpmaLog.Level.WARNING);
            CompletableFuture<Void> closed;
            try {
                // The thread that continues to send finds the region closed, and logs that.
                region.close();
                byte[] data = new byte[RECEIVE_BUFFER];
                while (logs.getCount() > 0) {
                    if (client.available() > 0) {
                        client.read(data);
                    }
                }
                closed = CompletableFuture.runAsync(() -> close(server));
                while (!(boolean) Station.field(Station.field(server, "events"), "closed")) {
                    Thread.onSpinWait();
                }
                assertFalse(server.isQuiescent());
            } finally {
                continues.countDown();
                TcpLog.INSTANCE.threshold(RpmaLog.Threshold.MAIN, RpmaLog.Level.DISABLED);
                TcpLog.INSTANCE.sink(null);
            }
            closed.get(Station.LONG.toSeconds(), TimeUnit.SECONDS);
            assertTrue(server.isQuiescent());
        }
    }

    private static void close(Connection connection) {
        try {
            connection.close();
        } catch (RpmaException e) {
            throw new AssertionError(e);
        }
    }
}
