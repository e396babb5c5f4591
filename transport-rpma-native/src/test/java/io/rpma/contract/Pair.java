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
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.Peer;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * Two ends of one connection in this process. They are connected through a listening endpoint on the calling thread. Each end has
 * a region with every usage, which the other end can access.
 */
final class Pair implements AutoCloseable {
    /** The size of each end's region in bytes. */
    static final int SIZE = 64 << 10;

    final Peer peer;
    final Connection client;
    final Connection server;
    final LocalMemoryRegion clientMemory;
    final LocalMemoryRegion serverMemory;
    /** The server's region, opened by the client. */
    final RemoteMemoryRegion atServer;
    /** The client's region, opened by the server. */
    final RemoteMemoryRegion atClient;
    final Memory memory;

    private final Scope scope = new Scope();

    private Pair(Builder wish) throws RpmaException {
        boolean whole = false;
        try {
            peer = wish.peer != null ? wish.peer : scope.own(Contract.DEVICE.newPeer());
            memory = scope.own(new Memory());
            clientMemory = scope.own(memory.region(peer, SIZE, Memory.ALL));
            serverMemory = scope.own(memory.region(peer, SIZE, Memory.ALL));
            atServer = scope.own(remote(serverMemory));
            atClient = scope.own(remote(clientMemory));
            Endpoint endpoint = wish.endpoint != null ? wish.endpoint : scope.own(peer.listen(Contract.anyPort()));
            try (ConnectionConfig clientConfig = wish.config(wish.clientSetup);
                ConnectionConfig serverConfig = wish.config(wish.serverSetup)) {
                ConnectionRequest outgoing = scope.own(peer.newConnectionRequest(endpoint.localAddress(), clientConfig));
                wish.beforeConnect.with(outgoing, this);
                client = scope.own(outgoing.connect(buffer(wish.clientData)));
                ConnectionRequest incoming = scope.own(Wait.request(endpoint, serverConfig));
                wish.beforeAccept.with(incoming, this);
                server = scope.own(incoming.connect(buffer(wish.serverData)));
            }
            Wait.event(ConnectionEvent.ESTABLISHED, client);
            Wait.event(ConnectionEvent.ESTABLISHED, server);
            whole = true;
        } finally {
            if (!whole) {
                scope.close();
            }
        }
    }

    /** Returns a builder for a pair. */
    static Builder with() {
        return new Builder();
    }

    /** Returns a pair with 16 slots in every work queue and all completions in one queue. */
    static Pair plain() throws RpmaException {
        return with().connect();
    }

    /** Opens a region as the other side would do. */
    static RemoteMemoryRegion remote(LocalMemoryRegion region) throws RpmaException {
        ByteBuffer descriptor = ByteBuffer.allocate(region.descriptorSize());
        region.descriptor(descriptor);
        return Contract.PROVIDER.openRemoteRegion(descriptor.flip());
    }

    /** Registers a resource that is closed together with the pair. */
    <T extends AutoCloseable> T own(T resource) {
        return scope.own(resource);
    }

    /** Sends a message in each direction to check that the connection works. */
    void exchange() throws RpmaException {
        carry(client, clientMemory, server, serverMemory);
        carry(server, serverMemory, client, clientMemory);
    }

    private static void carry(Connection from, LocalMemoryRegion source, Connection to, LocalMemoryRegion target)
            throws RpmaException {
        to.receive(target, SIZE - 64, 64, 1);
        Memory.fill(source, SIZE - 128, 64, 77);
        from.send(source, SIZE - 128, 64, CompletionFlag.ALWAYS, 2);
        assertEquals(64, Wait.success(receives(to)).byteLength());
        assertEquals(2, Wait.success(from.completionQueue()).context());
        Memory.assertFilled(target, SIZE - 64, 64, 77);
    }

    private static io.rpma.CompletionQueue receives(Connection connection) {
        return connection.receiveCompletionQueue() != null
            ? connection.receiveCompletionQueue() : connection.completionQueue();
    }

    private static ByteBuffer buffer(byte[] data) {
        return data == null ? null : ByteBuffer.wrap(data);
    }

    @Override
    public void close() {
        scope.close();
    }

    /** Changes a configuration. */
    @FunctionalInterface
    interface Setup {
        void to(ConnectionConfig config) throws RpmaException;
    }

    /** Prepares a request before it is connected; only the memory of the pair exists at that time. */
    @FunctionalInterface
    interface Preparation {
        void with(ConnectionRequest request, Pair pair) throws RpmaException;
    }

    /** Builds a pair. */
    static final class Builder {
        private final List<Setup> clientSetup = new ArrayList<>();
        private final List<Setup> serverSetup = new ArrayList<>();
        private Peer peer;
        private Endpoint endpoint;
        private byte[] clientData;
        private byte[] serverData;
        private Preparation beforeConnect = (request, pair) -> { };
        private Preparation beforeAccept = (request, pair) -> { };

        Builder peer(Peer shared) {
            peer = shared;
            return this;
        }

        Builder endpoint(Endpoint shared) {
            endpoint = shared;
            return this;
        }

        Builder client(Setup setup) {
            clientSetup.add(setup);
            return this;
        }

        Builder server(Setup setup) {
            serverSetup.add(setup);
            return this;
        }

        Builder both(Setup setup) {
            return client(setup).server(setup);
        }

        Builder clientData(byte[] data) {
            clientData = data;
            return this;
        }

        Builder serverData(byte[] data) {
            serverData = data;
            return this;
        }

        Builder beforeConnect(Preparation preparation) {
            beforeConnect = preparation;
            return this;
        }

        Builder beforeAccept(Preparation preparation) {
            beforeAccept = preparation;
            return this;
        }

        Pair connect() throws RpmaException {
            return new Pair(this);
        }

        private ConnectionConfig config(List<Setup> setups) throws RpmaException {
            ConnectionConfig config = Contract.PROVIDER.newConnectionConfig();
            config.timeoutMillis((int) Contract.DEADLINE).sendQueueSize(16).receiveQueueSize(16).completionQueueSize(32);
            for (Setup setup : setups) {
                setup.to(config);
            }
            return config;
        }
    }
}
