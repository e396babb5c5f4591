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
package io.rpma.librpma;

import com.sun.management.ThreadMXBean;
import io.rpma.CompletionFlag;
import io.rpma.CompletionOpcode;
import io.rpma.CompletionQueue;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Device;
import io.rpma.DeviceLimits;
import io.rpma.Endpoint;
import io.rpma.FlushType;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.PeerConfig;
import io.rpma.RemoteMemoryRegion;
import io.rpma.Rpma;
import io.rpma.RpmaCompletion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.WorkCompletions;
import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

import static io.rpma.librpma.LibrpmaConfigTest.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests the binding on a real device, with both ends in one thread. Another suite tests the rules of the interface; this one
 * tests the use of FFM.
 */
@Timeout(120)
class LibrpmaDeviceTest {
    private static final CompletionFlag ALWAYS = CompletionFlag.ALWAYS;

    private RpmaProvider provider;
    private final WorkCompletions completions = new WorkCompletions(16);

    @BeforeEach
    void open() throws Exception {
        provider = Library.providerWithDevice();
    }

    private ConnectionConfig config() throws RpmaException {
        return provider.newConnectionConfig().completionQueueSize(64).sendQueueSize(16).receiveQueueSize(16);
    }

    private void await(CompletionQueue queue, long context, CompletionOpcode opcode) throws RpmaException, InterruptedException {
        assertEquals(1, TwoEnds.completions(queue, completions));
        assertEquals(CompletionStatus.SUCCESS, completions.status(0));
        assertEquals(context, completions.context(0));
        assertEquals(opcode, completions.opcode(0));
    }

    @Test
    void theDeviceHasANameLimitsAndAddresses() throws Exception {
        assertTrue(Rpma.isAvailable());
        Device device = provider.devices().getFirst();
        assertFalse(device.name().isBlank());
        DeviceLimits limits = device.limits();
        assertTrue(limits.maxQueuePairs() > 0 && limits.maxQueuePairWorkRequests() >= 16 && limits.maxCompletionQueues() > 0
            && limits.maxCompletionQueueSize() >= 64 && limits.maxMemoryRegions() > 0 && limits.maxMemoryRegionSize() >= 1 << 20
            && limits.maxMessageSize() >= 1 << 20 && limits.maxSharedReceiveQueueWorkRequests() >= 0, limits.toString());
        assertFalse(device.addresses().isEmpty());
        for (InetAddress address : device.addresses()) {
            assertSame(device, provider.localDevice(address));
            assertEquals(address, provider.reachable(address));
        }
        // The query must succeed, but its result depends on the device.
        System.out.println(device + ", on-demand paging " + device.isOnDemandPagingCapable() + ", " + limits);
    }

    @Test
    void addressesThatMeanThisHostFindADevice() throws Exception {
        List<InetAddress> addresses = provider.devices().getFirst().addresses();
        for (String name : new String[] {"127.0.0.1", "0.0.0.0", "::1", "::"}) {
            InetAddress address = InetAddress.getByName(name);
            InetAddress reachable = provider.reachable(address);
            assertTrue(addresses.contains(reachable), name + " -> " + reachable);
            if (addresses.stream().anyMatch(candidate -> candidate.getClass() == address.getClass())) {
                assertSame(address.getClass(), reachable.getClass());
            }
            assertSame(provider.devices().getFirst(), provider.localDevice(address));
        }
        assertSame(provider.devices().getFirst(), provider.remoteDevice(addresses.getFirst()));
        RpmaException e = assertThrows(RpmaException.class, () -> provider.localDevice(InetAddress.getByName("203.0.113.7")));
        assertEquals(RpmaError.PROVIDER, e.error());
        assertNotEquals(0, e.errno());
    }

    @Test
    void pingPongByEvents() throws Exception {
        int rounds = 1000;
        try (ConnectionConfig config = config(); TwoEnds ends = new TwoEnds(provider, config)) {
            long start = System.nanoTime();
            for (int i = 0; i < rounds; i++) {
                message(ends.client, ends.clientRegion, ends.server, ends.serverRegion, i);
                message(ends.server, ends.serverRegion, ends.client, ends.clientRegion, i + 1);
            }
            System.out.println("64-byte round trip by events, both ends in one thread: "
                + (System.nanoTime() - start) / rounds / 1000 + " us");
        }
    }

    private void message(Connection from, LocalMemoryRegion source, Connection to, LocalMemoryRegion target, long value)
            throws RpmaException, InterruptedException {
        to.receive(target, 4096, 64, value << 1);
        source.memory().set(ValueLayout.JAVA_LONG, 128 + 56, ~value);
        from.send(source, 128, 64, ALWAYS, value << 1 | 1);
        await(to.completionQueue(), value << 1, CompletionOpcode.RECV);
        assertEquals(64, completions.byteLength(0));
        assertEquals(to.queuePairNumber(), completions.queuePairNumber(0));
        assertEquals(~value, target.memory().get(ValueLayout.JAVA_LONG, 4096 + 56));
        await(from.completionQueue(), value << 1 | 1, CompletionOpcode.SEND);
    }

