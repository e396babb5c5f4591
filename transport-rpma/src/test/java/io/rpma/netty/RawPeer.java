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

package io.rpma.netty;

import io.rpma.AddressRange;
import io.rpma.CompletionFlag;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Device;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.RemoteMemoryRegion;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.WorkCompletions;
import io.rpma.netty.stream.Immediate;
import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;

/**
 * A peer that uses {@code io.rpma} directly, so that it can send any message. The 32 bits of a message travel as those of a
 * stream do: as immediate data, or in front of the message if the device has no immediate data. In the second case {@link
 * #receive()} also confirms the end of a stream, and ignores the confirmation of the end that this peer has sent.
 */
final class RawPeer implements AutoCloseable {
    /** The number of receives that are posted. */
    static final int SLOTS = 32;
    private static final int SLOT_BYTES = 16 << 10;
    private static final long MEMORY_BYTES = 2L * SLOTS * SLOT_BYTES;
    /** The number of places for messages to be sent. The message in the last place may be longer than a slot. */
    private static final int PLACES = SLOTS - 1;
    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int TIMEOUT_MILLIS = 30_000;
    private static final MethodHandle POLL = Posix.downcall("poll",
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));

    private final RpmaProvider provider = Rpma.provider();
    private final InetAddress address;
    private final Peer peer;
    private final AddressRange range;
    private final LocalMemoryRegion region;
    private final WorkCompletions batch = new WorkCompletions(1);
    private boolean prefixed;
    private Endpoint endpoint;
    private Connection connection;
    private long sends;
    private long sendsDone;

    RawPeer() throws RpmaException {
        address = provider.reachable(InetAddress.getLoopbackAddress());
        Device device = provider.localDevice(address);
        prefixed = !device.hasImmediateData();
        peer = device.newPeer();
        range = provider.reserve(MEMORY_BYTES);
        region = peer.register(range.commit(0, MEMORY_BYTES), EnumSet.allOf(MemoryUsage.class));
    }

    /** Returns whether the device of these tests has no immediate data. */
    static boolean isPrefixed() {
        try {
            InetAddress address = Rpma.provider().reachable(InetAddress.getLoopbackAddress());
            return !Rpma.provider().localDevice(address).hasImmediateData();
        } catch (RpmaException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Sends the 32 bits in front of the messages from now on, whatever the device has. */
    RawPeer prefixed() {
        prefixed = true;
        return this;
    }

    private ConnectionConfig config() throws RpmaException {
        return provider.newConnectionConfig().timeoutMillis(30_000).sendQueueSize(SLOTS).receiveQueueSize(SLOTS)
            .completionQueueSize(2 * SLOTS);
    }

    private void postReceives(ConnectionRequest request) throws RpmaException {
        for (int slot = 0; slot < SLOTS; slot++) {
            request.receive(region, (long) slot * SLOT_BYTES, SLOT_BYTES, slot);
        }
    }

    /** Connects and returns the first event. */
    ConnectionEvent connect(InetSocketAddress to, ByteBuffer privateData) throws RpmaException {
        request(to, privateData);
        return nextEvent();
    }

    /** Requests a connection without waiting for an event. */
    void request(InetSocketAddress to, ByteBuffer privateData) throws RpmaException {
        try (ConnectionConfig config = config()) {
            ConnectionRequest request = peer.newConnectionRequest(to, config);
            postReceives(request);
            connection = request.connect(privateData);
        }
    }

    /** Listens on a port that the system chooses. */
    InetSocketAddress listen() throws RpmaException {
        endpoint = peer.listen(new InetSocketAddress(address, 0));
        return endpoint.localAddress();
    }

    /** Waits for a client and answers it. */
    void accept(ByteBuffer privateData) throws RpmaException {
        try (ConnectionConfig config = config()) {
            ConnectionRequest request = endpoint.nextConnectionRequest(config);
            while (request == null) {
                await(endpoint.fd());
                request = endpoint.nextConnectionRequest(config);
            }
            postReceives(request);
            connection = request.connect(privateData);
        }
    }

    ConnectionEvent nextEvent() throws RpmaException {
        ConnectionEvent event = connection.nextEvent();
        while (event == null) {
            await(connection.eventFd());
            event = connection.nextEvent();
        }
        return event;
    }

    ByteBuffer peerData() throws RpmaException {
        return connection.privateData();
    }

    /** Sends this number of bytes with this immediate data. */
    void send(int bytes, int immediate) throws RpmaException {
        if (prefixed) {
            place().set(WORD, 0, immediate);
            sendPlain(Integer.BYTES + bytes);
            return;
        }
        connection.sendWithImmediate(bytes == 0 ? null : region, bytes == 0 ? 0 : offset(), bytes, CompletionFlag.ALWAYS,
            immediate, ++sends << 32);
    }

    /** Returns the offset of the next message. Each message has a place of its own, because a device may read it later. */
    private long offset() {
        return (SLOTS + sends % PLACES) * SLOT_BYTES;
    }

    private MemorySegment place() {
        return region.memory().asSlice(offset());
    }

    /** Sends these bytes with this immediate data. */
    void send(byte[] bytes, int immediate) throws RpmaException {
        place().asSlice(prefixed ? Integer.BYTES : 0, bytes.length).copyFrom(MemorySegment.ofArray(bytes));
        send(bytes.length, immediate);
    }

    /** Writes this number of bytes to the beginning of the other side's memory, which may be {@code null} if there are none. */
    void write(RemoteMemoryRegion target, int bytes, int immediate) throws RpmaException {
        LocalMemoryRegion source = bytes == 0 ? null : region;
        long offset = bytes == 0 ? 0 : (long) SLOTS * SLOT_BYTES;
        if (prefixed) {
            connection.write(target, 0, source, offset, bytes, CompletionFlag.ALWAYS, ++sends << 32);
            place().set(WORD, Integer.BYTES, bytes);
            send(Integer.BYTES, immediate);
            return;
        }
        connection.writeWithImmediate(target, 0, source, offset, bytes, CompletionFlag.ALWAYS, immediate, ++sends << 32);
    }

    /** Returns the first bytes of the message that was received last. Its receive is not posted again. */
    byte[] received(int bytes) {
        return region.memory().asSlice(batch.context(0) * SLOT_BYTES + prefix(), bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Posts every receive again. All of them must have completed. */
    void postReceivesAgain() throws RpmaException {
        for (int slot = 0; slot < SLOTS; slot++) {
            connection.receive(region, (long) slot * SLOT_BYTES, SLOT_BYTES, slot);
        }
    }

    /** Returns the first bytes of this peer's memory. */
    byte[] memory(int bytes) {
        return region.memory().asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Returns the length of the message that was received last. */
    int receivedBytes() {
        return batch.byteLength(0) - prefix();
    }

    private int prefix() {
        return prefixed ? Integer.BYTES : 0;
    }

    /** Sends this number of bytes without the 32 bits that say what they are. */
    void sendPlain(int bytes) throws RpmaException {
        connection.send(region, offset(), bytes, CompletionFlag.ALWAYS, ++sends << 32);
    }

    /** Returns the descriptor of this peer's memory. */
    ByteBuffer descriptor() throws RpmaException {
        ByteBuffer descriptor = ByteBuffer.allocate(region.descriptorSize());
        region.descriptor(descriptor);
        return descriptor.flip();
    }

    /** Waits for a message and returns its 32 bits. Completed sends are only counted. */
    int receive() throws RpmaException {
        for (;;) {
            if (connection.completionQueue().poll(batch) == 0) {
                connection.completionQueue().consumeEvent();
                if (connection.completionQueue().poll(batch) == 0) {
                    await(connection.completionQueue().fd());
                    continue;
                }
            }
            if (batch.statusCode(0) != 0) {
                throw new IllegalStateException("completion: " + batch.status(0));
            }
            if (batch.context(0) < SLOTS) {
                if (!prefixed) {
                    return batch.immediate(0);
                }
                int bits = region.memory().get(WORD, batch.context(0) * SLOT_BYTES);
                if (Immediate.kind(bits) == Immediate.FIN) {
                    send(0, Immediate.of(Immediate.SEEN, 0));
                }
                if (Immediate.kind(bits) != Immediate.SEEN) {
                    return bits;
                }
            } else {
                sendsDone++;
            }
        }
    }

    /** Waits until all sends have completed. Messages that are received meanwhile are lost. */
    void awaitSends() throws RpmaException {
        while (sendsDone < sends) {
            if (connection.completionQueue().poll(batch) == 0) {
                Thread.onSpinWait();
            } else if (batch.statusCode(0) != 0) {
                throw new IllegalStateException("completion: " + batch.status(0));
            } else if (batch.context(0) >= SLOTS) {
                sendsDone++;
            }
        }
    }

    private static void await(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment poll = arena.allocate(8, 4);
            poll.set(ValueLayout.JAVA_INT, 0, fd);
            poll.set(ValueLayout.JAVA_SHORT, 4, (short) 1);
            int ready = (int) POLL.invokeExact(poll, 1L, TIMEOUT_MILLIS);
            if (ready == 0) {
                throw new AssertionError("nothing happened within " + TIMEOUT_MILLIS + " ms");
            }
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    void disconnect() throws RpmaException {
        connection.close();
    }

    @Override
    public void close() throws RpmaException {
        if (connection != null) {
            connection.close();
        }
        if (endpoint != null) {
            endpoint.close();
        }
        region.close();
        range.close();
        peer.close();
    }
}
