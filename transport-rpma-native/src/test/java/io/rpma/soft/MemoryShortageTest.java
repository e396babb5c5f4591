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

import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.Endpoint;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.soft.host.MappingLimit;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests that a process which has no addresses left for the memory of another process can connect when it has more. The other
 * process shares a large range before the memory that the second connection needs.
 */
@Timeout(120)
class MemoryShortageTest {
    /** The size of a receive queue of which no connection has been created before. */
    private static final int OTHER_SIZE = 700;

    private final long large = MappingLimit.ofKernel().mostBytesEach() / 2;
    private Station station;
    private ConnectingProcess process;
    private int port;

    @BeforeEach
    void start() throws Exception {
        station = new Station();
        process = new ConnectingProcess();
        port = process.port;
    }

    @AfterEach
    void stop() throws Exception {
        process.close();
        station.close();
    }

    private void order(String order, String answer) throws IOException {
        assertEquals(answer, process.order(order));
    }

    /** Executes a call several times without addresses for the large range. */
    private void assertShortage(Executable call) {
        try (TakenAddresses taken = new TakenAddresses(large)) {
            assertTrue(taken.areAny());
            for (int i = 0; i < 3; i++) {
                RpmaException shortage = assertThrows(RpmaException.class, call);
                assertEquals(RpmaError.NO_MEMORY, shortage.error());
                assertEquals(Posix.ENOMEM, shortage.errno());
            }
        }
    }

    @Test
    void anAcceptanceIsProcessedWhenThereIsMemory() throws Exception {
        InetSocketAddress listener = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        try (Connection first = station.peer.newConnectionRequest(listener, null).connect(null)) {
            order("take", "request");
            order("accept", "accepted");
            Station.expect(ConnectionEvent.ESTABLISHED, first);
            order("reserve " + large, "reserved");
            try (Connection next = station.peer.newConnectionRequest(listener, null).connect(null)) {
                order("take " + OTHER_SIZE, "request");
                order("accept", "accepted");
                Station.awaitReadable(next.eventFd(), "answer");
                assertShortage(next::nextEvent);
                assertEquals(ConnectionEvent.ESTABLISHED, next.nextEvent());
                order("await", "ESTABLISHED");
            }
        }
    }

    @Test
    void aClientIsAcceptedWhenThereIsMemory() throws Exception {
        try (Endpoint endpoint = station.listen()) {
            order("connect " + endpoint.localAddress().getPort(), "requested");
            try (Connection first = Station.awaitRequest(endpoint, null).connect(null)) {
                order("await", "ESTABLISHED");
                Station.expect(ConnectionEvent.ESTABLISHED, first);
                order("reserve " + large, "reserved");
                order("connect " + endpoint.localAddress().getPort() + ' ' + OTHER_SIZE, "requested");
                Station.awaitReadable(endpoint.fd(), "request");
                assertShortage(() -> endpoint.nextConnectionRequest(null));
                try (Connection next = Station.awaitRequest(endpoint, null).connect(null)) {
                    order("await", "ESTABLISHED");
                    Station.expect(ConnectionEvent.ESTABLISHED, next);
                }
            }
        }
    }
}
