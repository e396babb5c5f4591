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

import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.DeviceLimits;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.rpma.CompletionFlag.ALWAYS;
import static io.rpma.CompletionFlag.ON_ERROR;
import static io.rpma.RpmaError.INVALID;
import static io.rpma.RpmaError.PROVIDER;
import static io.rpma.contract.Contract.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

/** Tests how connections are established: requests, the handshake, private data, refusals. */
class ConnectContractTest extends ContractCase {
    /** facts 2.4: the client's own next_event completes the handshake; before it runs, the server gets no ESTABLISHED. */
    @Test
    void serverIsEstablishedAfterTheClientTookItsEvent() throws Exception {
        Endpoint endpoint = endpoint();
        Connection client = client(endpoint, null);
        assertNull(client.nextEvent());
        assertFalse(Poll.readable(client.eventFd()), "the request has not been accepted yet");
        Connection server = scope.own(scope.own(Wait.request(endpoint, config())).connect(null));
        assertTrue(Poll.readable(client.eventFd(), Contract.DEADLINE));
        assertNull(server.nextEvent());
        assertFalse(Poll.readable(server.eventFd(), Contract.ABSENCE), "the client has not taken its event yet");
        Wait.event(ConnectionEvent.ESTABLISHED, client);
        Wait.event(ConnectionEvent.ESTABLISHED, server);
    }

    /** rpma_conn_next_event(3): one event, then nothing. */
    @Test
    void establishedComesOnce() throws Exception {
        Pair pair = pair();
        assertNull(pair.client.nextEvent());
        assertNull(pair.server.nextEvent());
        assertFalse(Poll.any(Contract.ABSENCE, pair.client.eventFd(), pair.server.eventFd()) >= 0);
        assertNull(pair.client.nextEvent());
        assertNull(pair.server.nextEvent());
    }

    /** RPMA_CONN_REJECTED: no listener. */
    @Test
    void nobodyListeningMeansRejected() throws Exception {
        Endpoint endpoint = endpoint();
        InetSocketAddress address = endpoint.localAddress();
        endpoint.close();
        Connection client = scope.own(scope.own(peer().newConnectionRequest(address, config())).connect(null));
        Wait.event(ConnectionEvent.REJECTED, client);
        Wait.noEvent(client);
    }

    /** An attempt that is safe on an event loop either leads to the current listener or returns nothing. */
    @Test
    void aRequestAtOnceLeadsToWhoListens() throws Exception {
        Endpoint endpoint = endpoint();
        InetSocketAddress address = endpoint.localAddress();
        if (!peer().mayRequestAtOnce()) {
            assertNull(peer().tryNewConnectionRequest(address, config()));
            return;
        }
        refused(INVALID, () -> peer().tryNewConnectionRequest(new InetSocketAddress(address.getAddress(), 0), config()));
        establishAtOnce(address, endpoint);
        establishAtOnce(address, endpoint);
        endpoint.close();
        // There is no listener, so what a provider may remember of it is outdated. This shows at once or with the event.
        for (int i = 0; i < 2; i++) {
            ConnectionRequest inVain = peer().tryNewConnectionRequest(address, config());
            if (inVain != null) {
                Connection rejected = scope.own(scope.own(inVain).connect(null));
                Wait.event(ConnectionEvent.REJECTED, rejected);
                assertNull(rejected.failure(), "the event says everything");
            }
        }
        try (Endpoint successor = peer().listen(address)) {
            establishAtOnce(address, successor);
        }
        // Another listener has started in the meantime, which accepts connections to any address.
        try (Endpoint anywhere = peer().listen(new InetSocketAddress(address.getPort()))) {
            establishAtOnce(address, anywhere);
        }
    }

    private void establishAtOnce(InetSocketAddress address, Endpoint endpoint) throws Exception {
        ConnectionRequest request = scope.own(peer().tryNewConnectionRequest(address, config()));
        Connection client = scope.own(request.connect(null));
        Connection server = scope.own(scope.own(Wait.requestOf(client, endpoint, config())).connect(null));
        Wait.event(ConnectionEvent.ESTABLISHED, client);
        Wait.event(ConnectionEvent.ESTABLISHED, server);
    }

