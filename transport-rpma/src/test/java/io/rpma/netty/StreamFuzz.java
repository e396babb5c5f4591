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

import io.netty.buffer.ByteBuf;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.rpma.AddressRange;
import io.rpma.CompletionOpcode;
import io.rpma.CompletionStatus;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.NativeMemory;
import io.rpma.RemoteMemoryRegion;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.RpmaByteBuf;
import io.rpma.netty.pair.QueuePairListener;
import io.rpma.netty.receive.ReceiveBuffers;
import io.rpma.netty.stream.BulkAreas;
import io.rpma.netty.stream.Handshake;
import io.rpma.netty.stream.Immediate;
import io.rpma.netty.stream.PrefixWire;
import io.rpma.netty.stream.StreamOpening;
import io.rpma.netty.stream.StreamQueuePair;
import io.rpma.netty.stream.StreamSender;
import io.rpma.netty.stream.StreamSizes;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Plays the peer of streams, one after the other. Most messages keep to the protocol and some consist of random bits. The
 * application on this side reads, writes and closes at random. The peer follows {@code docs/protocol.md}. It checks that a stream
 * lives exactly as long as no rule is broken, that the bytes that are read are those that were sent, that each receive is posted
 * exactly once, and that all memory is returned. In half of the streams the 32 bits of each message travel in front of it. No
 * device and no other process is involved.
 *
 * <p>The same seed leads to the same messages. Usage as a program: {@code StreamFuzz [SEED [FRAMES]]}.
 */
final class StreamFuzz {
    private static final int MOST_BATCH = 8;
    /** Whether the 32 bits travel in front of the messages of all streams, because the device has no immediate data. */
    private static final boolean PREFIXED = RawPeer.isPrefixed();
    private static final int SENDS = 16;
    /** The mean number of messages for one that consists of random bits, which is the last message of its connection. */
    private static final int GARBAGE = 24;
    private static final int FIELD_BITS = 16;
    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int AREA_BYTES = 2 << Handshake.BULK_UNIT_SHIFT;

    private final Fabric fabric;
    private final SplittableRandom random;
    private final WorkCompletions ready = new WorkCompletions(256);
    private final WorkCompletions batch = new WorkCompletions(64);
    private final byte[] descriptor;
    private final byte[] content = new byte[AREA_BYTES];
    private long frames;
    private long connections;
    private long violations;
    private long handshakes;

    /**
     * Creates a fuzzer.
     *
     * @param region memory of the size of an area, whose descriptor is granted
     */
    StreamFuzz(Fabric fabric, LocalMemoryRegion region, long seed) throws RpmaException {
        this.fabric = fabric;
        random = new SplittableRandom(seed);
        ByteBuffer written = ByteBuffer.allocate(region.descriptorSize());
        region.descriptor(written);
        descriptor = written.array();
    }

    long frames() {
        return frames;
    }

    long connections() {
        return connections;
    }

    /** Returns the number of connections that ended because a rule was broken. */
    long violations() {
        return violations;
    }

    /** Exchanges at least this number of messages. */
    void play(long count) throws Exception {
        for (long end = frames + count; frames < end;) {
            handshake();
            try (Stream stream = new Stream()) {
                stream.play();
            }
            connections++;
        }
    }

    /** Decodes a damaged handshake, which must either be within the limits or be refused. */
    private void handshake() {
        ByteBuffer data = new Handshake(Handshake.MINOR, random.nextInt(8) == 0 ? random.nextInt(256) : 0,
            1 << random.nextInt(32), random.nextInt(1 << FIELD_BITS), random.nextInt(66) << Handshake.BULK_UNIT_SHIFT).encode();
        for (int flips = random.nextInt(3); flips > 0; flips--) {
            int at = random.nextInt(data.limit());
            data.put(at, (byte) (data.get(at) ^ 1 << random.nextInt(8)));
        }
        data.limit(random.nextInt(16) == 0 ? random.nextInt(data.limit()) : data.limit());
        try {
            Handshake decoded = Handshake.decode(data);
            check(decoded.status() != Handshake.ACCEPTED
                || decoded.messageBytes() >= Handshake.MIN_MESSAGE_BYTES && decoded.messageBytes() <= Handshake.MAX_MESSAGE_BYTES
                && decoded.credits() >= 1 && decoded.credits() <= Immediate.MAX_CREDITS
                && decoded.bulkBytes() >= 0 && decoded.bulkBytes() <= Handshake.MAX_BULK_BYTES, "bad handshake accepted");
        } catch (Handshake.MismatchException e) {
            check(e.status() != Handshake.ACCEPTED, "a mismatch has the status ACCEPTED");
        }
        handshakes++;
    }

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    /** Receives that record which of them are posted, as a device does. */
    private static final class Receives extends ReceiveBuffers {
        private final RpmaByteBuf[] buffers;
        private final BitSet posted = new BitSet();
        private final boolean crowded;
        private final boolean shared;