    @Test
    void immediateDataAndEmptyMessages() throws Exception {
        try (ConnectionConfig config = config(); TwoEnds ends = new TwoEnds(provider, config)) {
            ends.server.receive(ends.serverRegion, 0, 64, 7);
            ends.server.receive(null, 0, 0, 8);
            ends.client.sendWithImmediate(ends.clientRegion, 0, 8, ALWAYS, 0xfedcba98, 1);
            await(ends.server.completionQueue(), 7, CompletionOpcode.RECV);
            assertTrue(completions.hasImmediate(0));
            assertEquals(0xfedcba98, completions.immediate(0));
            RpmaCompletion old = completions.completion(0);
            assertEquals(RpmaCompletion.Operation.RECV, old.op());
            assertEquals(0xfedcba98, old.imm());
            await(ends.client.completionQueue(), 1, CompletionOpcode.SEND);
            ends.client.send(null, 0, 0, ALWAYS, 2);
            await(ends.server.completionQueue(), 8, CompletionOpcode.RECV);
            assertEquals(0, completions.byteLength(0));
            assertFalse(completions.hasImmediate(0));
            await(ends.client.completionQueue(), 2, CompletionOpcode.SEND);
        }
    }

    @Test
    void oneSidedOperations() throws Exception {
        try (ConnectionConfig config = config(); TwoEnds ends = new TwoEnds(provider, config)) {
            MemorySegment here = ends.clientRegion.memory();
            MemorySegment there = ends.serverRegion.memory();
            CompletionQueue queue = ends.client.completionQueue();
            for (int i = 0; i < 4096; i++) {
                here.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
            }
            ends.client.write(ends.serverMemory, 8192, ends.clientRegion, 0, 4096, ALWAYS, 1);
            await(queue, 1, CompletionOpcode.RDMA_WRITE);
            assertEquals(-1, there.asSlice(8192, 4096).mismatch(here.asSlice(0, 4096)));
            ends.client.read(ends.clientRegion, 16384, ends.serverMemory, 8192, 4096, ALWAYS, 2);
            await(queue, 2, CompletionOpcode.RDMA_READ);
            assertEquals(-1, here.asSlice(16384, 4096).mismatch(here.asSlice(0, 4096)));

            ends.server.receive(null, 0, 0, 30);
            ends.client.writeWithImmediate(ends.serverMemory, 0, ends.clientRegion, 1, 100, ALWAYS, 77, 3);
            await(queue, 3, CompletionOpcode.RDMA_WRITE);
            await(ends.server.completionQueue(), 30, CompletionOpcode.RECV_RDMA_WITH_IMM);
            assertEquals(100, completions.byteLength(0));
            assertEquals(77, completions.immediate(0));
            assertEquals(-1, there.asSlice(0, 100).mismatch(here.asSlice(1, 100)));

            ends.client.atomicWrite(ends.serverMemory, 24, 0x1122334455667788L, ALWAYS, 4);
            assertEquals(1, TwoEnds.completions(queue, completions));
            assertEquals(CompletionStatus.SUCCESS, completions.status(0));
            assertEquals(0x1122334455667788L, there.get(ValueLayout.JAVA_LONG, 24));
            assertEquals(RpmaCompletion.Operation.WRITE, completions.completion(0).op());
            assertRefused(RpmaError.INVALID, "the offset is 12; it must be a multiple of 8",
                () -> ends.client.atomicWrite(ends.serverMemory, 12, 0, ALWAYS, 0));

            ends.client.flush(ends.serverMemory, 0, 4096, FlushType.VISIBILITY, ALWAYS, 5);
            assertEquals(1, TwoEnds.completions(queue, completions));
            assertEquals(5, completions.context(0));
            assertEquals(CompletionStatus.SUCCESS, completions.status(0));
        }
    }