    /** rpma_conn_req_delete(3) on an incoming request: rdma_reject(3). */
    @Test
    void closedRequestMeansRejected() throws Exception {
        Endpoint endpoint = endpoint();
        Connection client = client(endpoint, null);
        ConnectionRequest request = Wait.request(endpoint, config());
        request.close();
        Wait.event(ConnectionEvent.REJECTED, client);
        request.close();
        refused(INVALID, () -> request.connect(null));
        pair(Pair.with().endpoint(endpoint)).exchange();
    }

    /** The handle of a rejected connection stays valid until it is closed. */
    @Test
    void workRequestAfterRejectionDoesNotSucceed() throws Exception {
        Endpoint endpoint = endpoint();
        Connection client = client(endpoint, null);
        Wait.request(endpoint, config()).close();
        Wait.event(ConnectionEvent.REJECTED, client);
        try {
            client.send(null, 0, 0, ALWAYS, 1);
        } catch (RpmaException e) {
            assertEquals(PROVIDER, e.error());
            return;
        }
        assertFalse(Wait.completion(client.completionQueue()).success());
    }

    /** facts 0.6: a client's send before ESTABLISHED is RPMA_E_PROVIDER. */
    @Test
    void clientCannotSendBeforeItIsEstablished() throws Exception {
        Endpoint endpoint = endpoint();
        Connection client = client(endpoint, null);
        LocalMemoryRegion region = region(4096);
        refused(PROVIDER, () -> client.send(region, 0, 8, ALWAYS, 1));
        refused(PROVIDER, () -> client.send(null, 0, 0, ON_ERROR, 2));
        Connection server = scope.own(scope.own(Wait.request(endpoint, config())).connect(null));
        assertTrue(Poll.readable(client.eventFd(), Contract.DEADLINE));
        refused(PROVIDER, () -> client.send(region, 0, 8, ALWAYS, 3));
        Wait.event(ConnectionEvent.ESTABLISHED, client);
        Wait.event(ConnectionEvent.ESTABLISHED, server);
        Wait.noCompletion(client.completionQueue());
        server.receive(region, 64, 64, 4);
        client.send(region, 0, 8, ALWAYS, 5);
        assertEquals(4, Wait.success(server.completionQueue()).context());
        assertEquals(5, Wait.success(client.completionQueue()).context());
    }

    /** The client may send as soon as it has its event, even if the server has not consumed its own event. */
    @Test
    void clientMaySendBeforeTheServerTookItsEvent() throws Exception {
        Endpoint endpoint = endpoint();
        LocalMemoryRegion region = region(4096);
        Connection client = client(endpoint, null);
        ConnectionRequest request = scope.own(Wait.request(endpoint, config()));
        request.receive(region, 1024, 64, 7);
        Connection server = scope.own(request.connect(null));
        Wait.event(ConnectionEvent.ESTABLISHED, client);
        Memory.fill(region, 0, 64, 1);
        client.send(region, 0, 64, ALWAYS, 8);
        assertEquals(8, Wait.success(client.completionQueue()).context());
        assertEquals(7, Wait.success(server.completionQueue()).context());
        Memory.assertFilled(region, 1024, 64, 1);
        Wait.event(ConnectionEvent.ESTABLISHED, server);
    }