        Receives(Fabric fabric, StreamSizes sizes, boolean crowded, boolean shared) {
            super(fabric, sizes.messageBytes());
            buffers = new RpmaByteBuf[sizes.receiveQueue()];
            this.crowded = crowded;
            this.shared = shared;
        }

        @Override
        public void configure(ConnectionConfig config) {
            // There is no queue.
        }

        @Override
        public void post(ConnectionRequest request, int count) throws RpmaException {
            for (int slot = 0; slot < count; slot++) {
                buffers[slot] = allocate();
                posted.set(slot);
            }
        }

        @Override
        public void leave(int count) {
            for (RpmaByteBuf buf : buffers) {
                buf.release();
            }
        }

        @Override
        public int most() {
            return buffers.length;
        }

        @Override
        public RpmaByteBuf buffer(int slot) {
            return buffers[slot];
        }

        @Override
        public void repost(int slot) {
            check(!posted.get(slot), "a receive is posted twice");
            posted.set(slot);
        }

        @Override
        public RpmaByteBuf exchange(int slot) throws RpmaException {
            RpmaByteBuf buf = buffers[slot];
            buffers[slot] = allocate();
            repost(slot);
            return buf;
        }

        @Override
        public boolean isCrowded() {
            return crowded;
        }

        @Override
        public boolean isShared() {
            return shared;
        }

        @Override
        public void endedMidway() {
            // There is no device that could have taken a receive.
        }
    }

    /** One connection: the stream at this end, and the peer that is played. */
    private final class Stream extends ScriptedConnection implements QueuePairListener, AutoCloseable {
        private final StreamSizes sizes;
        private final Receives receives;
        private final StreamQueuePair pair;
        private final RecvByteBufAllocator.ExtendedHandle handle =
            (RecvByteBufAllocator.ExtendedHandle) new AdaptiveRecvByteBufAllocator().newHandle();
        private final int peerCredits = 1 + random.nextInt(20);
        private final boolean prefixed = PREFIXED || random.nextBoolean();
        private final int prefix = prefixed ? Integer.BYTES : 0;
        // Which of the streams has ended, and whose end has been confirmed.
        private boolean pairEnded;
        private boolean pairConfirmed;
        private boolean peerConfirmed;
        // The credits that the peer has, and those that it has to return.
        private int credits;
        private int owed;
        private boolean finSent;
        // The areas that were granted to the peer, as pairs of address and size, and the indices of those that the peer has
        // granted.
        private final ArrayDeque<long[]> areas = new ArrayDeque<>();
        private final ArrayDeque<Integer> granted = new ArrayDeque<>();
        // The work requests that were posted and have not completed.
        private final ArrayDeque<long[]> underWay = new ArrayDeque<>();
        private boolean sendsFail;
        // Whether random bits were sent. They may have returned credits or granted areas, which are not counted.
        private boolean lawless;
        private long sentBytes;
        private long readBytes;

        Stream() throws RpmaException {
            super(ready);
            sizes = new StreamSizes(64 << random.nextInt(4), 1 + random.nextInt(20), SENDS,
                random.nextInt(4) == 0 ? 0 : AREA_BYTES);
            boolean shared = random.nextBoolean();
            receives = new Receives(fabric, sizes, shared && random.nextBoolean(), shared);
            credits = sizes.credits();
            pair = StreamOpening.accept(PublicTypes.INSTANCE, fabric, sizes, receives, this, ByteBuffer.allocate(0),
                new Handshake(Handshake.MINOR, Handshake.ACCEPTED, 1 << 10, peerCredits, 1 << 20, prefixed,
                    ByteBuffer.allocate(0)));
            pair.listener(this);
            handle.reset(null);
            pair.drainEvents();
        }

        void play() throws Exception {
            boolean ended = false;
            while (!ended && !sendsFail) {
                for (int n = 1 + random.nextInt(MOST_BATCH); n > 0 && !ended && !receives.posted.isEmpty(); n--) {
                    if (random.nextInt(GARBAGE) == 0) {
                        garbage();
                        ended = true;
                    } else {
                        message();
                    }
                }
                completeSends();
                poll();
                if (!ended && !sendsFail) {
                    check(pair.broken() == null, "a peer that keeps to the protocol is refused: " + pair.broken());
                    application();
                    poll();
                }
                ended |= finSent && random.nextInt(4) == 0;
            }
            if (pair.broken() instanceof ProtocolException) {
                violations++;
            }
            while (pair.receiver().available() > 0) {
                read();
            }
        }

