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

package io.rpma.chaos.hostile;

import io.rpma.AddressRange;
import io.rpma.CompletionFlag;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.RemoteMemoryRegion;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.WorkCompletions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.concurrent.locks.LockSupport;

/** A peer that uses {@code io.rpma} directly, so that it can send arbitrary data. It has one connection at a time. */
final class RawPeer {
    private static final int SLOTS = 32;
    private static final int SLOT_BYTES = 16 << 10;
    private static final int PATIENCE_MILLIS = 20_000;
    private static final long NAP_NANOS = 100_000;

    private final RpmaProvider provider = Rpma.provider();
    private final Peer peer;
    private final LocalMemoryRegion region;
    private final WorkCompletions batch = new WorkCompletions(1);
    private Connection connection;
    private byte[] grant;

    RawPeer(InetSocketAddress server) throws RpmaException {
        peer = provider.localDevice(server.getAddress()).newPeer();
        AddressRange range = provider.reserve(2L * SLOTS * SLOT_BYTES);
        region = peer.register(range.commit(0, 2L * SLOTS * SLOT_BYTES), EnumSet.allOf(MemoryUsage.class));
    }

    /** Connects. Returns the first event, or {@code null} if there was none. */
    ConnectionEvent connect(InetSocketAddress to, ByteBuffer privateData) throws RpmaException {
        grant = null;
        try (ConnectionConfig config = provider.newConnectionConfig().timeoutMillis(2000).sendQueueSize(SLOTS)
            .receiveQueueSize(SLOTS).completionQueueSize(2 * SLOTS)) {
            ConnectionRequest request = peer.newConnectionRequest(to, config);
            for (int slot = 0; slot < SLOTS; slot++) {
                request.receive(region, (long) slot * SLOT_BYTES, SLOT_BYTES, slot);
            }
            connection = request.connect(privateData);
        }
        return awaitEvent(PATIENCE_MILLIS);
    }

    private ConnectionEvent awaitEvent(long millis) throws RpmaException {
        long end = System.nanoTime() + millis * 1_000_000;
        ConnectionEvent event = connection.nextEvent();
        while (event == null && System.nanoTime() < end) {
            LockSupport.parkNanos(NAP_NANOS);
            event = connection.nextEvent();
        }
        return event;
    }

    /** Returns the private data of the server; it is empty if there is none. */
    ByteBuffer peerData() throws RpmaException {
        return connection.privateData();
    }

    /** Sends the given number of arbitrary bytes with immediate data. */
    void send(int bytes, int immediate) throws RpmaException {
        connection.sendWithImmediate(bytes == 0 ? null : region, bytes == 0 ? 0 : (long) SLOTS * SLOT_BYTES, bytes,
            CompletionFlag.ALWAYS, immediate, SLOTS);
    }

    /** Sends the given bytes with immediate data. */
    void send(byte[] bytes, int immediate) throws RpmaException {
        region.memory().asSlice((long) SLOTS * SLOT_BYTES, bytes.length).copyFrom(MemorySegment.ofArray(bytes));
        send(bytes.length, immediate);
    }

    /** Sends the given number of bytes without immediate data. */
    void sendPlain(int bytes) throws RpmaException {
        connection.send(region, (long) SLOTS * SLOT_BYTES, bytes, CompletionFlag.ALWAYS, SLOTS);
    }

    /** Performs a write of zero bytes with immediate data. */
    void writeNothing(int immediate) throws RpmaException {
        connection.writeWithImmediate(null, 0, null, 0, 0, CompletionFlag.ALWAYS, immediate, SLOTS);
    }

    /** Writes to the memory of the other side. */
    void write(RemoteMemoryRegion target, long offset, int bytes, int immediate) throws RpmaException {
        connection.writeWithImmediate(target, offset, region, (long) SLOTS * SLOT_BYTES, bytes, CompletionFlag.ALWAYS, immediate,
            SLOTS);
    }

    /** Returns the descriptor of this peer's memory. */
    byte[] descriptor() throws RpmaException {
        ByteBuffer descriptor = ByteBuffer.allocate(region.descriptorSize());
        region.descriptor(descriptor);
        return descriptor.array();
    }

    /**
     * Returns the last received message that has at least a minimum length, such as the grant of an area; {@code null} if there
     * is none.
     */
    byte[] grant() {
        return grant;
    }

    /** Processes completions until all sends have completed or one has failed. Returns whether all of them succeeded. */
    boolean poll() throws RpmaException {
        int none = 0;
        while (none < 20) {
            if (connection.completionQueue().poll(batch) == 0) {
                none++;
                LockSupport.parkNanos(NAP_NANOS);
                continue;
            }
            if (batch.statusCode(0) != 0) {
                return false;
            }
            if (batch.context(0) < SLOTS) {
                if (batch.byteLength(0) > 1 && batch.immediate(0) >>> 28 == 4) {
                    grant = region.memory().asSlice(batch.context(0) * SLOT_BYTES, batch.byteLength(0))
                        .toArray(ValueLayout.JAVA_BYTE);
                }
                connection.receive(region, batch.context(0) * SLOT_BYTES, SLOT_BYTES, batch.context(0));
            }
        }
        return true;
    }

    /** Waits until the server closes the connection. Returns whether it did. */
    boolean isEnded(long millis) throws RpmaException {
        ConnectionEvent event = awaitEvent(millis);
        return event == ConnectionEvent.CLOSED || event == ConnectionEvent.LOST || event == ConnectionEvent.REJECTED;
    }

    void close() throws RpmaException {
        if (connection != null) {
            connection.close();
            connection = null;
        }
    }
}
