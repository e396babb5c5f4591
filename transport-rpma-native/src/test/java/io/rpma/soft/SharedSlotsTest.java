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
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.WorkCompletions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests connections that use the same memory one after the other. None of them can access the next one. */
@Timeout(120)
class SharedSlotsTest {
    private static long half(Connection connection) {
        return ((SoftConnection) connection).queuePair().half().address();
    }

    private static int mappings() throws Exception {
        return (int) Files.readAllLines(Path.of("/proc/self/maps")).stream().filter(line -> line.contains("memfd:rpma"))
            .count();
    }

    private static Connection[] connect(Station station, Endpoint endpoint) throws Exception {
        return connect(station, endpoint, null);
    }

    private static Connection[] connect(Station station, Endpoint endpoint, ConnectionConfig config) throws Exception {
        Connection client = station.peer.newConnectionRequest(endpoint.localAddress(), config).connect(null);
        Connection server = Station.awaitRequest(endpoint, config).connect(null);
        Station.expect(ConnectionEvent.ESTABLISHED, client);
        Station.expect(ConnectionEvent.ESTABLISHED, server);
        return new Connection[] {client, server};
    }

    private static void exchange(Station station, Connection from, Connection to, int context) throws Exception {
        to.receive(station.region, 64, 64, context);
        from.send(station.region, 0, 8, CompletionFlag.ALWAYS, context);
        Station.expect(from.completionQueue(), context, 0);
        Station.expect(to.completionQueue(), context, 0);
    }

