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

package io.rpma.netty.stream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.PlatformDependent;
import io.rpma.CompletionOpcode;
import io.rpma.RpmaException;
import io.rpma.netty.jit.InliningBarrier;
import io.rpma.netty.memory.RpmaByteBuf;
import io.rpma.netty.pair.ChannelCounts;
import io.rpma.netty.receive.ReceiveBuffers;
import io.rpma.netty.receive.StreamArrival;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.ProtocolException;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * What one end of a stream receives. It keeps the messages that have arrived until they are read, which is what stops the peer:
 * a receive is posted again, and its credit returned, only when its message has been read. It grants memory for large data, and
 * records the end of the peer's stream.
 *
 * <p>Used by the thread that uses the queue pair.
 */
public final class StreamReceiver implements StreamWire.Sink {
    /** The opcode of a receive that was consumed by a write with immediate data. */
    static final int WRITTEN = CompletionOpcode.RECV_RDMA_WITH_IMM.code();

    private static final int MOST_READ_SLOTS = 8;

    private static final InliningBarrier READ_OLDEST =
        new InliningBarrier(MethodHandles.lookup(), StreamReceiver.class, "readOldest", MethodType.methodType(ByteBuf.class,
            RecvByteBufAllocator.ExtendedHandle.class, ByteBufAllocator.class, boolean.class));

    private final StreamEnd pair;
    private final StreamSizes sizes;
    private final ReceiveBuffers receives;
    private final ChannelCounts counters;
    private final PeerCredits given;
    private final StreamSender sender;
    private final StreamRules rules;
    private final UnreadMessages unread = new UnreadMessages();
    // How many bytes of the oldest message have been read.
    private int headRead;
    // The receives of messages that were read while the listener was being notified of their completion. They are posted after
    // that, so that a response of the application does not wait for it.
    private final int[] readSlots = new int[MOST_READ_SLOTS];
    private int readSlotCount;
    private boolean notifying;
    private boolean starved;
    // Null until the peer has announced large data.
    private BulkAreas areas;
    // Null until the peer's handshake is known; messages that arrive before are kept.
    private StreamWire wire;
    private int prefix;
    private Queue<StreamArrival> early;
    // The message that is being handled, if it does not hold a receive any more and is not empty; its slot is NO_SLOT.
    private ByteBuf moved;
    private boolean finReceived;
    // Whether this end has to confirm the end of the peer's stream.
    private boolean confirmationDue;

    /**
     * Creates the receiver of a queue pair that is being made.
     *
     * @param receives the receives that have been posted for the connection
     * @param given the credits of the peer
     */
    StreamReceiver(StreamEnd pair, StreamSizes sizes, ReceiveBuffers receives, PeerCredits given, StreamSender sender) {
        this.pair = pair;
        this.sizes = sizes;
        this.receives = receives;
        this.given = given;
        this.sender = sender;
        counters = pair.counters;
        rules = new StreamRules(given, sender, this);
    }

    /** Called when the peer's handshake is known. */
    void open(StreamWire with) {
        wire = with;
        prefix = with.prefix;
        while (early != null && !early.isEmpty()) {
            received(early.poll());
        }
    }

    // ---- what arrives ----

    /** Handles a receive whose completion another thread has polled. */
    void received(StreamArrival arrival) {
        moved = arrival.moved();
        received(arrival.slot(), arrival.bytes(), arrival.opcode() == WRITTEN, arrival.hasImmediate(), arrival.immediate());
        moved = null;
    }

    /** Handles a receive that has completed. */
    void received(int slot, int bytes, boolean written, boolean hasImmediate, int immediate) {
        if (wire != null) {
            wire.received(this, slot, bytes, written, hasImmediate, immediate);
            return;
        }
        // A completion can overtake the event that delivers the peer's handshake.
        if (early == null) {
            early = new ArrayDeque<>();
        }
        early.add(new StreamArrival(0, slot, 0, bytes, written ? WRITTEN : 0, hasImmediate, immediate, moved));
    }

    @Override
    public ByteBuf receive(int slot) {
        return slot == UnreadMessages.NO_SLOT ? moved : receives.buffer(slot);
    }

    @Override
    public void refuse(int slot, String why) {
        violated(why);
        giveBack(slot);
    }

    @Override
    public void take(int slot, int bytes, boolean written, int bits) {
        if (pair.broken != null || !accepts(bytes, written, bits)) {
            giveBack(slot);
            return;
        }
        sender.creditsReturned(Immediate.credits(bits));
        int argument = Immediate.argument(bits);
        switch (Immediate.kind(bits)) {
            case Immediate.DATA -> {
                arrive(slot, bytes);
                wantAreas(argument);
                return;
            }
            case Immediate.BULK -> {
                put(areas.fill(), UnreadMessages.AREA, bytes);
                counters.bulkReceived++;
                wantAreas(argument);
            }
            case Immediate.GRANT -> {
                given.add(1);
                granted(receive(slot), bytes);
            }
            case Immediate.RETURN -> {
                given.add(1);
                areas.returned(argument);
            }
            case Immediate.FIN -> {
                finReceived = true;
                confirmationDue = wire.confirmsEnd();
                if (areas != null) {
                    areas.close();
                }
            }
            case Immediate.SEEN -> sender.endConfirmed();
            default -> {
                // The message only returns credits.
            }
        }
        giveBack(slot);
    }

