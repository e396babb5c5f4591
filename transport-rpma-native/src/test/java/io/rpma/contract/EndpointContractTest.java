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
package io.rpma.contract;

import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.posix.Posix;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

import static io.rpma.RpmaError.INVALID;
import static io.rpma.RpmaError.PROVIDER;
import static io.rpma.contract.Contract.HOST;
import static io.rpma.contract.Contract.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests listening endpoints. */
class EndpointContractTest extends ContractCase {
    /** rpma_ep_listen(3) with port "0". */
    @Test
    void portZeroGivesAPort() throws Exception {
        Endpoint first = endpoint();
        Endpoint second = endpoint();
        assertEquals(HOST, first.localAddress().getAddress());
        assertTrue(first.localAddress().getPort() > 0);
        assertNotEquals(first.localAddress().getPort(), second.localAddress().getPort());
    }

    @Test
    void portThatIsAskedForIsGiven() throws Exception {
        Endpoint endpoint = peer().listen(Contract.anyPort());
        InetSocketAddress address = endpoint.localAddress();
        endpoint.close();
        assertEquals(address, scope.own(peer().listen(address)).localAddress());
    }

    /** rpma_ep_listen(3): RPMA_E_PROVIDER - rdma_listen(3) failed. */
    @Test
    void portInUseIsRefused() throws Exception {
        Endpoint endpoint = endpoint();
        assertEquals(Posix.EADDRINUSE, refused(PROVIDER, () -> peer().listen(endpoint.localAddress())).errno());
        // A second peer of the same device cannot listen on the port either.
        assertEquals(Posix.EADDRINUSE,
            refused(PROVIDER, () -> scope.own(Contract.DEVICE.newPeer()).listen(endpoint.localAddress())).errno());
    }

    /** rpma_ep_listen(3): RPMA_E_PROVIDER - rdma_bind_addr() inside it failed. */
    @Test
    void addressOfAnotherHostIsRefused() {
        assertEquals(Posix.EADDRNOTAVAIL,
            refused(PROVIDER, () -> peer().listen(new InetSocketAddress(Contract.FOREIGN, 0))).errno());
    }

    /** rpma_ep_listen(3): RPMA_E_INVAL - addr or port is NULL. */
    @Test
    void noAddressIsRefused() {
        refused(INVALID, () -> peer().listen(null));
        refused(INVALID, () -> peer().listen(InetSocketAddress.createUnresolved("localhost", 0)));
    }

    /** rpma_ep_next_conn_req(3): RPMA_E_NO_EVENT - no next connection request available. */
    @Test
    void thereIsNoRequestWithoutAClient() throws Exception {
        Endpoint endpoint = endpoint();
        assertFalse(Poll.readable(endpoint.fd()));
        assertNull(endpoint.nextConnectionRequest(config()));
        assertNull(endpoint.nextConnectionRequest(config()));
        assertFalse(Poll.readable(endpoint.fd()));
    }

    /** rpma_ep_get_fd(3): the descriptor is readable only while there is a request. */
    @Test
    void descriptorTellsOfRequests() throws Exception {
        Endpoint endpoint = endpoint();
        scope.own(scope.own(peer().newConnectionRequest(endpoint.localAddress(), config())).connect(null));
        assertTrue(Poll.readable(endpoint.fd(), Contract.DEADLINE));
        assertTrue(Poll.readable(endpoint.fd()), "readable until the request is taken");
        scope.own(Wait.request(endpoint, config()));
        assertNull(endpoint.nextConnectionRequest(config()));
        assertFalse(Poll.readable(endpoint.fd()));
    }

    /** A request that was prepared but not connected is not visible to the other side. */
    @Test
    void preparedRequestIsNotSeen() throws Exception {
        Endpoint endpoint = endpoint();
        ConnectionRequest prepared = scope.own(peer().newConnectionRequest(endpoint.localAddress(), config()));
        assertFalse(Poll.readable(endpoint.fd(), Contract.ABSENCE));
        prepared.close();
        assertFalse(Poll.readable(endpoint.fd(), Contract.ABSENCE));
        assertNull(endpoint.nextConnectionRequest(config()));
    }

    /** rpma_ep_shutdown(3): the connections established using the endpoint will still exist. */
    @Test
    void connectionsOutliveTheEndpoint() throws Exception {
        Endpoint endpoint = endpoint();
        Pair pair = pair(Pair.with().endpoint(endpoint));
        endpoint.close();
        pair.exchange();
    }

    @Test
    void requestsNotTakenAreRejectedWhenTheEndpointCloses() throws Exception {
        Endpoint endpoint = endpoint();
        Connection client = scope.own(scope.own(
            peer().newConnectionRequest(endpoint.localAddress(), config())).connect(null));
        assertTrue(Poll.readable(endpoint.fd(), Contract.DEADLINE));
        endpoint.close();
        Wait.event(ConnectionEvent.REJECTED, client);
    }

    @Test
    void noListenerIsLeftAfterTheEndpointHasClosed() throws Exception {
        Endpoint endpoint = endpoint();
        endpoint.close();
        Connection client = scope.own(scope.own(
            peer().newConnectionRequest(endpoint.localAddress(), config())).connect(null));
        Wait.event(ConnectionEvent.REJECTED, client);
    }

    /** rpma_ep_shutdown(3). */
    @Test
    void closedEndpointIsRefused() throws Exception {
        Endpoint endpoint = endpoint();
        endpoint.close();
        endpoint.close();
        refused(INVALID, () -> endpoint.nextConnectionRequest(config()));
    }

    @Test
    void endpointsComeAndGo() throws Exception {
        InetSocketAddress address = endpoint().localAddress();
        int other = address.getPort();
        for (int i = 0; i < 50; i++) {
            try (Endpoint endpoint = peer().listen(Contract.anyPort())) {
                assertNotEquals(other, endpoint.localAddress().getPort());
            }
        }
    }

    /** One endpoint serves many clients, and each client gets the connection that was made for it. */
    @Test
    void manyClientsWaitAtOneEndpoint() throws Exception {
        Endpoint endpoint = endpoint();
        Connection[] clients = new Connection[8];
        for (int i = 0; i < clients.length; i++) {
            clients[i] = scope.own(scope.own(peer().newConnectionRequest(endpoint.localAddress(), config()))
                .connect(java.nio.ByteBuffer.wrap(new byte[] {(byte) i})));
        }
        Connection[] servers = new Connection[clients.length];
        for (int i = 0; i < clients.length; i++) {
            ConnectionRequest request = scope.own(Wait.request(endpoint, config()));
            byte client = request.privateData().get(0);
            assertNull(servers[client]);
            servers[client] = scope.own(request.connect(java.nio.ByteBuffer.wrap(new byte[] {(byte) (100 + client)})));
        }
        for (int i = 0; i < clients.length; i++) {
            Wait.event(ConnectionEvent.ESTABLISHED, clients[i]);
            Wait.event(ConnectionEvent.ESTABLISHED, servers[i]);
            assertEquals(100 + i, clients[i].privateData().get(0));
        }
    }
}
