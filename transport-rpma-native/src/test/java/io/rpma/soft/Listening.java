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
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RpmaException;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** A station that listens for other processes. When it is closed, nothing of these processes may be left. */
final class Listening implements AutoCloseable {
    final Station station = new Station();
    final Endpoint endpoint = station.listen();
    final int port = endpoint.localAddress().getPort();

    Listening() throws RpmaException {
    }

    /**
     * Accepts the next client, and posts the given number of receives of the given length, adjacent to each other from the start
     * of the memory.
     */
    Connection accept(ConnectionConfig config, int receives, int bytes) throws RpmaException {
        ConnectionRequest request = Station.awaitRequest(endpoint, config);
        for (int i = 0; i < receives; i++) {
            request.receive(station.region, (long) i * bytes, bytes, i);
        }
        Connection connection = request.connect(null);
        Station.expect(ConnectionEvent.ESTABLISHED, connection);
        return connection;
    }

    @Override
    public void close() throws RpmaException {
        endpoint.close();
        station.close();
        assertEquals(0, ((SoftProvider) station.provider).process().queuePairCount());
        assertEquals(0, ((SoftProvider) station.provider).process().remotes().count());
    }
}
