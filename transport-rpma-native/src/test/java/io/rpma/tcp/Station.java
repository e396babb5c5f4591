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
package io.rpma.tcp;

import io.rpma.AddressRange;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.WorkCompletions;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

/** A listener of this provider with a piece of registered memory. */
final class Station implements AutoCloseable {
    static final int SIZE = 1 << 20;
    static final Duration LONG = Duration.ofSeconds(30);
    private static final Set<MemoryUsage> ALL = EnumSet.allOf(MemoryUsage.class);

    final RpmaProvider provider = TcpProvider.instance();
    final Peer peer;
    final Endpoint endpoint;
    final LocalMemoryRegion region;
    private final AddressRange range;

    Station() throws RpmaException {
        peer = provider.devices().getFirst().newPeer();
        endpoint = peer.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        range = provider.reserve(SIZE);
        region = peer.register(range.commit(0, SIZE), ALL);
    }

    /** Returns a request to connect to an address, which waits long enough for the greeting on a busy machine too. */
    ConnectionRequest request(InetSocketAddress to) throws RpmaException {
        try (ConnectionConfig config = provider.newConnectionConfig().timeoutMillis((int) LONG.toMillis())) {
            return peer.newConnectionRequest(to, config);
        }
    }

    InetSocketAddress address() {
        return endpoint.localAddress();
    }

    /** Returns the key of the region. */
    long key() throws RpmaException {
        return key(region);
    }

    /** Returns the key of a region. */
    static long key(LocalMemoryRegion region) throws RpmaException {
        ByteBuffer descriptor = ByteBuffer.allocate(region.descriptorSize()).order(ByteOrder.LITTLE_ENDIAN);
        region.descriptor(descriptor);
        return descriptor.getInt(16) & 0xffff_ffffL;
    }

    /** Accepts the next client, with a receive of 64 bytes. */
    Connection accept() throws Exception {
        try (ConnectionConfig config = provider.newConnectionConfig().completionQueueSize(64)) {
            ConnectionRequest request = endpoint.waitForConnectionRequest(config, LONG);
            assertNotNull(request, "no request");
            request.receive(region, 0, 64, 7);
            return request.connect(null);
        }
    }

    /** Accepts a raw client and completes its connection. */
    Connection accept(RawClient client) throws Exception {
        Connection connection = accept();
        client.establish();
        assertEquals(ConnectionEvent.ESTABLISHED, connection.waitForEvent(LONG));
        return connection;
    }

    /** Checks that a real client is served, and that its message is received. */
    void serves() throws Exception {
        try (ConnectionRequest request = request(address()); Connection client = request.connect(null);
                Connection server = accept()) {
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(LONG));
            client.send(region, 64, 8, io.rpma.CompletionFlag.ALWAYS, 1);
            WorkCompletions batch = new WorkCompletions(1);
            assertEquals(1, server.completionQueue().poll(batch, LONG));
            assertEquals(0, batch.statusCode(0));
            assertEquals(1, client.completionQueue().poll(batch, LONG));
            assertEquals(0, batch.statusCode(0));
        }
    }

    /** Has a thread wait for a latch. Returns when it waits. */
    static void hold(Executor thread, CountDownLatch held) throws InterruptedException {
        CountDownLatch holding = new CountDownLatch(1);
        thread.execute(() -> {
            holding.countDown();
            await(held);
        });
        holding.await();
    }

    /** Waits for a latch, on a thread that is not interrupted. */
    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the value of a field that only its class uses. */
    static Object field(Object of, String name) throws ReflectiveOperationException {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    @Override
    public void close() throws RpmaException {
        region.close();
        range.close();
        endpoint.close();
        peer.close();
    }
}