        private void poll() {
            while (waiting() > 0 && pair.poll(batch) > 0) {
                continue;
            }
        }

        @Override
        public void close() {
            // The queue pair also calls this method when it is destroyed.
            if (!pair.isClosed()) {
                pair.close();
            }
        }

        // ---- messages of the peer ----

        private void arrive(int slot, int bytes, boolean written, boolean hasImmediate, int immediate) {
            receives.posted.clear(slot);
            frames++;
            complete(slot, 0, (written ? CompletionOpcode.RECV_RDMA_WITH_IMM : CompletionOpcode.RECV).code(), bytes, immediate,
                hasImmediate);
        }

        /** Sends a message that keeps to the protocol, if one is possible. */
        private void message() {
            int back = owed > 0 && random.nextInt(3) > 0 ? random.nextInt(owed + 1) : 0;
            int slot = receives.posted.nextSetBit(0);
            switch (random.nextInt(17)) {
                case 16 -> {
                    if (prefixed && pairEnded && !peerConfirmed) {
                        peerConfirmed = true;
                        send(slot, Immediate.SEEN, back, 0, 0);
                    }
                }
                case 0 -> {
                    if (owed >= peerCredits + 1 >>> 1) {
                        send(slot, Immediate.CREDIT, owed, 0, 0);
                    }
                }
                case 1, 2 -> grant(slot, back);
                case 3, 4, 5 -> {
                    if (mayFill() && !areas.isEmpty()) {
                        long[] area = areas.poll();
                        // The peer seldom uses the whole area, because that takes long.
                        int bytes = 1 + random.nextInt(random.nextInt(64) == 0 ? (int) area[1] : 256);
                        fill(area[0], bytes);
                        send(slot, Immediate.BULK, back, random.nextInt(4), bytes);
                    }
                }
                case 6 -> {
                    if (mayFill() && !areas.isEmpty()) {
                        int count = 1 + random.nextInt(areas.size());
                        for (int i = 0; i < count; i++) {
                            areas.poll();
                        }
                        send(slot, Immediate.RETURN, back, count, 0);
                    }
                }
                case 7 -> {
                    if (!finSent && random.nextInt(4) == 0) {
                        finSent = true;
                        areas.clear();
                        send(slot, Immediate.FIN, back, 0, 0);
                    }
                }
                default -> {
                    if (mayFill()) {
                        int bytes = 1 + random.nextInt(sizes.messageBytes() - prefix);
                        fill(receives.buffer(slot).memoryAddress() + prefix, bytes);
                        send(slot, Immediate.DATA, back, random.nextInt(8) == 0 ? random.nextInt(1 << FIELD_BITS) : 0, bytes);
                    }
                }
            }
        }

        private boolean mayFill() {
            return credits > 0 && !finSent;
        }

        private void grant(int slot, int back) {
            int index = random.nextInt(BulkAreas.AREAS);
            if (mayFill() && !granted.contains(index) && prefix + 1 + descriptor.length <= sizes.messageBytes()) {
                receives.buffer(slot).setByte(prefix, index).setBytes(prefix + 1, descriptor);
                granted.add(index);
                send(slot, Immediate.GRANT, back, 0, 1 + descriptor.length);
            }
        }

        private void send(int slot, int kind, int back, int argument, int bytes) {
            owed -= back;
            if (Immediate.takesCredit(kind)) {
                credits--;
            }
            int bits = Immediate.of(kind, back, argument);
            if (!prefixed) {
                arrive(slot, bytes, kind == Immediate.BULK, true, bits);
                return;
            }
            receives.buffer(slot).setInt(0, bits);
            if (kind == Immediate.BULK) {
                receives.buffer(slot).setInt(prefix, bytes);
            }
            arrive(slot, prefix + (kind == Immediate.BULK ? Integer.BYTES : bytes), false, false, 0);
        }

        /** Fills memory with the next bytes of the stream, whose values depend on their positions. */
        private void fill(long address, int bytes) {
            for (int i = 0; i < bytes; i++) {
                content[i] = pattern(sentBytes + i);
            }
            NativeMemory.copy(content, 0, address, bytes);
            sentBytes += bytes;
        }

        private byte pattern(long position) {
            return (byte) (position * 31 >>> 3);
        }

