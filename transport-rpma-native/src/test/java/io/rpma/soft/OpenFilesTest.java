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
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.WorkCompletions;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.shared.Ranges;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests a process that has no descriptors left. Processes that connect to it, or that it connects to, wait until descriptors are
 * available again, and are not blamed.
 */
@Timeout(120)
class OpenFilesTest {
    /** More descriptors than one connection needs. */
    private static final int MAX_NEEDED = 40;
    private static final String SHORTAGE = "errno " + Sockets.EMFILE;

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

    private String order(String order) throws IOException {
        return process.order(order);
    }

    /** Repeatedly gives an order to a process without descriptors, and releases one descriptor each time. */
    private String orderUntilThereAreEnough(String order) throws IOException {
        assertEquals("exhausted", order("exhaust"));
        String answer = order(order);
        int freed = 0;
        while (answer.startsWith(SHORTAGE) && freed < MAX_NEEDED) {
            assertTrue(answer.contains("the limit of open files is 512: raise it (ulimit -n, or LimitNOFILE"), answer);
            assertEquals("freed", order("free"));
            freed++;
            answer = order(order);
        }
        assertTrue(freed > 0, "with no descriptor left: " + answer);
        return answer;
    }

    @Test
    void aClientWaitsUntilTheListenerHasDescriptors() throws Exception {
        InetSocketAddress listener = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        try (Connection client = station.peer.newConnectionRequest(listener, null).connect(null)) {
            assertEquals("request", orderUntilThereAreEnough("next"));
            assertEquals("released", order("release"));
            assertEquals("accepted", order("accept"));
            Station.expect(ConnectionEvent.ESTABLISHED, client);
            assertEquals("ESTABLISHED", order("await"));
        }
    }

    /** An event loop that waits edge-triggered polls once for each notification, and no further client connects. */
    @Test
    void aListenerThatWaitsForEdgesIsNotifiedAgainHoweverLongTheShortageLasts() throws Exception {
        assertEquals("exhausted", order("exhaust"));
        InetSocketAddress listener = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        try (Connection client = station.peer.newConnectionRequest(listener, null).connect(null)) {
            for (int i = 0; i < 3; i++) {
                assertEquals("edge", order("edge"));
                String answer = order("next");
                assertTrue(answer.startsWith(SHORTAGE), answer);
            }
            assertEquals("released", order("release"));
            assertEquals("edge", order("edge"));
            assertEquals("request", order("next"));
            assertEquals("accepted", order("accept"));
            Station.expect(ConnectionEvent.ESTABLISHED, client);
        }
    }

    @Test
    void aListenerIsNotBlamedForTheShortageOfItsClient() throws Exception {
        try (Endpoint endpoint = station.listen()) {
            assertEquals("requested", order("connect " + endpoint.localAddress().getPort()));
            try (Connection accepted = Station.awaitRequest(endpoint, null).connect(null)) {
                assertEquals("ESTABLISHED", orderUntilThereAreEnough("event"));
                Station.expect(ConnectionEvent.ESTABLISHED, accepted);
            }
        }
    }

    /** The first connection has already shared the memory of both processes. Now a descriptor for the doorbell is missing. */
    @Test
    void aFurtherClientWaitsUntilTheListenerCanOpenItsDoorbell() throws Exception {
        InetSocketAddress listener = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        try (Connection first = station.peer.newConnectionRequest(listener, null).connect(null)) {
            assertEquals("request", order("take"));
            assertEquals("accepted", order("accept"));
            Station.expect(ConnectionEvent.ESTABLISHED, first);
            try (Connection next = station.peer.newConnectionRequest(listener, null).connect(null)) {
                assertEquals("request", orderUntilThereAreEnough("next"));
                assertEquals("accepted", order("accept"));
                Station.expect(ConnectionEvent.ESTABLISHED, next);
            }
        }
    }

    @Test
    void aListenerIsNotBlamedForADoorbellThatItsFurtherClientCannotOpen() throws Exception {
        try (Endpoint endpoint = station.listen()) {
            assertEquals("requested", order("connect " + endpoint.localAddress().getPort()));
            try (Connection first = Station.awaitRequest(endpoint, null).connect(null)) {
                assertEquals("ESTABLISHED", order("await"));
                Station.expect(ConnectionEvent.ESTABLISHED, first);
                assertEquals("requested", order("connect " + endpoint.localAddress().getPort()));
                try (Connection next = Station.awaitRequest(endpoint, null).connect(null)) {
                    assertEquals("ESTABLISHED", orderUntilThereAreEnough("event"));
                    Station.expect(ConnectionEvent.ESTABLISHED, next);
                }
            }
        }
    }

    /**
     * The region lies in memory that this process registers after the connection has been established. The other process lacks
     * the descriptor with which to map it. Its work request waits, and neither end of the connection fails.
     */
    @ParameterizedTest
    @ValueSource(strings = {"send", "read", "write"})
    void aWorkRequestWaitsUntilItsSenderCanMapTheRegion(String operation) throws Exception {
        InetSocketAddress listener = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        try (Connection client = station.peer.newConnectionRequest(listener, null).connect(null);
            AddressRange range = station.provider.reserve(Ranges.LARGE)) {
            assertEquals("request", order("take"));
            assertEquals("accepted", order("accept"));
            Station.expect(ConnectionEvent.ESTABLISHED, client);
            assertEquals("ESTABLISHED", order("await"));
            try (LocalMemoryRegion region = station.peer.register(range.commit(0, Posix.PAGE_SIZE), Station.ALL)) {
                ByteBuffer descriptor = ByteBuffer.allocate(region.descriptorSize());
                region.descriptor(descriptor);
                client.receive(region, 0, 64, 7);
                assertEquals("exhausted", order("exhaust"));
                String order = operation.equals("send") ? operation
                    : operation + ' ' + HexFormat.of().formatHex(descriptor.array());
                assertEquals("posted", order(order));
                assertEquals("none", order("poll"));
                assertEquals(0, client.completionQueue().poll(new WorkCompletions(1)));
                assertEquals("released", order("release"));
                assertEquals("SUCCESS", order("completion"));
                if (!operation.equals("read")) {
                    Station.expect(client.completionQueue(), 7, 0);
                }
                client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 8);
                assertEquals(0, client.completionQueue().poll(new WorkCompletions(1)), "the connection has not failed");
            }
        }
    }

    @Test
    void aClientThatLeavesMeanwhileIsForgotten() throws Exception {
        InetSocketAddress listener = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        Connection client = station.peer.newConnectionRequest(listener, null).connect(null);
        assertEquals("exhausted", order("exhaust"));
        assertEquals("freed", order("free"));
        // The client is accepted by the kernel, but its request cannot be read.
        assertTrue(order("next").startsWith(SHORTAGE));
        client.close();
        assertTrue(order("next").startsWith(SHORTAGE));
        assertEquals("none", order("next"));
        try (Connection next = station.peer.newConnectionRequest(listener, null).connect(null)) {
            assertEquals("request", orderUntilThereAreEnough("next"));
            assertEquals("accepted", order("accept"));
            Station.expect(ConnectionEvent.ESTABLISHED, next);
        }
    }
}