    @Test
    void flushNeedsTheUsageAndThePeersConsent() throws Exception {
        try (ConnectionConfig config = config(); TwoEnds ends = new TwoEnds(provider, config)) {
            assertRefused(RpmaError.NOT_SUPPORTED, "applyRemotePeerConfig",
                () -> ends.client.flush(ends.serverMemory, 0, 8, FlushType.PERSISTENT, ALWAYS, 1));
            try (PeerConfig peerConfig = provider.newPeerConfig()) {
                ByteBuffer descriptor = ByteBuffer.allocate(8);
                peerConfig.directWriteToPmem(true).descriptor(descriptor);
                try (PeerConfig remote = provider.peerConfigFromDescriptor(descriptor.flip())) {
                    ends.client.applyRemotePeerConfig(remote);
                }
            }
            if (TwoEnds.usages(ends.peer).contains(MemoryUsage.FLUSH_PERSISTENT)) {
                ends.client.flush(ends.serverMemory, 0, 8, FlushType.PERSISTENT, ALWAYS, 2);
                assertEquals(1, TwoEnds.completions(ends.client.completionQueue(), completions));
                assertEquals(CompletionStatus.SUCCESS, completions.status(0));
            } else {
                assertRefused(RpmaError.NOT_SUPPORTED, "it needs FLUSH_PERSISTENT",
                    () -> ends.client.flush(ends.serverMemory, 0, 8, FlushType.PERSISTENT, ALWAYS, 2));
            }
            assertRefused(RpmaError.INVALID, "does not belong to the provider librpma: null",
                () -> ends.client.applyRemotePeerConfig(null));
            LocalMemoryRegion plain = ends.opened(TwoEnds.register(ends.peer, 4096, EnumSet.of(MemoryUsage.WRITE_DST)));
            RemoteMemoryRegion remote = ends.opened(TwoEnds.remote(provider, plain));
            assertRefused(RpmaError.NOT_SUPPORTED, "FLUSH_VISIBILITY",
                () -> ends.client.flush(remote, 0, 8, FlushType.VISIBILITY, ALWAYS, 3));
            assertRefused(RpmaError.INVALID, "the type is null",
                () -> ends.client.flush(ends.serverMemory, 0, 8, null, ALWAYS, 4));
        }
    }

    @Test
    void argumentsThatAreNotValidAreRefusedHere() throws Exception {
        try (ConnectionConfig config = config(); TwoEnds ends = new TwoEnds(provider, config)) {
            Connection client = ends.client;
            LocalMemoryRegion region = ends.clientRegion;
            assertRefused(RpmaError.INVALID, "the completion flag is null", () -> client.send(region, 0, 8, null, 1));
            assertRefused(RpmaError.INVALID, "rpma_send: the length is -1", () -> client.send(region, 0, -1, ALWAYS, 1));
            assertRefused(RpmaError.INVALID, "an offset is negative", () -> client.send(region, -8, 8, ALWAYS, 1));
            assertRefused(RpmaError.INVALID, "the length is 4294967296; a work request carries at most 4294967295",
                () -> client.send(region, 0, 1L << 32, ALWAYS, 1));
            assertRefused(RpmaError.INVALID, "rpma_send failed", () -> client.send(null, 0, 8, ALWAYS, 1));
            assertRefused(RpmaError.INVALID, "rpma_recv failed", () -> client.receive(null, 8, 0, 1));
            assertRefused(RpmaError.INVALID, "rpma_recv: the length is -8", () -> client.receive(region, 0, -8, 1));
            assertRefused(RpmaError.INVALID, "rpma_write failed",
                () -> client.write(null, 0, region, 0, 8, ALWAYS, 1));
            assertRefused(RpmaError.INVALID, "rpma_write_with_imm: an offset is negative",
                () -> client.writeWithImmediate(ends.serverMemory, 0, region, -1, 8, ALWAYS, 1, 1));
            assertRefused(RpmaError.INVALID, "rpma_read failed", () -> client.read(region, 0, null, 0, 8, ALWAYS, 1));
            assertRefused(RpmaError.INVALID, "the work completions are null", () -> client.completionQueue().poll(null));
            assertEquals(0, client.completionQueue().poll(completions));
            assertRefused(RpmaError.NOT_SHARED_CHANNEL, "rpma_conn_get_compl_fd", client::completionFd);
            assertRefused(RpmaError.NOT_SHARED_CHANNEL, "CompletionQueue.consumeEvent", client::consumeCompletionEvent);
        }
    }

    @Test
    void useAfterCloseIsRefusedByName() throws Exception {
        Connection client;
        CompletionQueue queue;
        LocalMemoryRegion region;
        Peer peer;
        Endpoint endpoint;
        try (ConnectionConfig config = config(); TwoEnds ends = new TwoEnds(provider, config)) {
            client = ends.client;
            queue = client.completionQueue();
            region = ends.clientRegion;
            peer = ends.peer;
            endpoint = ends.endpoint;
            LocalMemoryRegion closed = TwoEnds.register(peer, 4096, TwoEnds.usages(peer));
            closed.close();
            closed.close();
            // The closed region must not be treated as null, with which this would be an empty message.
            assertRefused(RpmaError.INVALID, "the local memory region is closed", () -> client.send(closed, 0, 0, ALWAYS, 1));
        }
        assertRefused(RpmaError.INVALID, "the connection is closed", () -> client.send(null, 0, 0, ALWAYS, 1));
        assertRefused(RpmaError.INVALID, "the connection is closed", client::nextEvent);
        assertRefused(RpmaError.INVALID, "the connection is closed", client::disconnect);
        assertRefused(RpmaError.INVALID, "the connection is closed", client::privateData);
        assertRefused(RpmaError.INVALID, "the completion queue is closed", () -> queue.poll(completions));
        assertRefused(RpmaError.INVALID, "the completion queue is closed", queue::consumeEvent);
        assertRefused(RpmaError.INVALID, "the endpoint is closed", () -> endpoint.nextConnectionRequest(null));
        assertRefused(RpmaError.INVALID, "the local memory region is closed", () -> region.descriptor(ByteBuffer.allocate(64)));
        assertRefused(RpmaError.INVALID, "the peer is closed",
            () -> peer.register(region.memory(), EnumSet.of(MemoryUsage.SEND)));
        assertRefused(RpmaError.INVALID, "the peer is closed", () -> peer.listen(endpoint.localAddress()));
        client.close();
        endpoint.close();
        peer.close();
    }

