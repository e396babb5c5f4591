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

import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.FlushType;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.PeerConfig;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.WorkCompletions;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static io.rpma.CompletionFlag.ALWAYS;
import static io.rpma.RpmaError.INVALID;
import static io.rpma.RpmaError.PROVIDER;
import static io.rpma.contract.Contract.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

/** Tests handles that are used after closing, closed twice, or closed in the wrong order. */
class LifecycleContractTest extends ContractCase {
    /** A method that uses a connection. */
    interface Use {
        void of(Pair pair) throws Exception;
    }

    private static Named<Use> use(String function, Use use) {
        return Named.of(function, use);
    }

    static Stream<Named<Use>> uses() {
        return Stream.of(
            use("rpma_conn_next_event", p -> p.client.nextEvent()),
            use("rpma_conn_get_private_data", p -> p.client.privateData()),
            use("rpma_conn_get_compl_fd", p -> p.client.completionFd()),
            use("rpma_conn_wait", p -> p.client.consumeCompletionEvent()),
            use("rpma_conn_apply_remote_peer_cfg", p -> {
                try (PeerConfig config = Contract.PROVIDER.newPeerConfig()) {
                    p.client.applyRemotePeerConfig(config);
                }
            }),
            use("rpma_read", p -> p.client.read(p.clientMemory, 0, p.atServer, 0, 8, ALWAYS, 1)),
            use("rpma_read of nothing", p -> p.client.read(null, 0, null, 0, 0, ALWAYS, 1)),
            use("rpma_write", p -> p.client.write(p.atServer, 0, p.clientMemory, 0, 8, ALWAYS, 1)),
            use("rpma_write of nothing", p -> p.client.write(null, 0, null, 0, 0, ALWAYS, 1)),
            use("rpma_write_with_imm", p -> p.client.writeWithImmediate(p.atServer, 0, p.clientMemory, 0, 8, ALWAYS, 1, 1)),
            use("rpma_atomic_write", p -> p.client.atomicWrite(p.atServer, 0, 1, ALWAYS, 1)),
            use("rpma_flush", p -> p.client.flush(p.atServer, 0, 8, FlushType.VISIBILITY, ALWAYS, 1)),
            use("rpma_send", p -> p.client.send(p.clientMemory, 0, 8, ALWAYS, 1)),
            use("rpma_send of nothing", p -> p.client.send(null, 0, 0, CompletionFlag.ON_ERROR, 1)),
            use("rpma_send_with_imm", p -> p.client.sendWithImmediate(p.clientMemory, 0, 8, ALWAYS, 1, 1)),
            use("rpma_recv", p -> p.client.receive(p.clientMemory, 0, 8, 1)),
            use("rpma_conn_disconnect", p -> p.client.disconnect()));
    }

    /** rpma_conn_delete(3): *conn_ptr is NULL afterwards, which every function refuses with RPMA_E_INVAL. */
    @ParameterizedTest
    @MethodSource("uses")
    void closedConnectionIsRefused(Use use) throws Exception {
        Pair pair = pair();
        pair.client.close();
        refused(INVALID, () -> use.of(pair));
    }

    /** The completion queues live as long as their connection. */
    @Test
    void completionQueuesOfAClosedConnectionAreRefused() throws Exception {
        Pair pair = pair(Pair.with().client(config -> config.receiveCompletionQueueSize(16)));
        CompletionQueue sends = pair.client.completionQueue();
        CompletionQueue receives = pair.client.receiveCompletionQueue();
        pair.client.close();
        WorkCompletions batch = new WorkCompletions(1);
        refused(INVALID, () -> sends.poll(batch));
        refused(INVALID, sends::consumeEvent);
        refused(INVALID, () -> receives.poll(batch));
        refused(INVALID, receives::consumeEvent);
    }

    @Test
    void connectionClosesTwice() throws Exception {
        Pair pair = pair();
        pair.client.close();
        pair.client.close();
        pair.server.close();
        pair.server.close();
    }

    /** rpma_conn_delete(3) closes the connection's descriptors. */
    @Test
    void closingGivesTheDescriptorsBack() throws Exception {
        Map<String, Integer> before = DescriptorCheck.count();
        for (int i = 0; i < 3; i++) {
            Pair pair = Pair.with().both(config -> config.receiveCompletionQueueSize(16).sharedCompletionChannel(true))
                .connect();
            pair.close();
        }
        assertEquals(Map.of(), DescriptorCheck.surplus(before));
    }

    /** Requests that never became connections also close their descriptors. */
    @Test
    void requestsGiveTheDescriptorsBack() throws Exception {
        Endpoint endpoint = endpoint();
        pair(Pair.with().endpoint(endpoint)).close();
        Map<String, Integer> before = DescriptorCheck.count();
        for (int i = 0; i < 10; i++) {
            peer().newConnectionRequest(endpoint.localAddress(), config()).close();
            Connection client = peer().newConnectionRequest(endpoint.localAddress(), config()).connect(null);
            Wait.request(endpoint, config()).close();
            client.close();
        }
        assertEquals(Map.of(), DescriptorCheck.surplus(before));
    }

    /** A set of usages that closes a peer when it is first read, as another thread may do at that moment. */
    private static final class ClosingUsages extends AbstractSet<MemoryUsage> {
        private final Peer peer;
        private boolean isRead;

        ClosingUsages(Peer peer) {
            this.peer = peer;
        }

        @Override
        public Iterator<MemoryUsage> iterator() {
            if (!isRead) {
                isRead = true;
                closePeer(peer);
            }
            return Memory.ALL.iterator();
        }

        @Override
        public int size() {
            return Memory.ALL.size();
        }
    }