    /** rpma_conn_req_recv(3): receives posted on the requests of both sides find the first messages. */
    @Test
    void receivesPostedOnTheRequestsTakeTheFirstMessages() throws Exception {
        Pair pair = pair(Pair.with()
            .beforeConnect((request, made) -> request.receive(made.clientMemory, 4096, 64, -11))
            .beforeAccept((request, made) -> request.receive(made.serverMemory, 4096, 64, -22)));
        Memory.fill(pair.clientMemory, 0, 64, 1);
        Memory.fill(pair.serverMemory, 0, 64, 2);
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 1);
        pair.server.send(pair.serverMemory, 0, 64, ALWAYS, 2);
        assertEquals(Set.of(1L, -11L), contexts(pair.client));
        assertEquals(Set.of(2L, -22L), contexts(pair.server));
        Memory.assertFilled(pair.serverMemory, 4096, 64, 1);
        Memory.assertFilled(pair.clientMemory, 4096, 64, 2);
    }

    private static Set<Long> contexts(Connection connection) throws RpmaException {
        Set<Long> contexts = new HashSet<>();
        for (Completion completion : Wait.successes(connection.completionQueue(), 2)) {
            contexts.add(completion.context());
        }
        return contexts;
    }

    /** rpma_conn_req_recv(3): RPMA_E_INVAL - dst is NULL, even for empty messages. */
    @Test
    void requestReceivesNeedMemory() throws Exception {
        Endpoint endpoint = endpoint();
        ConnectionRequest outgoing = scope.own(peer().newConnectionRequest(endpoint.localAddress(), config()));
        refused(INVALID, () -> outgoing.receive(null, 0, 0, 1));
        refused(INVALID, () -> outgoing.receive(null, 0, 8, 1));
        client(endpoint, null);
        ConnectionRequest incoming = scope.own(Wait.request(endpoint, config()));
        refused(INVALID, () -> incoming.receive(null, 0, 0, 1));
    }

    /** The offsets and lengths are unsigned in C. */
    @Test
    void requestReceivesRefuseNegativeNumbers() throws Exception {
        LocalMemoryRegion region = region(4096, MemoryUsage.RECV);
        ConnectionRequest outgoing = scope.own(peer().newConnectionRequest(endpoint().localAddress(), config()));
        refused(INVALID, () -> outgoing.receive(region, -1, 8, 1));
        refused(INVALID, () -> outgoing.receive(region, 0, -1, 1));
    }

    /** rpma_conn_req_recv(3): RPMA_E_PROVIDER - ibv_post_recv(3) failed. Devices may give more slots than were asked for. */
    @Test
    void requestReceiveQueueFillsUp() throws Exception {
        LocalMemoryRegion region = region(4096);
        ConnectionRequest outgoing = scope.own(peer().newConnectionRequest(endpoint().localAddress(),
            config().receiveQueueSize(4)));
        for (int i = 0; i < 4; i++) {
            outgoing.receive(region, 0, 64, i);
        }
        refused(PROVIDER, () -> {
            for (int i = 4; i < 4096; i++) {
                outgoing.receive(region, 0, 64, i);
            }
        });
    }

    /** A request returns its destination address. */
    @Test
    void outgoingRequestKnowsItsDestination() throws Exception {
        Endpoint endpoint = endpoint();
        ConnectionRequest request = scope.own(peer().newConnectionRequest(endpoint.localAddress(), config()));
        if (request.remoteAddress() != null) {
            assertEquals(endpoint.localAddress(), request.remoteAddress());
        }
    }

    static Stream<Named<Pair.Setup>> tooLarge() {
        DeviceLimits limits = Contract.DEVICE.limits();
        return Stream.of(
            Named.of("sq_size", config -> config.sendQueueSize(limits.maxQueuePairWorkRequests() + 1)),
            Named.of("rq_size", config -> config.receiveQueueSize(limits.maxQueuePairWorkRequests() + 1)),
            Named.of("cq_size", config -> config.completionQueueSize(limits.maxCompletionQueueSize() + 1)),
            Named.of("rcq_size", config -> config.receiveCompletionQueueSize(limits.maxCompletionQueueSize() + 1)),
            Named.of("cq_size of 0", config -> config.completionQueueSize(0)));
    }

    /** facts 2.5: a size that the device does not support is refused when the request is made: RPMA_E_PROVIDER. */
    @ParameterizedTest
    @MethodSource("tooLarge")
    void queuesThatTheDeviceCannotGiveAreRefused(Pair.Setup setup) throws Exception {
        Endpoint endpoint = endpoint();
        ConnectionConfig config = config();
        setup.to(config);
        refused(PROVIDER, () -> peer().newConnectionRequest(endpoint.localAddress(), config));
        // On the accepting side, only this request fails, and its client waits until its own timeout.
        client(endpoint, null);
        assertTrue(Poll.readable(endpoint.fd(), Contract.DEADLINE));
        refused(PROVIDER, () -> endpoint.nextConnectionRequest(config));
        pair(Pair.with().endpoint(endpoint)).exchange();
    }

    /** facts 0.6: the accepting side may send at once; its message arrives when the client is ready. */
    @Test
    void serverMaySendBeforeItIsEstablished() throws Exception {
        Endpoint endpoint = endpoint();
        LocalMemoryRegion region = region(4096);
        ConnectionRequest outgoing = scope.own(peer().newConnectionRequest(endpoint.localAddress(), config()));
        outgoing.receive(region, 0, 64, 1);
        Connection client = scope.own(outgoing.connect(null));
        Connection server = scope.own(scope.own(Wait.request(endpoint, config())).connect(null));
        Memory.fill(region, 64, 64, 2);
        server.send(region, 64, 64, ALWAYS, 2);
        Wait.event(ConnectionEvent.ESTABLISHED, client);
        Wait.event(ConnectionEvent.ESTABLISHED, server);
        assertEquals(1, Wait.success(client.completionQueue()).context());
        assertEquals(2, Wait.success(server.completionQueue()).context());
        Memory.assertFilled(region, 0, 64, 2);
    }

    /** rpma_conn_disconnect(3) has no effect before the connection is established. */
    @Test
    void disconnectingBeforeItIsEstablishedDoesNothing() throws Exception {
        Endpoint endpoint = endpoint();
        Connection client = client(endpoint, null);
        client.disconnect();
        Wait.request(endpoint, config()).close();
        Wait.event(ConnectionEvent.REJECTED, client);
        client.disconnect();
        Wait.noEvent(client);
    }

    /** The receives of a rejected connection are flushed, as those of any other connection that has ended. */
    @Test
    void receivesOfARejectedConnectionAreFlushed() throws Exception {
        Endpoint endpoint = endpoint();
        Connection client = client(endpoint, null);
        client.receive(null, 0, 0, 5);
        Wait.request(endpoint, config()).close();
        Wait.event(ConnectionEvent.REJECTED, client);
        Completion flushed = Wait.completion(client.completionQueue());
        assertEquals(CompletionStatus.WR_FLUSH_ERR, flushed.status());
        assertEquals(5, flushed.context());
    }

    /** rpma_conn_req_connect(3): *req_ptr is consumed. */
    @Test
    void requestIsUsedUpByConnecting() throws Exception {
        Endpoint endpoint = endpoint();
        LocalMemoryRegion region = region(4096);
        ConnectionRequest outgoing = scope.own(peer().newConnectionRequest(endpoint.localAddress(), config()));
        Connection client = scope.own(outgoing.connect(null));
        refused(INVALID, () -> outgoing.connect(null));
        refused(INVALID, () -> outgoing.receive(region, 0, 8, 1));
        ConnectionRequest incoming = scope.own(Wait.request(endpoint, config()));
        Connection server = scope.own(incoming.connect(null));
        refused(INVALID, () -> incoming.connect(null));
        refused(INVALID, () -> incoming.receive(region, 0, 8, 1));
        outgoing.close();
        incoming.close();
        Wait.event(ConnectionEvent.ESTABLISHED, client);
        Wait.event(ConnectionEvent.ESTABLISHED, server);
    }

    /** rpma_conn_req_delete(3): *req_ptr is NULL afterwards. */
    @Test
    void closedRequestIsRefused() throws Exception {
        LocalMemoryRegion region = region(4096);
        ConnectionRequest request = peer().newConnectionRequest(endpoint().localAddress(), config());
        request.receive(region, 0, 64, 1);
        request.close();
        request.close();
        refused(INVALID, () -> request.connect(null));
        refused(INVALID, () -> request.receive(region, 0, 8, 1));
        refused(INVALID, request::privateData);
    }

    /** rpma_conn_req_new(3): RPMA_E_INVAL - addr or port is NULL. */
    @Test
    void noAddressIsRefused() {
        refused(INVALID, () -> peer().newConnectionRequest(null, config()));
        refused(INVALID, () -> peer().newConnectionRequest(InetSocketAddress.createUnresolved("localhost", 1), config()));
    }

    /**
     * rpma_conn_req_new(3): RPMA_E_PROVIDER - rdma_resolve_addr(3) failed; limited by the timeout for address and route. If the
     * network answers for an unused address, the failure occurs in the handshake, for which librpma has no timeout.
     */
    @Test
    void unreachableAddressIsNotReached() throws Exception {
        long start = System.nanoTime();
        try (ConnectionRequest request = peer().newConnectionRequest(new InetSocketAddress(Contract.FOREIGN, 7471),
            config().timeoutMillis(500)); Connection connection = request.connect(null)) {
            ConnectionEvent event = connection.nextEvent();
            if (event == null && Poll.readable(connection.eventFd(), 5 * Contract.ABSENCE)) {
                event = connection.nextEvent();
            }
            assertNotEquals(ConnectionEvent.ESTABLISHED, event);
        } catch (RpmaException e) {
            assertEquals(PROVIDER, e.error(), e::toString);
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        assertTrue(millis < 30_000, millis + " ms");
    }

    /** The port 0 is not a valid destination, because no server can listen on it. */
    @Test
    void portZeroIsNoPlaceToConnectTo() throws Exception {
        assertThrows(RpmaException.class, () -> {
            Connection connection = scope.own(scope.own(
                peer().newConnectionRequest(Contract.anyPort(), config())).connect(null));
            throw new RpmaException(PROVIDER, "" + rejected(connection));
        });
    }

    private static ConnectionEvent rejected(Connection connection) throws RpmaException {
        ConnectionEvent event = Wait.event(connection);
        assertEquals(ConnectionEvent.REJECTED, event);
        return event;
    }

    /**
     * facts 2.4: a client that has disappeared makes its request fail, or the connection that was made from the request, and
     * nothing else.
     */
    @Test
    void endpointSurvivesClientsThatVanish() throws Exception {
        Endpoint endpoint = endpoint();
        for (int i = 0; i < 3; i++) {
            Connection client = client(endpoint, null);
            assertTrue(Poll.readable(endpoint.fd(), Contract.DEADLINE));
            client.close();
            try {
                ConnectionRequest request = endpoint.nextConnectionRequest(config());
                if (request != null) {
                    scope.own(request);
                    Connection server = scope.own(request.connect(null));
                    assertNotEquals(ConnectionEvent.ESTABLISHED, Wait.event(server));
                }
            } catch (RpmaException e) {
                assertEquals(PROVIDER, e.error(), e::toString);
            }
        }
        pair(Pair.with().endpoint(endpoint)).exchange();
    }

    /** facts 2.4: client deleted before it completed the handshake: the server sees REJECTED. */
    @Test
    void clientThatClosesBeforeItIsEstablishedRejects() throws Exception {
        Endpoint endpoint = endpoint();
        Connection client = client(endpoint, null);
        Connection server = scope.own(scope.own(Wait.request(endpoint, config())).connect(null));
        assertTrue(Poll.readable(client.eventFd(), Contract.DEADLINE));
        client.close();
        Wait.event(ConnectionEvent.REJECTED, server);
    }

    /** The server may already be closed before the client has processed its event. */
    @Test
    void serverThatClosesAtOnceEndsTheConnection() throws Exception {
        Endpoint endpoint = endpoint();
        Connection client = client(endpoint, null);
        Connection server = scope.own(scope.own(Wait.request(endpoint, config())).connect(null));
        assertTrue(Poll.readable(client.eventFd(), Contract.DEADLINE));
        server.close();
        ConnectionEvent event = Wait.event(client);
        if (event == ConnectionEvent.ESTABLISHED) {
            event = Wait.event(client);
        }
        assertNotEquals(ConnectionEvent.ESTABLISHED, event);
    }

    /** rpma_conn_get_qp_num(3): unique; work completions carry it. */
    @Test
    void queuePairNumbersTellConnectionsApart() throws Exception {
        Endpoint endpoint = endpoint();
        Pair one = pair(Pair.with().endpoint(endpoint));
        Pair two = pair(Pair.with().endpoint(endpoint));
        Set<Integer> numbers = new HashSet<>();
        for (Pair pair : new Pair[] {one, two}) {
            numbers.add(pair.client.queuePairNumber());
            numbers.add(pair.server.queuePairNumber());
            pair.server.receive(pair.serverMemory, 0, 64, 1);
            pair.client.send(pair.clientMemory, 0, 8, ALWAYS, 2);
            assertEquals(pair.server.queuePairNumber(), Wait.success(pair.server.completionQueue()).queuePairNumber());
            assertEquals(pair.client.queuePairNumber(), Wait.success(pair.client.completionQueue()).queuePairNumber());
        }
        assertEquals(4, numbers.size());
    }

    /** Two connections to one endpoint do not receive each other's messages. */
    @Test
    void connectionsOfOneEndpointAreSeparate() throws Exception {
        Endpoint endpoint = endpoint();
        Pair one = pair(Pair.with().endpoint(endpoint));
        Pair two = pair(Pair.with().endpoint(endpoint));
        one.server.receive(one.serverMemory, 0, 64, 1);
        two.server.receive(two.serverMemory, 0, 64, 2);
        Memory.fill(two.clientMemory, 0, 32, 5);
        two.client.send(two.clientMemory, 0, 32, ALWAYS, 3);
        assertEquals(2, Wait.success(two.server.completionQueue()).context());
        assertEquals(3, Wait.success(two.client.completionQueue()).context());
        Wait.noCompletion(one.server.completionQueue());
        Memory.assertUntouched(one.serverMemory, 0, 64);
        one.close();
        two.exchange();
    }

    /** librpma has no function that returns the addresses; if a provider can return them, they must be correct. */
    @Test
    void addressesAreThoseOfTheConnection() throws Exception {
        Endpoint endpoint = endpoint();
        Connection client = client(endpoint, null);
        ConnectionRequest request = scope.own(Wait.request(endpoint, config()));
        InetSocketAddress requester = request.remoteAddress();
        Connection server = scope.own(request.connect(null));
        Wait.event(ConnectionEvent.ESTABLISHED, client);
        Wait.event(ConnectionEvent.ESTABLISHED, server);
        if (client.remoteAddress() != null) {
            assertEquals(endpoint.localAddress(), client.remoteAddress());
        }
        if (server.localAddress() != null) {
            assertEquals(endpoint.localAddress(), server.localAddress());
        }
        if (requester != null && server.remoteAddress() != null) {
            assertEquals(requester, server.remoteAddress());
        }
        if (client.localAddress() != null && server.remoteAddress() != null) {
            assertEquals(client.localAddress(), server.remoteAddress());
        }
    }

    /** facts 0.9: padded with zeros to 56 bytes. rpma_conn_req_get_private_data(3), rpma_conn_get_private_data(3). */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 55, 56})
    void privateDataOfTheRequestArrives(int length) throws Exception {
        byte[] data = bytes(length);
        Endpoint endpoint = endpoint();
        client(endpoint, length == 0 ? null : data);
        ConnectionRequest request = scope.own(Wait.request(endpoint, config()));
        assertData(data, ConnectionRequest.MAX_CONNECT_PRIVATE_DATA, request.privateData());
        assertTrue(request.privateData().isReadOnly());
        Connection server = scope.own(request.connect(null));
        assertData(data, ConnectionRequest.MAX_CONNECT_PRIVATE_DATA, server.privateData());
        assertTrue(server.privateData().isReadOnly());
    }

    /** facts 0.9: padded with zeros to 196 bytes, and empty before. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 57, 195, 196})
    void privateDataOfTheAcceptanceArrives(int length) throws Exception {
        byte[] data = bytes(length);
        Endpoint endpoint = endpoint();
        Connection client = client(endpoint, null);
        assertEquals(0, client.privateData().remaining());
        ConnectionRequest request = scope.own(Wait.request(endpoint, config()));
        scope.own(request.connect(length == 0 ? null : ByteBuffer.wrap(data)));
        Wait.event(ConnectionEvent.ESTABLISHED, client);
        assertData(data, ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA, client.privateData());
        assertTrue(client.privateData().isReadOnly());
    }

    /** rpma_conn_req_connect(3): initiating a connection request failed; the request is consumed all the same. */
    @Test
    void tooMuchPrivateDataInTheRequestIsRefused() throws Exception {
        Endpoint endpoint = endpoint();
        ConnectionRequest request = scope.own(peer().newConnectionRequest(endpoint.localAddress(), config()));
        refused(PROVIDER, () -> request.connect(ByteBuffer.wrap(bytes(57))));
        refused(INVALID, () -> request.connect(null));
        assertFalse(Poll.readable(endpoint.fd(), Contract.ABSENCE));
        ConnectionRequest other = scope.own(peer().newConnectionRequest(endpoint.localAddress(), config()));
        refused(PROVIDER, () -> other.connect(ByteBuffer.allocate(100_000)));
    }

    /** rpma_conn_req_connect(3): accepting the connection request failed; the client sees REJECTED. */
    @Test
    void tooMuchPrivateDataInTheAcceptanceIsRefused() throws Exception {
        Endpoint endpoint = endpoint();
        Connection client = client(endpoint, null);
        ConnectionRequest request = scope.own(Wait.request(endpoint, config()));
        refused(PROVIDER, () -> request.connect(ByteBuffer.wrap(bytes(197))));
        Wait.event(ConnectionEvent.REJECTED, client);
        refused(INVALID, () -> request.connect(null));
    }

    /** rpma_conn_req_connect(3): RPMA_E_INVAL - pdata is not NULL whereas pdata-&gt;len == 0; the request is consumed. */
    @Test
    void emptyPrivateDataIsRefused() throws Exception {
        Endpoint endpoint = endpoint();
        ConnectionRequest outgoing = scope.own(peer().newConnectionRequest(endpoint.localAddress(), config()));
        refused(INVALID, () -> outgoing.connect(ByteBuffer.allocate(0)));
        refused(INVALID, () -> outgoing.connect(null));
        Connection client = client(endpoint, null);
        ConnectionRequest incoming = scope.own(Wait.request(endpoint, config()));
        refused(INVALID, () -> incoming.connect(ByteBuffer.allocate(8).position(8)));
        refused(INVALID, () -> incoming.connect(null));
        Wait.event(ConnectionEvent.REJECTED, client);
    }

    /** The remaining bytes of a heap or direct buffer are sent. */
    @Test
    void privateDataIsWhatRemainsInTheBuffer() throws Exception {
        Endpoint endpoint = endpoint();
        ByteBuffer direct = ByteBuffer.allocateDirect(100);
        direct.put(10, bytes(20)).position(10).limit(30);
        Connection client = scope.own(scope.own(peer().newConnectionRequest(endpoint.localAddress(), config()))
            .connect(direct));
        ConnectionRequest request = scope.own(Wait.request(endpoint, config()));
        assertData(bytes(20), ConnectionRequest.MAX_CONNECT_PRIVATE_DATA, request.privateData());
        byte[] array = new byte[300];
        System.arraycopy(bytes(150), 0, array, 50, 150);
        scope.own(request.connect(ByteBuffer.wrap(array, 50, 150).slice().asReadOnlyBuffer()));
        Wait.event(ConnectionEvent.ESTABLISHED, client);
        assertData(bytes(150), ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA, client.privateData());
    }

    /** facts 3: private data is untrusted; any bytes are delivered unchanged. */
    @Test
    void privateDataMayBeGarbage() throws Exception {
        byte[] request = new byte[56];
        byte[] answer = new byte[196];
        Arrays.fill(request, (byte) 0xff);
        Arrays.fill(answer, (byte) 0x80);
        answer[0] = 0;
        Pair pair = pair(Pair.with().clientData(request).serverData(answer));
        assertData(request, 56, pair.server.privateData());
        assertData(answer, 196, pair.client.privateData());
        pair.exchange();
    }

    /** Private data can be read repeatedly, and stays valid after the event that contained it. */
    @Test
    void privateDataIsACopy() throws Exception {
        Pair pair = pair(Pair.with().clientData(bytes(5)).serverData(bytes(7)));
        ByteBuffer read = pair.server.privateData();
        read.get();
        assertData(bytes(5), 56, pair.server.privateData());
        pair.client.disconnect();
        Wait.event(ConnectionEvent.CLOSED, pair.server);
        assertData(bytes(5), 56, pair.server.privateData());
        pair.close();
        assertEquals(bytes(5)[1], read.get());
    }

    /** rpma_conn_req_get_private_data(3) returns the data of the other side, so an outgoing request has none yet. */
    @Test
    void outgoingRequestHasNoPrivateData() throws Exception {
        ConnectionRequest request = scope.own(peer().newConnectionRequest(endpoint().localAddress(), config()));
        refused(INVALID, request::privateData);
    }

    /** Connections that are made and closed one after another release all their resources. */
    @Test
    void connectionsComeAndGo() throws Exception {
        Endpoint endpoint = endpoint();
        pair(Pair.with().endpoint(endpoint)).close();
        Map<String, Integer> before = DescriptorCheck.count();
        for (int i = 0; i < 50; i++) {
            try (Pair pair = Pair.with().peer(peer()).endpoint(endpoint).connect()) {
                assertNotEquals(pair.client.queuePairNumber(), pair.server.queuePairNumber());
            }
        }
        assertEquals(Map.of(), DescriptorCheck.surplus(before));
    }

    /** Many connections can exist at a time. */
    @Test
    void connectionsStandSideBySide() throws Exception {
        Endpoint endpoint = endpoint();
        Pair[] pairs = new Pair[20];
        for (int i = 0; i < pairs.length; i++) {
            pairs[i] = pair(Pair.with().endpoint(endpoint));
        }
        for (Pair pair : pairs) {
            pair.exchange();
        }
    }

    private Connection client(Endpoint endpoint, byte[] data) throws RpmaException {
        ConnectionRequest request = scope.own(peer().newConnectionRequest(endpoint.localAddress(), config()));
        return scope.own(request.connect(data == null ? null : ByteBuffer.wrap(data)));
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i + 1);
        }
        return bytes;
    }

    private static void assertData(byte[] sent, int padded, ByteBuffer received) {
        byte[] bytes = new byte[received.remaining()];
        received.get(received.position(), bytes);
        assertArrayEquals(Arrays.copyOf(sent, Contract.isIwarp() ? sent.length : padded), bytes);
    }

    /** IPv6 works like IPv4, if the device has an IPv6 address. */
    @Test
    void addressesOfVersionSixWork() throws Exception {
        var six = Contract.DEVICE.addresses().stream().filter(address -> address instanceof java.net.Inet6Address
            && !address.isLinkLocalAddress()).findFirst();
        assumeFalse(six.isEmpty(), "the device has no global IPv6 address");
        Endpoint endpoint = scope.own(peer().listen(new InetSocketAddress(six.get(), 0)));
        assertEquals(six.get(), endpoint.localAddress().getAddress());
        pair(Pair.with().endpoint(endpoint)).exchange();
    }
}
