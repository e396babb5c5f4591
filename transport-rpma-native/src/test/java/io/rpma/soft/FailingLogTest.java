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
import io.rpma.RpmaLog;
import io.rpma.soft.host.SoftLog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Tests a listener in a process whose log throws an exception. Its descriptors are closed nevertheless. */
@Timeout(120)
class FailingLogTest {
    private static final int WAIT_MILLIS = 10_000;

    private Station station;
    private Endpoint endpoint;

    @BeforeEach
    void open() throws Exception {
        station = new Station();
        listen(1);
        SoftLog.INSTANCE.sink((level, file, line, function, message) -> {
            throw new IllegalStateException("this log fails");
        });
        SoftLog.INSTANCE.threshold(RpmaLog.Threshold.MAIN, RpmaLog.Level.NOTICE);
    }

    /** Listens. Clients have so much time to send their requests. */
    private void listen(long millis) throws Exception {
        if (endpoint != null) {
            endpoint.close();
        }
        LocalClients.millisOfNext = millis;
        try {
            endpoint = station.listen();
        } finally {
            LocalClients.millisOfNext = LocalClients.CLIENT_MILLIS;
        }
    }

    private static void repairLog() throws Exception {
        SoftLog.INSTANCE.threshold(RpmaLog.Threshold.MAIN, RpmaLog.Level.DISABLED);
        SoftLog.INSTANCE.sink(null);
    }

    @AfterEach
    void close() throws Exception {
        repairLog();
        endpoint.close();
        station.close();
    }

    private void serves() throws Exception {
        repairLog();
        try (Connection client = station.peer.newConnectionRequest(endpoint.localAddress(), null).connect(null);
                Connection accepted = Station.awaitRequest(endpoint, null).connect(null)) {
            Station.expect(ConnectionEvent.ESTABLISHED, client);
            Station.expect(ConnectionEvent.ESTABLISHED, accepted);
        }
    }

    /** A client that has sent nothing in time is logged at the level NOTICE. */
    @Test
    void aSilentClientIsDropped() throws Exception {
        try (RawClient client = RawClient.connect(station.peer, endpoint)) {
            // The call that accepts the client may notice already that its time is over.
            assertThrows(IllegalStateException.class, () -> {
                while (true) {
                    assertNull(endpoint.nextConnectionRequest(null));
                }
            });
            assertNotNull(client.rejection(), "the client is not rejected");
            assertEquals(0, ((SoftEndpoint) endpoint).waitingCount());
        }
        serves();
    }

    /** A call fails for each client. The descriptor of the listener becomes ready for the next one. */
    @Test
    void allSilentClientsAreDropped() throws Exception {
        listen(2_000);
        try (RawClient first = RawClient.connect(station.peer, endpoint);
                RawClient second = RawClient.connect(station.peer, endpoint);
                EdgeTriggered loop = new EdgeTriggered(endpoint.fd())) {
            assertTrue(loop.await(WAIT_MILLIS));
            assertNull(endpoint.nextConnectionRequest(null));
            assumeTrue(((SoftEndpoint) endpoint).waitingCount() == 2, "this machine is too slow for the test");
            for (int left = 1; left >= 0; left--) {
                assertTrue(loop.await(WAIT_MILLIS), "the listener does not notice that the time of a client is over");
                assertThrows(IllegalStateException.class, () -> endpoint.nextConnectionRequest(null));
                assertEquals(left, ((SoftEndpoint) endpoint).waitingCount());
            }
            assertNotNull(first.rejection());
            assertNotNull(second.rejection());
        }
        serves();
    }

    /** A violation of the protocol is logged at the level ERROR. */
    @Test
    void aClientThatSendsNonsenseIsDropped() throws Exception {
        try (RawClient client = RawClient.connect(station.peer, endpoint)) {
            client.sendNonsense();
            assertThrows(IllegalStateException.class, () -> endpoint.nextConnectionRequest(null));
            assertTrue(client.isClosed(), "the client is not disconnected");
        }
        serves();
    }
}
