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
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.WorkCompletions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tests connections that wait for a receive of their shared receive queue. */
@Timeout(120)
class StarvingConnectionsTest {
    private static final int SILENT = 20;

    private final List<AutoCloseable> opened = new ArrayList<>();

    /** Connects, and sends a message that finds no receive. */
    private RawClient starve(Station station, ConnectionConfig config) throws Exception {
        RawClient client = RawClient.requesting(station.address());
        opened.add(client);
        ConnectionRequest request = station.endpoint.waitForConnectionRequest(config, Station.LONG);
        Connection connection = request.connect(null);
        opened.add(connection);
        client.establish();
        assertEquals(ConnectionEvent.ESTABLISHED, connection.waitForEvent(Station.LONG));
        client.write(message());
        assertEquals(Wire.NOT_READY, client.read(Wire.HEADER)[0]);
        Adapter.Place place = (Adapter.Place) Station.field(Station.field(connection, "pair"), "place");
        // The adapter would find the receive when it looks at the connection.
        while (place.isListed()) {
            Thread.onSpinWait();
        }
        return client;
    }

    private static byte[] message() {
        return RawClient.frame(Wire.SEND, 0, 8, 1, 0, 0, 0, 0, new byte[8]);
    }

    /** The others are told that there is a receive, and do not send their messages again. */
    @Test
    void oneIsServedThoughManyOthersBeforeItAreSilent() throws Exception {
        try (Station station = new Station();
                SharedReceiveQueueConfig sizes = station.provider.newSharedReceiveQueueConfig().receiveCompletionQueueSize(64);
                SharedReceiveQueue queue = station.peer.newSharedReceiveQueue(sizes);
                ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(queue)) {
            try {
                for (int i = 0; i < SILENT; i++) {
                    starve(station, config);
                }
                RawClient last = starve(station, config);
                queue.receive(station.region, 0, 64, 1);
                assertEquals(Wire.RESUME, last.read(Wire.HEADER)[0]);
                last.write(message());
                assertEquals(1, queue.receiveCompletionQueue().poll(new WorkCompletions(1), Station.LONG));
            } finally {
                for (AutoCloseable one : opened) {
                    one.close();
                }
            }
        }
    }
}