    private boolean accepts(int bytes, boolean written, int bits) {
        String violation = rules.violation(bytes, written, bits);
        if (violation != null) {
            violated(violation);
        }
        return violation == null;
    }

    /** Ends the connection because its peer has violated the protocol; other connections are not affected. */
    private void violated(String what) {
        pair.breakWith(new ProtocolException("The peer broke the stream protocol: " + what + "; the connection is closed"));
    }

    /** Appends a message to the unread messages. If receives are scarce, it releases its receive immediately. */
    private void arrive(int slot, int bytes) {
        ByteBuf buf = slot == UnreadMessages.NO_SLOT ? moved : receives.isCrowded() ? move(slot, prefix + bytes) : null;
        if (buf == null) {
            put(receives.buffer(slot), slot, bytes);
            return;
        }
        put(buf, UnreadMessages.NO_SLOT, bytes);
        // If no registered memory is left, the message is in ordinary memory.
        starved |= !(buf instanceof RpmaByteBuf);
    }

    private ByteBuf move(int slot, int bytes) {
        try {
            return receives.move(slot, bytes);
        } catch (RpmaException e) {
            pair.breakWith(e);
        } catch (OutOfMemoryError e) {
            // The message keeps its receive, which is posted again with the end of the connection.
            pair.cannotTake(e);
        }
        return null;
    }

    private void put(ByteBuf buf, int slot, int bytes) {
        unread.add(buf, slot, bytes);
        counters.messagesReceived++;
        counters.bytesReceived += bytes;
        counters.unread(unread.count());
    }

    /** Returns whether a message had to be copied to ordinary memory since the last call. */
    public boolean takeStarved() {
        boolean was = starved;
        starved = false;
        return was;
    }

    /** Returns whether the peer has ended the stream; messages that arrived before may still have to be read. */
    public boolean isEndOfStream() {
        return finReceived;
    }

    /** Returns the largest payload of a message, in bytes. */
    int mostBytes() {
        return sizes.messageBytes() - prefix;
    }

    // ---- reading ----

    /** Returns the number of messages that have not been read. */
    int unread() {
        return unread.count();
    }

    /** Returns the number of bytes that can be read immediately: what is left of the oldest message. */
    public int available() {
        return unread.count() == 0 ? 0 : unread.bytes() - headRead;
    }

    /**
     * Reads from the oldest message; there must be one. If a message fills at least half of its buffer and the handle would
     * read it in one piece, its buffer is passed on without copying and replaced by another one; otherwise the data is copied.
     * The caller notifies the handle of the bytes that have been read, because the handle may throw an exception, and the buffer
     * is then the only reference to these bytes.
     *
     * @param whole whether large data is passed on without copying even if it is longer than the handle expects
     */
    public ByteBuf read(RecvByteBufAllocator.ExtendedHandle handle, ByteBufAllocator allocator, boolean whole) {
        try {
            return (ByteBuf) READ_OLDEST.method().invokeExact(this, handle, allocator, whole);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
            return null;
        }
    }

    private ByteBuf readOldest(RecvByteBufAllocator.ExtendedHandle handle, ByteBufAllocator allocator, boolean whole) {
        int bytes = unread.bytes();
        boolean area = unread.slot() == UnreadMessages.AREA;
        int start = area ? 0 : prefix;
        boolean fits = handle.guess() >= bytes || whole && area;
        if (headRead == 0 && bytes >= sizes.messageBytes() >>> 1 && fits && releaseSlot()) {
            handle.attemptedBytesRead(Math.max(handle.guess(), bytes));
            ByteBuf source = unread.takeBuffer();
            source.setIndex(start, start + bytes);
            consumed();
            counters.receiveCopiesAvoided++;
            return source;
        }
        ByteBuf result = handle.allocate(allocator);
        int n = Math.min(bytes - headRead, result.writableBytes());
        try {
            handle.attemptedBytesRead(result.writableBytes());
            result.writeBytes(unread.buffer(), start + headRead, n);
        } catch (Throwable e) {
            result.release();
            throw e;
        }
        counters.receiveCopiesMade++;
        headRead += n;
        if (headRead == bytes) {
            consumed();
        }
        return result;
    }

    /** Detaches the buffer of the oldest message from its receive. Returns whether that was possible. */
    private boolean releaseSlot() {
        int slot = unread.slot();
        if (slot >= 0) {
            if (pair.isClosed() || exchange(slot) == null) {
                return false;
            }
            unread.releaseSlot();
        }
        return true;
    }

