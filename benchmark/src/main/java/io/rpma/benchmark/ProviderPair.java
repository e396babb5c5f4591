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
package io.rpma.benchmark;

import io.rpma.AddressRange;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.RemoteMemoryRegion;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;

/**
 * Two ends of one connection within this process. Each end has memory that supports all operations. Not safe for use by several
 * threads.
 */
final class ProviderPair implements AutoCloseable {
    /** The size of each end's memory in bytes. */
    private static final int SIZE = 1 << 20;
    private static final long PATIENCE_SECONDS = 10;

    private final Deque<AutoCloseable> owned = new ArrayDeque<>();
    private final Connection client;
    private final Connection server;
    private final LocalMemoryRegion clientMemory;
    private final LocalMemoryRegion serverMemory;
    private final RemoteMemoryRegion atServer;
    private final Peer peer;
    private final Endpoint endpoint;
    private final ConnectionConfig config;

    /**
     * Connects the two ends.
     *
     * @param depth how many work requests can be posted to each queue
     */
    ProviderPair(int depth) throws RpmaException {
        RpmaProvider provider = Rpma.provider();
        InetAddress host = provider.reachable(InetAddress.getLoopbackAddress());
        peer = own(provider.localDevice(host).newPeer());
        AddressRange range = own(provider.reserve(2 * SIZE));
        clientMemory = own(peer.register(range.commit(0, SIZE), EnumSet.allOf(MemoryUsage.class)));
        serverMemory = own(peer.register(range.commit(SIZE, SIZE), EnumSet.allOf(MemoryUsage.class)));
        ByteBuffer descriptor = ByteBuffer.allocate(serverMemory.descriptorSize());
        serverMemory.descriptor(descriptor);
        atServer = own(provider.openRemoteRegion(descriptor.flip()));
        endpoint = own(peer.listen(new InetSocketAddress(host, 0)));
        config = own(provider.newConnectionConfig());
        config.sendQueueSize(depth).receiveQueueSize(depth).completionQueueSize(2 * depth);
        client = own(peer.newConnectionRequest(endpoint.localAddress(), config).connect(null));
        server = own(accept(endpoint, config).connect(null));
        awaitEstablished(client);
        awaitEstablished(server);
    }

    /** Connects two other ends, and closes them. */
    void connectAndClose() throws RpmaException {
        try (Connection from = peer.newConnectionRequest(endpoint.localAddress(), config).connect(null);
                Connection to = accept(endpoint, config).connect(null)) {
            awaitEstablished(from);
            awaitEstablished(to);
        }
    }

    Connection client() {
        return client;
    }

    Connection server() {
        return server;
    }

    LocalMemoryRegion clientMemory() {
        return clientMemory;
    }

    LocalMemoryRegion serverMemory() {
        return serverMemory;
    }

    /** Returns the server's memory as a remote memory region of the client. */
    RemoteMemoryRegion atServer() {
        return atServer;
    }

    private <T extends AutoCloseable> T own(T resource) {
        owned.push(resource);
        return resource;
    }

    private static ConnectionRequest accept(Endpoint endpoint, ConnectionConfig config) throws RpmaException {
        long deadline = deadline();
        ConnectionRequest request = endpoint.nextConnectionRequest(config);
        while (request == null) {
            spin(deadline);
            request = endpoint.nextConnectionRequest(config);
        }
        return request;
    }

    private static void awaitEstablished(Connection connection) throws RpmaException {
        long deadline = deadline();
        ConnectionEvent event = connection.nextEvent();
        while (event == null) {
            spin(deadline);
            event = connection.nextEvent();
        }
        if (event != ConnectionEvent.ESTABLISHED) {
            throw new IllegalStateException("the connection is not established but " + event);
        }
    }

    private static long deadline() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    }

    private static void spin(long deadline) {
        if (System.nanoTime() - deadline > 0) {
            throw new IllegalStateException("no connection within " + PATIENCE_SECONDS + " s");
        }
        Thread.onSpinWait();
    }

    @Override
    public void close() throws RpmaException {
        while (!owned.isEmpty()) {
            try {
                owned.pop().close();
            } catch (RpmaException | RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
