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
import io.rpma.ConnectionEvent;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaLog;
import io.rpma.WorkCompletions;
import io.rpma.software.HalfOpenClients;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/** Tests connections in a process whose log throws an exception. */
@Timeout(120)
class FailingLogTest {
    /** More than the buffers of both sockets hold. */
    private static final int LENGTH = 16 << 20;
    private static final int RECEIVE_BUFFER = 8 << 10;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final CountDownLatch logged = new CountDownLatch(1);
    private Station station;
    private AddressRange range;
    private LocalMemoryRegion region;

    @BeforeEach
    void open() throws Exception {
        station = new Station();
        range = station.provider.reserve(LENGTH);
        region = station.peer.register(range.commit(0, LENGTH), EnumSet.of(MemoryUsage.READ_SRC));
        TcpLog.INSTANCE.sink((level, file, line, function, message) -> {
            logged.countDown();
            throw new IllegalStateException("this log fails");
        });
        TcpLog.INSTANCE.threshold(RpmaLog.Threshold.MAIN, RpmaLog.Level.WARNING);
    }

    private static void repairLog() throws Exception {
        TcpLog.INSTANCE.threshold(RpmaLog.Threshold.MAIN, RpmaLog.Level.DISABLED);
        TcpLog.INSTANCE.sink(null);
    }

    @AfterEach
    void close() throws Exception {
        repairLog();
        region.close();
        range.close();
        station.close();
    }

    /** Closes a region while the peer is reading it: the connection logs that when it continues to send. */
    private void closeWhileItIsRead(RawClient client, Connection server) throws Exception {
        client.write(RawClient.frame(Wire.READ, 0, LENGTH, 1, 0, region.address(), Station.key(region), 0));
        client.write(RawClient.frame(Wire.SEND, 0, 0, 2, 0, 0, 0, 0));
        assertEquals(1, server.completionQueue().poll(new WorkCompletions(1), Station.LONG));
        // A read whose answer has not begun would be refused instead.
        assertEquals(Wire.READ_DATA, client.read(Wire.HEADER)[0]);
        region.close();
    }

    @Test
    void aPollFailsAndTheConnectionIsLost() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        try (RawClient client = RawClient.requesting(station.address(), RECEIVE_BUFFER)) {
            Connection server = station.accept(client);
            // From here on, the adapter does not drive the connection.
            Station.hold(Adapter.instance()::execute, held);
            try {
                closeWhileItIsRead(client, server);
                assertThrows(IllegalStateException.class, () -> server.completionQueue().poll(new WorkCompletions(1)));
                assertEquals(ConnectionEvent.LOST, server.nextEvent());
            } finally {
                held.countDown();
                assertTimeoutPreemptively(LIMIT, server::close);
            }
        }
        repairLog();
        station.serves();
    }

    @Test
    void theAdapterContinues() throws Exception {
        try (RawClient client = RawClient.requesting(station.address(), RECEIVE_BUFFER)) {
            Connection server = station.accept(client);
            try {
                closeWhileItIsRead(client, server);
                // When the socket has room, the adapter continues to send.
                byte[] piece = new byte[1 << 16];
                while (logged.getCount() > 0) {
                    client.read(piece);
                }
                assertEquals(ConnectionEvent.LOST, server.waitForEvent(Station.LONG));
            } finally {
                assertTimeoutPreemptively(LIMIT, server::close);
            }
        }
        repairLog();
        station.serves();
    }

    /** A client that is dropped is logged at the level NOTICE. */
    @Test
    void silentClientsAreDropped() throws Exception {
        TcpLog.INSTANCE.threshold(RpmaLog.Threshold.MAIN, RpmaLog.Level.NOTICE);
        try (RawClient first = RawClient.connect(station.address()); RawClient second = RawClient.connect(station.address())) {
            first.read(Greeting.SIZE);
            second.read(Greeting.SIZE);
            assertEquals(-1, first.next());
            assertEquals(-1, second.next());
        }
        repairLog();
        station.serves();
    }

    /** The listener drops the oldest client of an address that has too many. The one that has just connected is not lost. */
    @Test
    void aClientThatReplacesAnotherIsServed() throws Exception {
        Acceptor acceptor = (Acceptor) Station.field(station.endpoint, "acceptor");
        Field clients = Acceptor.class.getDeclaredField("clients");
        clients.setAccessible(true);
        synchronized (acceptor) {
            clients.set(acceptor, new HalfOpenClients(1, 1, Long.MAX_VALUE / 2));
        }
        TcpLog.INSTANCE.threshold(RpmaLog.Threshold.MAIN, RpmaLog.Level.NOTICE);
        try (RawClient first = RawClient.connect(station.address())) {
            first.read(Greeting.SIZE);
            try (RawClient second = RawClient.requesting(station.address())) {
                assertEquals(-1, first.next());
                repairLog();
                station.accept(second).close();
            }
        }
    }
}