    @Test
    void addressesAreThoseOfBothEnds() throws Exception {
        for (Class<?> family : List.of(Inet4Address.class, Inet6Address.class)) {
            List<InetAddress> addresses = provider.devices().getFirst().addresses().stream()
                .filter(address -> address.getClass() == family && !address.isLinkLocalAddress()).toList();
            if (addresses.isEmpty()) {
                System.out.println("no " + family.getSimpleName() + " on this device");
                continue;
            }
            try (ConnectionConfig config = config(); TwoEnds ends = new TwoEnds(provider, config, addresses.getFirst())) {
                InetSocketAddress listening = ends.endpoint.localAddress();
                assertEquals(addresses.getFirst(), listening.getAddress());
                assertTrue(listening.getPort() > 0);
                assertEquals(listening, ends.client.remoteAddress());
                assertEquals(listening, ends.server.localAddress());
                assertNotNull(ends.client.localAddress());
                assertTrue(ends.client.localAddress().getPort() > 0);
                assertEquals(ends.client.localAddress(), ends.server.remoteAddress());
            }
        }
    }

    @Test
    void privateDataArrivesPadded() throws Exception {
        try (ConnectionConfig config = config(); Peer peer = provider.devices().getFirst().newPeer();
                Endpoint endpoint = peer.listen(anyPort())) {
            ConnectionRequest outgoing = peer.newConnectionRequest(endpoint.localAddress(), config);
            assertRefused(RpmaError.INVALID, "only an incoming request", outgoing::privateData);
            ByteBuffer hello = ByteBuffer.wrap(new byte[] {9, 1, 2, 3, 4, 9}).position(1).limit(5);
            Connection client = outgoing.connect(hello);
            assertEquals(4, hello.remaining());
            assertEquals(0, client.privateData().remaining());
            assertRefused(RpmaError.INVALID, "was connected or closed before", () -> outgoing.connect(null));
            outgoing.close();
            ConnectionRequest incoming = TwoEnds.request(endpoint, config);
            assertNotNull(incoming.remoteAddress());
            assertArrayEquals(padded(new byte[] {1, 2, 3, 4}, 56), bytes(incoming.privateData()));
            assertTrue(incoming.privateData().isReadOnly());
            Connection server = incoming.connect(ByteBuffer.allocateDirect(196).put(195, (byte) 5));
            TwoEnds.establish(client, server);
            assertArrayEquals(padded(new byte[] {1, 2, 3, 4}, 56), bytes(server.privateData()));
            assertEquals(196, client.privateData().remaining());
            assertEquals(5, client.privateData().get(195));
            client.close();
            server.close();
        }
    }

    @Test
    void whatIsRefusedBeforeTheConnectionIsEstablishedIsNotSentLater() throws Exception {
        try (ConnectionConfig config = config(); Peer peer = provider.devices().getFirst().newPeer();
                LocalMemoryRegion region = TwoEnds.register(peer, 4096, TwoEnds.usages(peer));
                RemoteMemoryRegion remote = TwoEnds.remote(provider, region); Endpoint endpoint = peer.listen(anyPort());
                Connection client = peer.newConnectionRequest(endpoint.localAddress(), config).connect(null);
                Connection server = TwoEnds.request(endpoint, config).connect(null)) {
            Executable[] early = {
                () -> client.send(region, 0, 8, ALWAYS, 1), () -> client.sendWithImmediate(region, 0, 8, ALWAYS, 1, 2),
                () -> client.write(remote, 0, region, 0, 8, ALWAYS, 3), () -> client.read(region, 0, remote, 0, 8, ALWAYS, 4),
                () -> client.writeWithImmediate(remote, 0, region, 0, 8, ALWAYS, 1, 5),
                () -> client.atomicWrite(remote, 0, 1, ALWAYS, 6),
                () -> client.flush(remote, 0, 8, FlushType.VISIBILITY, ALWAYS, 7),
            };
            for (Executable call : early) {
                assertRefused(RpmaError.PROVIDER, "wait for nextEvent() to return ESTABLISHED", call);
            }
            server.receive(region, 64, 64, 8);
            client.receive(region, 128, 64, 9);
            TwoEnds.establish(client, server);
            client.send(region, 0, 8, ALWAYS, 10);
            await(server.completionQueue(), 8, CompletionOpcode.RECV);
            await(client.completionQueue(), 10, CompletionOpcode.SEND);
            assertEquals(0, client.completionQueue().poll(completions));
        }
    }