    /** While one end is open, the memory of the closed other end is not used again. */
    @Test
    void memoryIsUsedAnewOnlyWhenBothEndsAreClosed() throws Exception {
        // A size of which no other test has left slots.
        try (Station station = new Station(); Endpoint endpoint = station.listen();
            ConnectionConfig config = station.provider.newConnectionConfig().receiveQueueSize(600).completionQueueSize(700)) {
            Connection[] old = connect(station, endpoint, config);
            exchange(station, old[0], old[1], 1);
            long memory = half(old[1]);
            old[1].close();
            List<Connection[]> others = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                Connection[] other = connect(station, endpoint, config);
                assertNotEquals(memory, half(other[0]));
                assertNotEquals(memory, half(other[1]));
                other[1].receive(station.region, 64, 64, 7);
                others.add(other);
            }
            // The old end can do anything without an effect.
            old[0].send(station.region, 0, 8, CompletionFlag.ALWAYS, 2);
            Station.expect(old[0].completionQueue(), 2, CompletionStatus.RETRY_EXC_ERR.code());
            Station.expect(ConnectionEvent.CLOSED, old[0]);
            for (Connection[] other : others) {
                assertEquals(0, other[1].completionQueue().poll(new WorkCompletions(1)));
            }
            old[0].close();
            boolean usedAnew = false;
            for (int i = 0; i < 200 && !usedAnew; i++) {
                Connection[] other = connect(station, endpoint, config);
                others.add(other);
                usedAnew = memory == half(other[0]) || memory == half(other[1]);
                exchange(station, other[0], other[1], 3);
            }
            assertTrue(usedAnew);
            for (Connection[] other : others) {
                other[0].close();
                other[1].close();
            }
        }
    }

    /** A server accepts and closes before the client handles its event. The client then had a connection, which is closed. */
    @Test
    void anEndThatIsClosedBeforeTheOtherLooksIsNotAttachedTo() throws Exception {
        try (Station station = new Station(); Endpoint endpoint = station.listen()) {
            for (int round = 0; round < 3; round++) {
                ConnectionRequest request = station.peer.newConnectionRequest(endpoint.localAddress(), null);
                Connection client = request.connect(null);
                Connection server = Station.awaitRequest(endpoint, null).connect(null);
                server.close();
                // The memory is free at once, and the next connection may use it.
                Connection[] next = connect(station, endpoint);
                Station.expect(ConnectionEvent.ESTABLISHED, client);
                client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
                Station.expect(client.completionQueue(), 1, CompletionStatus.RETRY_EXC_ERR.code());
                Station.expect(ConnectionEvent.CLOSED, client);
                assertNull(client.nextEvent());
                exchange(station, next[0], next[1], 2);
                client.close();
                next[0].close();
                next[1].close();
            }
        }
    }

    /** A thousand connections one after another, and hundreds at once, need no additional file and no additional mapping. */
    @Test
    void connectionsLeaveNothingBehind() throws Exception {
        try (Station station = new Station(); Endpoint endpoint = station.listen()) {
            for (int i = 0; i < 10; i++) {
                Connection[] first = connect(station, endpoint);
                first[0].close();
                first[1].close();
            }
            int before = mappings();
            for (int i = 0; i < 1000; i++) {
                Connection[] one = connect(station, endpoint);
                exchange(station, one[i % 2], one[1 - i % 2], i);
                one[i % 2].close();
                one[1 - i % 2].close();
            }
            assertEquals(before, mappings());
            for (int round = 0; round < 3; round++) {
                List<Connection[]> all = new ArrayList<>();
                for (int i = 0; i < 300; i++) {
                    all.add(connect(station, endpoint));
                }
                for (Connection[] one : all) {
                    exchange(station, one[0], one[1], 1);
                    one[0].close();
                    one[1].close();
                }
                if (round == 0) {
                    before = mappings();
                }
                assertEquals(before, mappings());
            }
        }
    }

    /** The same test between two processes. What they share is released when the other process ends. */
    @Test
    void whatIsSharedWithAProcessGoesWithIt() throws Exception {
        try (Station station = new Station(); Endpoint endpoint = station.listen()) {
            LocalProcess process = ((SoftProvider) station.provider).process();
            int before = mappings();
            try (Child child = Child.start("reconnect", endpoint.localAddress().getPort(), 50)) {
                int most = 0;
                for (int i = 0; i < 50; i++) {
                    Connection connection = Station.awaitRequest(endpoint, null).connect(null);
                    Station.expect(ConnectionEvent.ESTABLISHED, connection);
                    connection.receive(station.region, 0, 64, i);
                    Station.expect(connection.completionQueue(), i, 0);
                    if (i == 10) {
                        most = mappings();
                    } else if (i == 49) {
                        // The process ends when its last connection is closed.
                        assertEquals(most, mappings());
                        assertEquals(1, process.remotes().count());
                    }
                    connection.close();
                }
                child.expect("done");
                child.awaitEnd();
            }
            process.remotes().sweep();
            assertEquals(0, process.remotes().count());
            assertEquals(before, mappings());
        }
    }

    private static int descriptors() throws Exception {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return (int) files.count();
        }
    }

    /** Hundreds of connections to another process each need three descriptors here and no mapping, and each of them works. */
    @Test
    void manyConnectionsToOneProcess() throws Exception {
        int count = 300;
        try (Station station = new Station(); Endpoint endpoint = station.listen();
            Child child = Child.start("many", endpoint.localAddress().getPort(), count)) {
            List<Connection> connections = new ArrayList<>();
            int descriptors = 0;
            int mappings = 0;
            for (int i = 0; i < count; i++) {
                ConnectionRequest request = Station.awaitRequest(endpoint, null);
                request.receive(station.region, 0, 64, 1);
                request.receive(station.region, 0, 64, 2);
                Connection connection = request.connect(null);
                Station.expect(ConnectionEvent.ESTABLISHED, connection);
                connections.add(connection);
                if (i == count / 2) {
                    descriptors = descriptors();
                    mappings = mappings();
                }
            }
            int half = count - 1 - count / 2;
            assertTrue(descriptors() - descriptors <= 3 * half + 10, descriptors + " became " + descriptors());
            assertTrue(mappings() - mappings <= 4, mappings + " became " + mappings());
            for (int context = 1; context <= 2; context++) {
                for (Connection connection : connections) {
                    Station.expect(connection.completionQueue(), context, 0);
                }
            }
            child.expect("done");
            for (Connection connection : connections) {
                connection.close();
            }
        }
    }
}
