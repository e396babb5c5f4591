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
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import java.lang.foreign.MemorySegment;

/** Two connected ends in one process. */
final class Ends implements AutoCloseable {
    final Station station;
    final Endpoint endpoint;
    final MemorySegment memory;
    final LocalMemoryRegion region;
    final Connection client;
    final Connection server;
    final WorkCompletions completions = new WorkCompletions(16);

    Ends() throws RpmaException {
        this(new Station(), null, null);
    }

    Ends(Station station, ConnectionConfig clientConfig, ConnectionConfig serverConfig) throws RpmaException {
        this.station = station;
        memory = station.memory;
        region = station.region;
        endpoint = station.listen();
        ConnectionRequest request = station.peer.newConnectionRequest(endpoint.localAddress(), clientConfig);
        client = request.connect(null);
        server = Station.awaitRequest(endpoint, serverConfig).connect(null);
        Station.expect(ConnectionEvent.ESTABLISHED, client);
        Station.expect(ConnectionEvent.ESTABLISHED, server);
    }

    /** Polls until there are completions. Returns their number. */
    int poll(Connection connection) throws RpmaException {
        return Station.await(connection.completionQueue(), completions, Station.Waiting.SPINNING);
    }

    /** Polls one completion and checks it. */
    void expect(Connection connection, long context, int status) throws RpmaException {
        Station.expect(connection.completionQueue(), context, status);
    }

    void closeConnections() throws RpmaException {
        client.close();
        server.close();
        endpoint.close();
    }

    @Override
    public void close() throws RpmaException {
        closeConnections();
        station.close();
    }
}