    private static byte[] padded(byte[] bytes, int size) {
        return Arrays.copyOf(bytes, size);
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    private InetSocketAddress anyPort() throws RpmaException {
        return new InetSocketAddress(provider.devices().getFirst().addresses().getFirst(), 0);
    }

    @Test
    void privateDataThatIsTooLongUsesTheRequestUp() throws Exception {
        try (ConnectionConfig config = config(); Peer peer = provider.devices().getFirst().newPeer();
                Endpoint endpoint = peer.listen(anyPort())) {
            ConnectionRequest outgoing = peer.newConnectionRequest(endpoint.localAddress(), config);
            assertRefused(RpmaError.PROVIDER, "the private data has 57 bytes; a request carries at most 56",
                () -> outgoing.connect(ByteBuffer.allocate(57)));
            assertRefused(RpmaError.INVALID, "was connected or closed before", () -> outgoing.connect(null));
            Connection client = peer.newConnectionRequest(endpoint.localAddress(), config).connect(ByteBuffer.allocate(56));
            ConnectionRequest incoming = TwoEnds.request(endpoint, config);
            assertRefused(RpmaError.PROVIDER, "the private data has 300 bytes; an acceptance carries at most 196",
                () -> incoming.connect(ByteBuffer.allocate(300)));
            assertEquals(ConnectionEvent.REJECTED, client.waitForEvent(TwoEnds.LIMIT));
            client.close();
            assertRefused(RpmaError.INVALID, "the private data is empty",
                () -> peer.newConnectionRequest(endpoint.localAddress(), config).connect(ByteBuffer.allocate(0)));
        }
    }

    @Test
    void aRequestThatIsDroppedIsRejected() throws Exception {
        try (ConnectionConfig config = config(); Peer peer = provider.devices().getFirst().newPeer()) {
            Endpoint endpoint = peer.listen(anyPort());
            InetSocketAddress address = endpoint.localAddress();
            Connection dropped = peer.newConnectionRequest(address, config).connect(null);
            ConnectionRequest incoming = TwoEnds.request(endpoint, config);
            incoming.close();
            incoming.close();
            assertEquals(ConnectionEvent.REJECTED, dropped.waitForEvent(TwoEnds.LIMIT));
            assertNull(dropped.nextEvent());
            dropped.close();
            // One request has been accepted but not connected and the endpoint is closed, and one request was never accepted.
            Connection taken = peer.newConnectionRequest(address, config).connect(null);
            ConnectionRequest request = TwoEnds.request(endpoint, config);
            Connection waiting = peer.newConnectionRequest(address, config).connect(null);
            TwoEnds.readable(endpoint.fd(), "the second request");
            endpoint.close();
            assertRefused(RpmaError.INVALID, "was connected or closed before", () -> request.connect(null));
            assertRefused(RpmaError.INVALID, "the connection request is closed", request::privateData);
            assertEquals(ConnectionEvent.REJECTED, taken.waitForEvent(TwoEnds.LIMIT));
            assertEquals(ConnectionEvent.REJECTED, waiting.waitForEvent(TwoEnds.LIMIT));
            taken.close();
            waiting.close();
            // No listener exists any more.
            Connection late = peer.newConnectionRequest(address, config).connect(null);
            assertEquals(ConnectionEvent.REJECTED, late.waitForEvent(TwoEnds.LIMIT));
            late.close();
        }
    }

    @Test
    void listeningTellsWhatIsWrong() throws Exception {
        try (Peer peer = provider.devices().getFirst().newPeer(); Endpoint endpoint = peer.listen(anyPort())) {
            RpmaException inUse = assertRefused(RpmaError.PROVIDER, "another endpoint already listens there",
                () -> peer.listen(endpoint.localAddress()));
            assertEquals(Posix.EADDRINUSE, inUse.errno());
            String own = endpoint.localAddress().getAddress().getHostAddress();
            for (String address : new String[] {"0.0.0.0", "::", "127.0.0.1", "::1"}) {
                assertRefused(RpmaError.INVALID, own, () -> peer.listen(new InetSocketAddress(address, 0)));
            }
            assertRefused(RpmaError.INVALID, "the address is null", () -> peer.listen(null));
            assertRefused(RpmaError.INVALID, "not resolved",
                () -> peer.listen(InetSocketAddress.createUnresolved("localhost", 1)));
            RpmaException foreign = assertRefused(RpmaError.PROVIDER, "203.0.113.7 port 0",
                () -> peer.listen(new InetSocketAddress("203.0.113.7", 0)));
            assertTrue(foreign.errno() == Posix.EADDRNOTAVAIL || foreign.errno() == Posix.ENODEV, foreign.getMessage());
            assertRefused(RpmaError.INVALID, "the address is null", () -> peer.newConnectionRequest(null, null));
            assertRefused(RpmaError.INVALID, "not resolved",
                () -> peer.newConnectionRequest(InetSocketAddress.createUnresolved("localhost", 1), null));
        }
    }

    @Test
    void parentsOutliveTheirChildren() throws Exception {
        Peer peer = provider.devices().getFirst().newPeer();
        LocalMemoryRegion region = TwoEnds.register(peer, 4096, EnumSet.of(MemoryUsage.SEND));
        SharedReceiveQueue queue = peer.newSharedReceiveQueue(null);
        ConnectionConfig config = config();
        config.sharedReceiveQueue(queue);
        assertSame(queue, config.sharedReceiveQueue());
        Endpoint endpoint = peer.listen(anyPort());
        ConnectionRequest request = peer.newConnectionRequest(endpoint.localAddress(), config);
        assertRefused(RpmaError.PROVIDER, "still used by 4 open object(s)", peer::close);
        assertRefused(RpmaError.PROVIDER, "the shared receive queue is still used by 1", queue::close);
        request.close();
        queue.close();
        assertRefused(RpmaError.INVALID, "the shared receive queue is closed",
            () -> peer.newConnectionRequest(endpoint.localAddress(), config));
        assertRefused(RpmaError.INVALID, "the shared receive queue is closed", () -> endpoint.nextConnectionRequest(config));
        assertRefused(RpmaError.INVALID, "the shared receive queue is closed",
            () -> provider.newConnectionConfig().sharedReceiveQueue(queue));
        endpoint.close();
        assertRefused(RpmaError.PROVIDER, "still used by 1 open object(s)", peer::close);
        region.close();
        peer.close();
        peer.close();
        config.close();
    }

    @Test
    @SuppressWarnings("try") // The test closes the queue itself, and checks what is left of it.
    void aSharedReceiveQueueServesTwoConnections() throws Exception {
        try (ConnectionConfig config = config(); ConnectionConfig serverConfig = config();
                SharedReceiveQueueConfig queueConfig = provider.newSharedReceiveQueueConfig();
                Peer peer = provider.devices().getFirst().newPeer();
                LocalMemoryRegion region = TwoEnds.register(peer, 4096, EnumSet.of(MemoryUsage.SEND, MemoryUsage.RECV));
                SharedReceiveQueue queue = peer.newSharedReceiveQueue(queueConfig.receiveQueueSize(8)
                    .receiveCompletionQueueSize(32));
                Endpoint endpoint = peer.listen(anyPort())) {
            serverConfig.sharedReceiveQueue(queue);
            for (int i = 0; i < 4; i++) {
                queue.receive(region, i * 64, 64, i);
            }
            assertRefused(RpmaError.INVALID, "rpma_srq_recv failed", () -> queue.receive(null, 1, 0, 0));
            assertRefused(RpmaError.INVALID, "the length is -1", () -> queue.receive(region, 0, -1, 0));
            List<Connection> clients = new ArrayList<>();
            Map<Integer, Integer> byQueuePair = new HashMap<>();
            List<Connection> servers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                Connection client = peer.newConnectionRequest(endpoint.localAddress(), config).connect(null);
                Connection server = TwoEnds.request(endpoint, serverConfig).connect(null);
                TwoEnds.establish(client, server);
                assertNull(server.receiveCompletionQueue());
                byQueuePair.put(server.queuePairNumber(), i);
                clients.add(client);
                servers.add(server);
            }
            for (int i = 0; i < 4; i++) {
                clients.get(i % 2).sendWithImmediate(region, 1024, 8, ALWAYS, i % 2, 100 + i);
            }
            boolean[] taken = new boolean[4];
            for (int seen = 0; seen < 4;) {
                int count = TwoEnds.completions(queue.receiveCompletionQueue(), completions);
                for (int i = 0; i < count; i++, seen++) {
                    assertEquals(CompletionStatus.SUCCESS, completions.status(i));
                    assertEquals(byQueuePair.get(completions.queuePairNumber(i)), completions.immediate(i));
                    assertFalse(taken[(int) completions.context(i)]);
                    taken[(int) completions.context(i)] = true;
                }
            }
            CompletionQueue closed = queue.receiveCompletionQueue();
            for (Connection connection : Stream.concat(clients.stream(), servers.stream()).toList()) {
                connection.close();
            }
            queue.close();
            assertRefused(RpmaError.INVALID, "the completion queue is closed", () -> closed.poll(completions));
            assertRefused(RpmaError.INVALID, "the shared receive queue is closed", () -> queue.receive(region, 0, 64, 0));
        }
    }