    /** Drops the oldest message unread. */
    public void skip() {
        consumed();
    }

    private void consumed() {
        int slot = unread.slot();
        if (notifying && slot >= 0 && readSlotCount < MOST_READ_SLOTS) {
            // A credit is returned only after its receive has been posted.
            readSlots[readSlotCount++] = slot;
            unread.takeBuffer();
            unread.remove();
        } else {
            letGo();
            given.add(1);
        }
        headRead = 0;
        if (slot == UnreadMessages.AREA) {
            areas.read();
            grantAreas();
        }
    }

    /** Removes the oldest message, and releases what it holds: its receive, or its buffer. */
    private void letGo() {
        ByteBuf buf = unread.takeBuffer();
        int slot = unread.slot();
        unread.remove();
        if (slot >= 0) {
            giveBack(slot);
        } else if (buf != null) {
            buf.release();
        }
    }

    // ---- receives and their credits ----

    /** Called before the listener is notified of messages; {@link #endNotifying} follows. */
    void beginNotifying() {
        notifying = true;
    }

    /** Posts the receives of messages that the listener has read, and returns their credits if enough are due. */
    void endNotifying() {
        notifying = false;
        repostRead();
    }

    /** Posts the receives of messages that the listener has read. */
    void repostRead() {
        int count = readSlotCount;
        if (count > 0) {
            readSlotCount = 0;
            for (int i = 0; i < count; i++) {
                giveBack(readSlots[i]);
            }
            given.add(count);
            if (!pair.isClosed()) {
                returnCredits();
            }
        }
    }

    /** Returns whether the listener is being notified. */
    boolean isNotifying() {
        return notifying;
    }

    /** Returns credits in a message of their own, if so many are due that the peer may be waiting for them. */
    public void returnCredits() {
        if (given.areDue() && !finReceived && sender.canControl()) {
            sender.control(Immediate.CREDIT);
        }
    }

    /** Sends what is due to the peer after messages have been handled: grants, the confirmation of its end, and credits. */
    void respond() {
        grantAreas();
        if (confirmationDue && sender.canControl()) {
            confirmationDue = false;
            sender.control(Immediate.SEEN);
        }
        // Return the credits of grants, which are never read by the application.
        returnCredits();
    }

    /** Posts a receive again, unless it belongs to this connection alone and the connection has ended. */
    void giveBack(int slot) {
        if (slot == UnreadMessages.NO_SLOT) {
            ReferenceCountUtil.release(moved);
            return;
        }
        if (pair.isEnded() && !receives.isShared()) {
            return;
        }
        try {
            receives.repost(slot);
        } catch (RpmaException e) {
            pair.breakWith(e);
        }
    }

    private RpmaByteBuf exchange(int slot) {
        try {
            return receives.exchange(slot);
        } catch (RpmaException e) {
            pair.breakWith(e);
            return null;
        }
    }

    // ---- large data ----

    /** Returns the areas that have been granted, or {@code null} if none ever was. */
    BulkAreas areas() {
        return areas;
    }

    /** Called when the peer has announced large data; the size is in units. */
    private void wantAreas(int units) {
        if (units == 0 || sizes.bulkBytes() == 0 || sender.isFinished()) {
            return;
        }
        if (areas == null) {
            areas = new BulkAreas(pair.fabric, sizes.bulkBytes());
        }
        areas.want((long) units << Handshake.BULK_UNIT_SHIFT);
    }

    /**
     * Grants the peer the areas that are due, if a credit is available; otherwise the peer continues to use messages meanwhile.
     */
    private void grantAreas() {
        while (areas != null && areas.isDue() && sender.messageLimit() > 0) {
            BulkAreas.Area area = areas.grant();
            if (area == null) {
                counters.bulkRefused++;
                return;
            }
            if (!sender.grant(area.message())) {
                areas.withdraw();
                counters.bulkRefused++;
                return;
            }
        }
    }

    /** Called when this end has ended its stream, so that it can send no more grants. */
    void grantNoMore() {
        if (areas != null) {
            areas.grantNoMore();
        }
    }

    /** Called when the peer has granted an area. */
    private void granted(ByteBuf message, int bytes) {
        try {
            sender.granted(message, bytes);
        } catch (ProtocolException e) {
            violated(e.getMessage());
        }
    }

    // ---- the end ----

    /** Posts again, or releases, what the messages hold that will not be read. */
    void drop() {
        while (unread.count() > 0) {
            letGo();
        }
    }

    /** Releases everything else, when the queue pair has been destroyed. */
    void close() {
        while (early != null && !early.isEmpty()) {
            StreamArrival arrival = early.poll();
            moved = arrival.moved();
            giveBack(arrival.slot());
        }
        if (areas != null) {
            areas.close();
        }
    }
}