        /**
         * Sends a message of random bits. If it happens to keep to the protocol, the stream goes on, but its content is not
         * checked.
         */
        private void garbage() {
            int bytes = switch (random.nextInt(4)) {
                case 0 -> 0;
                case 1 -> random.nextInt();
                default -> random.nextInt(2 * sizes.messageBytes());
            };
            int slot = receives.posted.nextSetBit(0);
            RpmaByteBuf buf = receives.buffer(slot);
            int length = Math.min(buf.capacity(), 1 + descriptor.length);
            buf.setByte(0, random.nextInt(16)).setBytes(1, descriptor, 0, length - 1);
            for (int flips = random.nextInt(8); flips > 0; flips--) {
                buf.setByte(random.nextInt(length), random.nextInt());
            }
            lawless = true;
            int immediate = random.nextBoolean() ? random.nextInt()
                : Immediate.of(1 + random.nextInt(7), random.nextInt(4), random.nextInt(8));
            if (prefixed && random.nextInt(4) > 0) {
                buf.setInt(0, immediate);
                if (random.nextBoolean()) {
                    bytes = PrefixWire.ANNOUNCEMENT_BYTES;
                }
            }
            arrive(slot, random.nextInt(4) == 0 ? length : bytes, random.nextInt(4) == 0 && !(prefixed && random.nextInt(4) > 0),
                prefixed ? random.nextInt(8) == 0 : random.nextInt(8) > 0, immediate);
        }

        // ---- messages of this side ----

        @Override
        void sent(LocalMemoryRegion source, long offset, int bytes, boolean signalled, int immediate, long context) {
            check(!prefixed, "immediate data is sent on a connection without it");
            posted(context, signalled);
            took(source, offset, bytes, immediate);
        }

        @Override
        void sentPlain(LocalMemoryRegion source, long offset, int bytes, boolean signalled, long context) {
            check(prefixed && bytes >= Integer.BYTES, "a message has no prefix");
            posted(context, signalled);
            int bits = source.memory().get(WORD, offset);
            if (Immediate.kind(bits) == Immediate.BULK) {
                check(bytes == PrefixWire.ANNOUNCEMENT_BYTES, "an announcement of " + bytes + " bytes");
                check(source.memory().get(WORD, offset + prefix) > 0, "an announcement of no bytes");
            }
            took(source, offset + prefix, bytes - prefix, bits);
        }

        @Override
        void wrote(boolean signalled, long context) {
            check(prefixed && !signalled, "a write is signalled, or the connection has immediate data");
            posted(context, signalled);
        }

        private void posted(long context, boolean signalled) {
            underWay.add(new long[] {context, signalled ? 1 : 0});
            check(underWay.size() <= SENDS, "there are more work requests than the send queue holds");
        }

        /** The peer takes a message. */
        private void took(LocalMemoryRegion source, long offset, int bytes, int immediate) {
            if (lawless) {
                return;
            }
            credits += Immediate.credits(immediate);
            check(credits <= sizes.credits(), "more credits are returned than were given");
            int kind = Immediate.kind(immediate);
            if (Immediate.takesCredit(kind)) {
                check(++owed <= peerCredits, "a message is sent without a credit");
            }
            switch (kind) {
                case Immediate.GRANT -> granted(source, offset, bytes);
                case Immediate.BULK -> granted.poll();
                case Immediate.FIN -> pairEnded = true;
                case Immediate.SEEN -> {
                    check(prefixed && finSent && !pairConfirmed, "an end that was not sent is confirmed");
                    pairConfirmed = true;
                }
                case Immediate.RETURN -> {
                    for (int i = Immediate.argument(immediate); i > 0; i--) {
                        granted.poll();
                    }
                }
                default -> {
                    // The peer does not record other messages.
                }
            }
        }

        private void granted(LocalMemoryRegion source, long offset, int bytes) {
            // The descriptors of both providers begin with the address.
            ByteBuffer area = source.memory().asSlice(offset + 1, bytes - 1).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            if (finSent) {
                return;
            }
            try (RemoteMemoryRegion region = Rpma.provider().openRemoteRegion(area)) {
                areas.add(new long[] {area.getLong(0), region.size()});
            } catch (RpmaException e) {
                throw new AssertionError("a grant without a valid descriptor", e);
            }
        }