    @Test
    void oneDescriptorCanServeBothCompletionQueues() throws Exception {
        try (ConnectionConfig config = config().receiveCompletionQueueSize(16).sharedCompletionChannel(true);
                TwoEnds ends = new TwoEnds(provider, config)) {
            Connection server = ends.server;
            CompletionQueue receives = server.receiveCompletionQueue();
            assertEquals(server.completionFd(), server.completionQueue().fd());
            assertEquals(server.completionFd(), receives.fd());
            assertRefused(RpmaError.SHARED_CHANNEL, "consumeCompletionEvent", () -> receives.consumeEvent());
            assertNull(server.consumeCompletionEvent());
            server.receive(ends.serverRegion, 0, 64, 1);
            ends.client.receive(ends.clientRegion, 0, 64, 1);
            ends.client.send(ends.clientRegion, 64, 8, ALWAYS, 2);
            server.send(ends.serverRegion, 64, 8, ALWAYS, 3);
            Set<CompletionQueue> fired = new HashSet<>();
            while (fired.size() < 2) {
                CompletionQueue queue = server.consumeCompletionEvent();
                if (queue == null) {
                    TwoEnds.readable(server.completionFd(), "a completion event");
                } else {
                    fired.add(queue);
                    assertEquals(1, queue.poll(completions));
                    assertEquals(queue == receives ? 1 : 3, completions.context(0));
                }
            }
        }
    }

