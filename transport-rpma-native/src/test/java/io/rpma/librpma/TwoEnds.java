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

import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.WorkCompletions;
import io.rpma.posix.Sockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;

/** Two connected ends on one thread, each with a registered region. Everything is closed in reverse order. */
final class TwoEnds implements AutoCloseable {
    static final int REGION_SIZE = 1 << 16;
    static final Duration LIMIT = Duration.ofSeconds(20);

    final RpmaProvider provider;
    final Peer peer;
    final Endpoint endpoint;
    final Connection client;
    final Connection server;
    final LocalMemoryRegion clientRegion;
    final LocalMemoryRegion serverRegion;
    final RemoteMemoryRegion serverMemory;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    TwoEnds(RpmaProvider provider, ConnectionConfig config) throws Exception {
        this(provider, config, provider.reachable(InetAddress.getByName("127.0.0.1")));
    }

    TwoEnds(RpmaProvider provider, ConnectionConfig config, InetAddress address) throws RpmaException, InterruptedException {
        this.provider = provider;
        try {
            peer = opened(provider.localDevice(address).newPeer());
            clientRegion = opened(register(peer, REGION_SIZE, usages(peer)));
            serverRegion = opened(register(peer, REGION_SIZE, usages(peer)));
            serverMemory = opened(remote(provider, serverRegion));
            endpoint = opened(peer.listen(new InetSocketAddress(address, 0)));
            ConnectionRequest outgoing = opened(peer.newConnectionRequest(endpoint.localAddress(), config));
            client = opened(outgoing.connect(null));
            ConnectionRequest incoming = opened(request(endpoint, config));
            server = opened(incoming.connect(null));
            establish(client, server);
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /**
     * Returns all usages that ordinary memory can be registered for. One usage is missing if the device refuses memory that is
     * not persistent.
     */
    static Set<MemoryUsage> usages(Peer peer) throws RpmaException {
        Set<MemoryUsage> all = EnumSet.allOf(MemoryUsage.class);
        try {
            register(peer, 4096, all).close();
        } catch (RpmaException e) {
            if (!e.getMessage().contains("FLUSH_PERSISTENT: ")) {
                throw e;
            }
            all.remove(MemoryUsage.FLUSH_PERSISTENT);
        }
        return all;
    }

    static void establish(Connection client, Connection server) throws RpmaException, InterruptedException {
        if (client.waitForEvent(LIMIT) != ConnectionEvent.ESTABLISHED
                || server.waitForEvent(LIMIT) != ConnectionEvent.ESTABLISHED) {
            throw new AssertionError("not established");
        }
    }

    static ConnectionRequest request(Endpoint endpoint, ConnectionConfig config) throws RpmaException, InterruptedException {
        ConnectionRequest request = endpoint.waitForConnectionRequest(config, LIMIT);
        if (request == null) {
            throw new AssertionError("no connection request within " + LIMIT);
        }
        return request;
    }

    /** Waits for at least one completion. Returns the number of completions. */
    static int completions(CompletionQueue queue, WorkCompletions completions) throws RpmaException, InterruptedException {
        int count = queue.poll(completions, LIMIT);
        if (count == 0) {
            throw new AssertionError("no completion within " + LIMIT);
        }
        return count;
    }

    /** Waits for a descriptor, without taking its event. */
    static void readable(int fd, String what) {
        if (Sockets.poll(fd, (short) Sockets.EPOLLIN, (int) LIMIT.toMillis()) == 0) {
            throw new AssertionError(what + " did not occur within " + LIMIT);
        }
    }

    static LocalMemoryRegion register(Peer peer, long size, Set<MemoryUsage> usages) throws RpmaException {
        MemorySegment memory = Arena.ofAuto().allocate(size, 4096);
        return peer.register(memory, usages);
    }

    static RemoteMemoryRegion remote(RpmaProvider provider, LocalMemoryRegion region) throws RpmaException {
        ByteBuffer descriptor = ByteBuffer.allocate(region.descriptorSize());
        region.descriptor(descriptor);
        return provider.openRemoteRegion(descriptor.flip());
    }

    <T extends AutoCloseable> T opened(T closeable) {
        open.push(closeable);
        return closeable;
    }

    @Override
    public void close() {
        AssertionError failure = null;
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception e) {
                if (failure == null) {
                    failure = new AssertionError("closing failed", e);
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
