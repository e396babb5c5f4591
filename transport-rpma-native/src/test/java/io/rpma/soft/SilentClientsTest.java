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
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.Hello;
import io.rpma.software.TcpPort;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests clients that connect and send nothing, and the listener, which must serve the others. */
@Timeout(120)
class SilentClientsTest {
    private static final int DEADLINE_MILLIS = 30_000;
    private static final int FLOOD = 800;

    private Station station;
    private Endpoint endpoint;
    private EdgeTriggered loop;
    private final List<RawClient> clients = new ArrayList<>();

    @BeforeEach
    void listen() throws Exception {
        station = new Station();
        endpoint = station.listen();
        loop = new EdgeTriggered(endpoint.fd());
    }

    @AfterEach
    void close() throws Exception {
        loop.close();
        clients.forEach(RawClient::close);
        endpoint.close();
        station.close();
    }

    /** Listens anew, and gives the clients so much time that it is not over before the test is, even on a busy machine. */
    private void listenPatiently() throws Exception {
        loop.close();
        endpoint.close();
        LocalClients.millisOfNext = 300_000;
        try {
            endpoint = station.listen();
        } finally {
            LocalClients.millisOfNext = LocalClients.CLIENT_MILLIS;
        }
        loop = new EdgeTriggered(endpoint.fd());
    }

    /** Polls until a call returns that there is nothing more, as a server channel does. */
    private ConnectionRequest next() throws RpmaException {
        assertTrue(loop.await(DEADLINE_MILLIS), "the listener's descriptor did not become ready although there was an event");
        return endpoint.nextConnectionRequest(null);
    }

    private ConnectionRequest awaitRequest() throws RpmaException {
        ConnectionRequest request = next();
        while (request == null) {
            request = next();
        }
        return request;
    }

    private void connectAsOneShould() throws RpmaException {
        try (Connection client = station.peer.newConnectionRequest(endpoint.localAddress(), null).connect(null);
                Connection accepted = awaitRequest().connect(null)) {
            Station.expect(ConnectionEvent.ESTABLISHED, client);
            Station.expect(ConnectionEvent.ESTABLISHED, accepted);
        }
    }

    @Test
    void clientsThatLeaveWithoutAWordDoNotKeepTheNextOneWaiting() throws Exception {
        for (int i = 0; i < FLOOD; i++) {
            RawClient.connect(station.peer, endpoint).close();
        }
        connectAsOneShould();
        assertEquals(0, ((SoftEndpoint) endpoint).waitingCount());
    }

    @Test
    void clientsThatStayWithoutAWordDoNotKeepTheNextOneWaiting() throws Exception {
        listenPatiently();
        for (int i = 0; i < FLOOD; i++) {
            clients.add(RawClient.connect(station.peer, endpoint));
        }
        connectAsOneShould();
        int waiting = ((SoftEndpoint) endpoint).waitingCount();
        assertTrue(waiting > 0 && waiting <= 256, waiting + " clients of one process are waiting");
        assertNotNull(clients.getFirst().rejection(), "the oldest client did not receive the reason");
        assertNull(clients.getLast().rejection(), "the newest client still has time");
    }

    @Test
    void aClientThatHasSentItsRequestIsServedHoweverManyOthersConnect() throws Exception {
        listenPatiently();
        for (int i = 0; i < FLOOD / 2; i++) {
            clients.add(RawClient.connect(station.peer, endpoint));
        }
        assertNull(next());
        assertNull(next(), "one call handled more than its limit");
        int waiting = ((SoftEndpoint) endpoint).waitingCount();
        RawClient oldest = clients.get(clients.size() - waiting);
        clients.add(RawClient.connect(station.peer, endpoint));
        oldest.sendNonsense();
        assertNull(next());
        assertTrue(oldest.isClosed(), "the message of the oldest client was not read");
        assertEquals(waiting, ((SoftEndpoint) endpoint).waitingCount());
    }

    @Test
    void theTimeOfAClientThatSaysNothingIsOver() throws Exception {
        RawClient client = RawClient.connect(station.peer, endpoint);
        clients.add(client);
        assertNull(next());
        assertEquals(1, ((SoftEndpoint) endpoint).waitingCount());
        assertNull(next());
        assertEquals("no request arrived within " + LocalClients.CLIENT_MILLIS + " ms", client.rejection());
        assertEquals(0, ((SoftEndpoint) endpoint).waitingCount());
        connectAsOneShould();
    }

    @Test
    void aTcpClientIsToldWhatThisIsHoweverManyOthersStay() throws Exception {
        List<Socket> strangers = new ArrayList<>();
        try {
            for (int i = 0; i < FLOOD / 4; i++) {
                strangers.add(new Socket(endpoint.localAddress().getAddress(), endpoint.localAddress().getPort()));
            }
            assertNull(next());
            for (Socket stranger : strangers) {
                byte[] hello = stranger.getInputStream().readNBytes(Hello.SIZE);
                assertEquals(ControlMessage.VERSION, Hello.read(hello, hello.length).version());
            }
            connectAsOneShould();
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
    }

    /** A listener that is paused accepts clients over TCP for others, a limited number for each notification. */
    @Test
    void aPausedListenerHandsOverAllTcpClientsHoweverManyConnect() throws Exception {
        List<Socket> strangers = new ArrayList<>();
        List<Integer> taken = new ArrayList<>();
        ((TcpPort) endpoint).handOver(taken::add);
        try {
            for (int i = 0; i < 3 * SoftEndpoint.MAX_STEPS; i++) {
                strangers.add(new Socket(endpoint.localAddress().getAddress(), endpoint.localAddress().getPort()));
            }
            while (taken.size() < strangers.size()) {
                assertTrue(loop.await(DEADLINE_MILLIS), "the listener was not notified again after " + taken.size());
                endpoint.progress();
            }
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
            taken.forEach(Posix::close);
        }
    }

    @Test
    void aClientOfAnotherUserIsTurnedAway() throws Exception {
        AnotherUser.assumeRoot();
        RawClient client = RawClient.connectAsAnotherUser(station.peer, endpoint);
        clients.add(client);
        assertNull(next());
        assertTrue(client.rejection().contains("processes of its own user only"));
        assertEquals(0, ((SoftEndpoint) endpoint).waitingCount());
        connectAsOneShould();
    }
}