    @Test
    void disconnectFlushesAndTheFirstTerminalEventIsEnough() throws Exception {
        try (ConnectionConfig config = config(); TwoEnds ends = new TwoEnds(provider, config)) {
            ends.server.receive(ends.serverRegion, 0, 64, 9);
            ends.client.receive(ends.clientRegion, 0, 64, 8);
            ends.client.disconnect();
            assertEquals(ConnectionEvent.CLOSED, ends.server.waitForEvent(TwoEnds.LIMIT));
            assertEquals(1, TwoEnds.completions(ends.client.completionQueue(), completions));
            assertEquals(CompletionStatus.WR_FLUSH_ERR, completions.status(0));
            assertEquals(8, completions.context(0));
            assertNull(completions.completion(0).op());
            assertEquals(0, ends.server.completionQueue().poll(completions));
            ends.server.disconnect();
            assertEquals(ConnectionEvent.CLOSED, ends.client.waitForEvent(TwoEnds.LIMIT));
            assertEquals(1, TwoEnds.completions(ends.server.completionQueue(), completions));
            assertEquals(CompletionStatus.WR_FLUSH_ERR, completions.status(0));
            assertEquals(9, completions.context(0));
            ends.client.disconnect();
        }
    }

    @Test
    void aMessageLongerThanTheBufferEndsTheConnection() throws Exception {
        try (ConnectionConfig config = config(); TwoEnds ends = new TwoEnds(provider, config)) {
            ends.server.receive(ends.serverRegion, 0, 16, 1);
            ends.client.send(ends.clientRegion, 0, 64, CompletionFlag.ON_ERROR, 2);
            assertEquals(1, TwoEnds.completions(ends.client.completionQueue(), completions));
            assertNotEquals(CompletionStatus.SUCCESS, completions.status(0));
            assertEquals(2, completions.context(0));
            assertEquals(1, TwoEnds.completions(ends.server.completionQueue(), completions));
            assertNotEquals(CompletionStatus.SUCCESS, completions.status(0));
            assertNull(ends.client.nextEvent());
        }
    }

    @Test
    void aQueueThatTheDeviceCannotMakeLeaksNothing() throws Exception {
        try (Peer peer = provider.devices().getFirst().newPeer(); Endpoint endpoint = peer.listen(anyPort());
                ConnectionConfig huge = config().completionQueueSize(Integer.MAX_VALUE)) {
            assertRefused(RpmaError.PROVIDER, "the configured queues cannot be created",
                () -> peer.newConnectionRequest(endpoint.localAddress(), huge));
            long before = descriptors();
            for (int i = 0; i < 20; i++) {
                assertThrows(RpmaException.class, () -> peer.newConnectionRequest(endpoint.localAddress(), huge));
            }
            assertEquals(before, descriptors());
        }
        // The closed peer shows that no failed object has kept it open; otherwise, closing it would have thrown an exception.
    }

    @Test
    void connectionsComeAndGoWithoutALeak() throws Exception {
        try (ConnectionConfig config = config().receiveCompletionQueueSize(16)) {
            // The first round opens the files of classes and libraries that stay open.
            long before = 0;
            for (int i = 0; i <= 20; i++) {
                try (TwoEnds ends = new TwoEnds(provider, config)) {
                    assertTrue(descriptors() > before);
                    ends.client.receive(ends.clientRegion, 0, 64, 1);
                }
                before = i == 0 ? descriptors() : before;
            }
            assertEquals(before, descriptors());
        }
    }