        /** Completes some of the work requests in order, or fails them because the connection is lost. */
        private void completeSends() {
            if (random.nextInt(256) == 0) {
                sendsFail = true;
            }
            for (int n = random.nextInt(SENDS + 1); n > 0 && !underWay.isEmpty(); n--) {
                long[] send = underWay.poll();
                if (sendsFail) {
                    complete(send[0], CompletionStatus.WR_FLUSH_ERR.code(), 0, 0, 0, false);
                } else if (send[1] == 1) {
                    complete(send[0], 0, CompletionOpcode.SEND.code(), 0, 0, false);
                }
            }
            if (sendsFail && waiting() == 0) {
                // There was no work request that could have failed.
                pair.breakWith(new IOException("lost"));
            }
        }

        // ---- the application ----

        private void application() throws IOException {
            for (int n = random.nextInt(4); n > 0 && pair.receiver().available() > 0; n--) {
                read();
            }
            pair.receiver().returnCredits();
            for (int n = random.nextInt(3); n > 0 && pair.sender().messageLimit() > 0; n--) {
                write(random.nextInt(32) == 0 ? StreamSender.BULK_BYTES : 1 + random.nextInt(100));
            }
            if (random.nextInt(32) == 0) {
                pair.sender().returnIdleGrants();
            }
            if (random.nextInt(128) == 0) {
                pair.finish();
            }
        }

        private void write(int together) throws IOException {
            int bytes = Math.min(together, pair.sender().messageLimit(together));
            RpmaByteBuf buf = RegisteredMemory.registered(prefix + bytes, prefix + bytes);
            pair.sender().send(buf, buf.slab(), buf.block().offset + prefix, bytes, together, random.nextBoolean());
        }

        private void read() {
            if (random.nextInt(16) == 0) {
                readBytes += pair.receiver().available();
                pair.receiver().skip();
                return;
            }
            handle.reset(null);
            ByteBuf buf = pair.receiver().read(handle, RpmaByteBufAllocator.DEFAULT, random.nextBoolean());
            int first = buf.readerIndex();
            int last = buf.readableBytes() - 1;
            if (!lawless) {
                check(readBytes + last < sentBytes, "more bytes are read than were sent");
                for (int i = 0; i <= last; i += 1 + last / 4) {
                    check(buf.getByte(first + i) == pattern(readBytes + i), "a byte differs from the one sent");
                }
                check(buf.getByte(first + last) == pattern(readBytes + last), "a byte differs from the one sent");
            }
            readBytes += last + 1;
            buf.release();
        }

        @Override
        public void established() {
            // The fuzzer opens the stream itself.
        }

        @Override
        public void readable() {
            // The fuzzer checks for bytes after each poll.
        }

        @Override
        public void ending() {
            // The fuzzer polls until no completion is left.
        }

        @Override
        public void failed() {
            throw new IllegalStateException("the listener has thrown no exception");
        }

        @Override
        public void posted() {
            // The fuzzer polls in each round.
        }

        @Override
        public void writable() {
            pair.sender().outcomes();
        }
    }

    /** Runs as a program, and prints how many bytes of memory were not returned. */
    public static void main(String... arguments) throws Exception {
        long seed = arguments.length > 0 ? Long.parseLong(arguments[0]) : System.nanoTime();
        long count = arguments.length > 1 ? Long.parseLong(arguments[1]) : 1_000_000;
        System.out.println("SEED " + seed);
        InetAddress address = Rpma.provider().reachable(InetAddress.getLoopbackAddress());
        Fabric fabric = Fabric.of(Rpma.provider().localDevice(address));
        StreamFuzz fuzz;
        long nanos;
        try (AddressRange range = Rpma.provider().reserve(AREA_BYTES);
                LocalMemoryRegion region =
                    fabric.peer().register(range.commit(0, AREA_BYTES), EnumSet.of(MemoryUsage.WRITE_DST))) {
            fuzz = new StreamFuzz(fabric, region, seed);
            long begin = System.nanoTime();
            fuzz.play(count);
            nanos = System.nanoTime() - begin;
        }
        System.out.printf("PLAYED frames=%d connections=%d violations=%d handshakes=%d frames/s=%.0f%n", fuzz.frames,
            fuzz.connections, fuzz.violations, fuzz.handshakes, fuzz.frames * 1e9 / nanos);
        System.out.println("LEFT " + (BulkAreas.bytes() + RegisteredMemory.MAX_BYTES - allMemory()));
    }

    /** Returns how many bytes can be allocated in the largest buffers. That is all memory if none is in use. */
    static long allMemory() {
        List<ByteBuf> all = new ArrayList<>();
        int most = RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY;
        for (ByteBuf buf = RegisteredMemory.registered(most, most); buf != null;
                buf = RegisteredMemory.registered(most, most)) {
            all.add(buf);
        }
        all.forEach(ByteBuf::release);
        return (long) all.size() * most;
    }
}
