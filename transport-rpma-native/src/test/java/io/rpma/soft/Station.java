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

import io.rpma.AddressRange;
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
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The objects that one side of a test needs: a peer, memory that peers can map and that is registered for all usages, and waiting
 * with a deadline.
 */
public final class Station implements AutoCloseable {
    static final Set<MemoryUsage> ALL = EnumSet.allOf(MemoryUsage.class);
    static final long SIZE = 1 << 24;
    private static final int DEADLINE_MILLIS = 60_000;
    private static final int SPINS = 2_000;
    private static final boolean ONE_PROCESSOR = Runtime.getRuntime().availableProcessors() == 1;

    final RpmaProvider provider = SoftProvider.instance();
    final Peer peer;
    final AddressRange range;
    final MemorySegment memory;
    final LocalMemoryRegion region;

    Station() throws RpmaException {
        peer = provider.devices().getFirst().newPeer();
        range = provider.reserve(4 * SIZE);
        memory = range.commit(0, SIZE);
        region = peer.register(memory, ALL);
    }

    /** Listens on a port of the loopback address. */
    Endpoint listen() throws RpmaException {
        return peer.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    /** Connects to a port of the loopback address and waits until the connection is established. */
    Connection connect(int port, ConnectionConfig config, int receives) throws RpmaException {
        ConnectionRequest request =
            peer.newConnectionRequest(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), config);
        for (int i = 0; i < receives; i++) {
            request.receive(region, i * 64L, 64, i);
        }
        Connection connection = request.connect(null);
        expect(ConnectionEvent.ESTABLISHED, connection);
        return connection;
    }

    /** Opens the region as a peer would do. */
    RemoteMemoryRegion describe(LocalMemoryRegion local) throws RpmaException {
        ByteBuffer descriptor = ByteBuffer.allocate(local.descriptorSize());
        local.descriptor(descriptor);
        return provider.openRemoteRegion(descriptor.flip());
    }

    static ConnectionRequest awaitRequest(Endpoint endpoint, ConnectionConfig config) throws RpmaException {
        ConnectionRequest request = endpoint.nextConnectionRequest(config);
        while (request == null) {
            awaitReadable(endpoint.fd(), "connection request");
            request = endpoint.nextConnectionRequest(config);
        }
        return request;
    }

    static ConnectionEvent awaitEvent(Connection connection) throws RpmaException {
        ConnectionEvent event = connection.nextEvent();
        while (event == null) {
            awaitReadable(connection.eventFd(), "connection event");
            event = connection.nextEvent();
        }
        return event;
    }

    static void expect(ConnectionEvent expected, Connection connection) throws RpmaException {
        ConnectionEvent event = awaitEvent(connection);
        if (event != expected) {
            throw new AssertionError("expected the event " + expected + ", but it was " + event);
        }
    }

    static void awaitReadable(int fd, String what) {
        if (Sockets.poll(fd, (short) Sockets.EPOLLIN, DEADLINE_MILLIS) <= 0) {
            throw new AssertionError("no " + what + " within " + DEADLINE_MILLIS + " ms");
        }
    }

    public static boolean isReadable(int fd) {
        return Sockets.poll(fd, (short) Sockets.EPOLLIN, 0) > 0;
    }

    /**
     * Returns how many messages a test sends. The number is smaller if each message needs two context switches of the only
     * processor.
     */
    public static int affordable(int most) {
        return ONE_PROCESSOR ? most / 10 : most;
    }

    /** Called between two polls. On a machine with one processor, the other process needs the processor to make progress. */
    public static void pause() {
        if (ONE_PROCESSOR) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }

    /** How a side waits for completions. */
    enum Waiting {
        /** Polls without sleeping. */
        SPINNING,
        /** Sleeps whenever there are no completions. */
        BLOCKING,
        /** Spins for a random time, then sleeps. */
        MIXED
    }

    /** Polls completions; waits until there is at least one. */
    static int await(CompletionQueue queue, WorkCompletions batch, Waiting waiting) throws RpmaException {
        int count = queue.poll(batch);
        int spins = waiting == Waiting.BLOCKING ? 0 : waiting == Waiting.MIXED
            ? ThreadLocalRandom.current().nextInt(SPINS) : Integer.MAX_VALUE;
        long deadline = System.nanoTime() + DEADLINE_MILLIS * 1_000_000L;
        while (count == 0) {
            if (spins-- > 0) {
                pause();
                if ((spins & 0xffff) == 0 && System.nanoTime() > deadline) {
                    throw new AssertionError("no completion within " + DEADLINE_MILLIS + " ms");
                }
                count = queue.poll(batch);
                continue;
            }
            // Consuming the event arms the queue. Completions between that and the wait are found by polling once more.
            queue.consumeEvent();
            count = queue.poll(batch);
            if (count == 0) {
                awaitReadable(queue.fd(), "completion");
                queue.consumeEvent();
                count = queue.poll(batch);
            }
        }
        return count;
    }

    /** Waits for one completion and checks it. */
    static void expect(CompletionQueue queue, long context, int status) throws RpmaException {
        WorkCompletions one = new WorkCompletions(1);
        await(queue, one, Waiting.BLOCKING);
        if (one.context(0) != context || one.statusCode(0) != status) {
            throw new AssertionError("expected context " + context + " with status " + status + ", but it was "
                + one.context(0) + " with status " + one.statusCode(0));
        }
    }

    @Override
    public void close() throws RpmaException {
        region.close();
        range.close();
        peer.close();
    }
}