    private static long descriptors() throws Exception {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    @Test
    void registeringTellsWhatIsWrong() throws Exception {
        try (Peer peer = provider.devices().getFirst().newPeer(); Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(4096, 4096);
            assertRefused(RpmaError.INVALID, "the memory is null", () -> peer.register(null, EnumSet.of(MemoryUsage.SEND)));
            assertRefused(RpmaError.INVALID, "on the Java heap",
                () -> peer.register(MemorySegment.ofArray(new byte[64]), EnumSet.of(MemoryUsage.SEND)));
            assertRefused(RpmaError.INVALID, "at least one byte and one usage",
                () -> peer.register(memory, EnumSet.noneOf(MemoryUsage.class)));
            assertRefused(RpmaError.INVALID, "at least one byte and one usage", () -> peer.register(memory, null));
            assertRefused(RpmaError.INVALID, "0 bytes",
                () -> peer.register(memory.asSlice(0, 0), EnumSet.of(MemoryUsage.SEND)));
            MemorySegment freed;
            try (Arena other = Arena.ofConfined()) {
                freed = other.allocate(64);
            }
            assertRefused(RpmaError.INVALID, "already freed", () -> peer.register(freed, EnumSet.of(MemoryUsage.SEND)));
            // The memory is not mapped, which the kernel detects.
            assertRefused(RpmaError.PROVIDER, "rpma_mr_reg",
                () -> peer.register(MemorySegment.ofAddress(4096).reinterpret(4096), EnumSet.of(MemoryUsage.RECV)));
            try (LocalMemoryRegion region = peer.register(memory, EnumSet.of(MemoryUsage.SEND, MemoryUsage.FLUSH_VISIBILITY))) {
                assertSame(peer, region.peer());
                assertEquals(memory.address(), region.address());
                assertEquals(4096, region.size());
                assertEquals(EnumSet.of(MemoryUsage.SEND, MemoryUsage.FLUSH_VISIBILITY), region.usages());
                assertEquals(21, region.descriptorSize());
                assertRefused(RpmaError.INVALID, "has room for 20", () -> region.descriptor(ByteBuffer.allocate(20)));
                assertRefused(RpmaError.INVALID, "the offset is -1", () -> region.advise(-1, 8, 0, 0));
                assertRefused(RpmaError.INVALID, "the length is -1", () -> region.advise(0, -1, 0, 0));
                if (!peer.device().isOnDemandPagingCapable()) {
                    assertRefused(RpmaError.NOT_SUPPORTED, "advice 0", () -> region.advise(0, 4096, 0, 0));
                }
            }
        }
    }

    @Test
    void theLimitOfLockedMemoryIsNamed() throws Exception {
        long limit = Posix.softLimit(Posix.RLIMIT_MEMLOCK);
        long size = 64L << 20;
        Assumptions.assumeTrue(limit != Posix.UNLIMITED && limit < size,
            "locked memory is not limited here; testsuite/softroce/run.sh --memlock 1024 limits it");
        try (Peer peer = provider.devices().getFirst().newPeer(); Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(size, 4096);
            RpmaException e = assertRefused(RpmaError.PROVIDER, "this process may lock " + limit + " bytes in total (ulimit -l)",
                () -> peer.register(memory, EnumSet.of(MemoryUsage.SEND)));
            assertEquals(Posix.ENOMEM, e.errno());
            try (LocalMemoryRegion small = peer.register(memory.asSlice(0, 4096), EnumSet.of(MemoryUsage.SEND))) {
                assertEquals(4096, small.size());
            }
        }
    }

    @Test
    void postingAndPollingAllocateNothing() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (ConnectionConfig config = config(); TwoEnds ends = new TwoEnds(provider, config)) {
            // Enough rounds for the compiler, because before compilation the interpreter's method handles allocate memory.
            exchange(ends, 30_000);
            long before = threads.getCurrentThreadAllocatedBytes();
            exchange(ends, 10_000);
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            assertTrue(allocated < 10_000, allocated + " bytes for 10000 rounds");
        }
    }

    private void exchange(TwoEnds ends, int rounds) throws RpmaException {
        WorkCompletions batch = completions;
        CompletionQueue clientQueue = ends.client.completionQueue();
        CompletionQueue serverQueue = ends.server.completionQueue();
        for (int i = 0; i < rounds; i++) {
            ends.server.receive(ends.serverRegion, 0, 64, i);
            ends.client.send(ends.clientRegion, 0, 64, ALWAYS, i);
            spin(serverQueue, batch, i);
            spin(clientQueue, batch, i);
            ends.client.write(ends.serverMemory, 0, ends.clientRegion, 0, 64, ALWAYS, i);
            spin(clientQueue, batch, i);
            ends.client.atomicWrite(ends.serverMemory, 64, i, ALWAYS, i);
            spin(clientQueue, batch, i);
            clientQueue.consumeEvent();
            serverQueue.consumeEvent();
        }
    }

    private static void spin(CompletionQueue queue, WorkCompletions batch, long context) throws RpmaException {
        while (queue.poll(batch) == 0) {
            Thread.onSpinWait();
        }
        if (batch.context(0) != context || batch.statusCode(0) != 0) {
            throw new AssertionError("context " + batch.context(0) + ", status " + batch.status(0));
        }
    }
}