    private static void closePeer(Peer peer) {
        try {
            peer.close();
        } catch (RpmaException e) {
            throw new AssertionError(e);
        }
    }

    /** The peer is closed between the check that it is open and the creation of the region. */
    @Test
    void peerThatIsClosedMeanwhileRegistersNoMemory() throws Exception {
        assumeFalse(Contract.PROVIDER.name().equals("librpma"), "librpma reads no argument after it has begun");
        Peer peer = scope.own(Contract.DEVICE.newPeer());
        MemorySegment segment = memory().take(64);
        refused(INVALID, () -> peer.register(segment, new ClosingUsages(peer)));
    }

    /** The same for a shared receive queue. */
    @Test
    void peerThatIsClosedMeanwhileHasNoNewQueue() throws Exception {
        assumeFalse(Contract.PROVIDER.name().equals("librpma"), "librpma reads no argument after it has begun");
        Peer peer = scope.own(Contract.DEVICE.newPeer());
        SharedReceiveQueueConfig sizes = scope.own(Contract.PROVIDER.newSharedReceiveQueueConfig());
        SharedReceiveQueueConfig closing = (SharedReceiveQueueConfig) Proxy.newProxyInstance(getClass().getClassLoader(),
            new Class<?>[] {SharedReceiveQueueConfig.class}, (proxy, method, arguments) -> {
                closePeer(peer);
                return method.invoke(sizes, arguments);
            });
        Map<String, Integer> before = DescriptorCheck.count();
        refused(INVALID, () -> peer.newSharedReceiveQueue(closing));
        assertEquals(Map.of(), DescriptorCheck.surplus(before));
    }

    /** An object of a peer that is open while the peer is closed. */
    interface Child {
        Scope.Closing of(LifecycleContractTest test, Peer peer) throws Exception;
    }

    private static Named<Child> child(String what, Child child) {
        return Named.of(what, child);
    }

    static Stream<Named<Child>> children() {
        return Stream.of(
            child("region", (test, peer) -> peer.register(test.memory().take(4096), Memory.ALL)::close),
            child("shared receive queue", (test, peer) -> peer.newSharedReceiveQueue(null)::close),
            child("connection", (test, peer) -> Pair.with().peer(peer).connect()::close),
            child("outgoing request",
                (test, peer) -> peer.newConnectionRequest(test.endpoint().localAddress(), null)::close));
    }

    /** rpma_peer_delete(3): RPMA_E_PROVIDER - deleting the verbs protection domain failed; the peer stays usable. */
    @ParameterizedTest
    @MethodSource("children")
    void peerInUseCannotBeClosed(Child child) throws Exception {
        Peer peer = scope.own(Contract.DEVICE.newPeer());
        Scope.Closing open = child.of(this, peer);
        scope.onClose(open);
        refused(PROVIDER, peer::close);
        peer.register(memory().take(4096), Memory.ALL).close();
        open.close();
        peer.close();
        refused(INVALID, () -> peer.register(memory().take(4096), Memory.ALL));
    }

    /** rpma_peer_delete(3): afterwards the handle is gone. */
    @Test
    void closedPeerIsRefused() throws Exception {
        Endpoint endpoint = endpoint();
        Peer peer = Contract.DEVICE.newPeer();
        peer.close();
        peer.close();
        refused(INVALID, () -> peer.listen(Contract.anyPort()));
        refused(INVALID, () -> peer.newConnectionRequest(endpoint.localAddress(), config()));
        refused(INVALID, () -> peer.newSharedReceiveQueue(null));
        refused(INVALID, () -> peer.register(memory().take(4096), Memory.ALL));
    }

    /** If rpma_ep_shutdown(3) is called before the requests have been processed, they remain usable. */
    @Test
    void requestOutlivesItsEndpoint() throws Exception {
        Endpoint endpoint = endpoint();
        Connection client = scope.own(scope.own(
            peer().newConnectionRequest(endpoint.localAddress(), config())).connect(null));
        ConnectionRequest request = scope.own(Wait.request(endpoint, config()));
        Connection server = scope.own(request.connect(null));
        endpoint.close();
        Wait.event(io.rpma.ConnectionEvent.ESTABLISHED, client);
        Wait.event(io.rpma.ConnectionEvent.ESTABLISHED, server);
    }

    /** The posted receives of a shared receive queue are discarded when it is closed. */
    @Test
    void sharedReceiveQueueClosesWithReceivesPosted() throws Exception {
        LocalMemoryRegion region = region(4096);
        SharedReceiveQueue queue = peer().newSharedReceiveQueue(null);
        for (int i = 0; i < 5; i++) {
            queue.receive(region, 0, 64, i);
        }
        queue.close();
    }

    /** A refused call changes nothing, and the connection works as before. */
    @Test
    void refusalsDoNoHarm() throws Exception {
        Pair pair = pair();
        for (int i = 0; i < 200; i++) {
            refused(INVALID, () -> pair.client.send(pair.clientMemory, 0, 8, null, 1));
            refused(INVALID, () -> pair.client.send(null, 1, 1, ALWAYS, 1));
            refused(INVALID, () -> pair.client.atomicWrite(pair.atServer, 1, 1, ALWAYS, 1));
            refused(INVALID, () -> pair.client.receive(null, 1, 1, 1));
        }
        pair.exchange();
    }

    /** The exception of a refused call names what was refused. */
    @Test
    void refusalsSayWhat() throws Exception {
        Pair pair = pair();
        RpmaException refusal = refused(INVALID, () -> pair.client.atomicWrite(pair.atServer, 1234567, 1, ALWAYS, 1));
        assertEquals(true, refusal.getMessage().contains("1234567"), refusal.getMessage());
    }
}
