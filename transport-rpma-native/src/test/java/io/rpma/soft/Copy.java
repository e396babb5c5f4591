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
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RpmaException;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Function;

/**
 * The provider and a peer, which a class loader of its own has loaded. It executes orders, and its interface consists of types of
 * the JDK, because the classes of the caller have the same names but are others. {@code listen} returns a port; {@code accept}
 * accepts a client of the last listener and receives a message of it; {@code connect PORT} connects and sends a message; {@code
 * disconnect} closes the last connection; {@code links} closes the links that are not used, and returns how many there are;
 * {@code end} closes all connections and listeners.
 */
public final class Copy implements Function<String, Integer> {
    private final Station station = new Station();
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final Deque<Connection> connections = new ConcurrentLinkedDeque<>();

    /** Called by reflection. */
    public Copy() throws RpmaException {
    }

    @Override
    public Integer apply(String order) {
        try {
            return carryOut(order.split(" "));
        } catch (RpmaException e) {
            throw new AssertionError(order, e);
        }
    }

    private int carryOut(String[] order) throws RpmaException {
        switch (order[0]) {
            case "listen":
                endpoints.add(station.listen());
                return endpoints.getLast().localAddress().getPort();
            case "accept":
                ConnectionRequest request = Station.awaitRequest(endpoints.getLast(), null);
                request.receive(station.region, 0, 64, 1);
                Connection accepted = request.connect(null);
                connections.push(accepted);
                Station.expect(ConnectionEvent.ESTABLISHED, accepted);
                Station.expect(accepted.completionQueue(), 1, 0);
                return 0;
            case "connect":
                Connection client = station.connect(Integer.parseInt(order[1]), null, 0);
                connections.push(client);
                client.send(station.region, 64, 64, CompletionFlag.ALWAYS, 2);
                Station.expect(client.completionQueue(), 2, 0);
                return 0;
            case "disconnect":
                connections.pop().close();
                return 0;
            case "links":
                ((SoftProvider) station.provider).process().remotes().closeIdle();
                return ((SoftProvider) station.provider).process().remotes().count();
            case "end":
                for (Connection connection : connections) {
                    connection.close();
                }
                connections.clear();
                for (Endpoint endpoint : endpoints) {
                    endpoint.close();
                }
                endpoints.clear();
                ((SoftProvider) station.provider).process().remotes().closeIdle();
                return 0;
            default:
                throw new IllegalArgumentException(order[0]);
        }
    }
}
