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
import io.rpma.CompletionFlag;
import io.rpma.CompletionStatus;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.RpmaByteBuf;
import io.rpma.netty.memory.Slab;
import io.rpma.netty.pair.ChannelCounts;
import io.rpma.netty.pair.OneSided;
import io.rpma.netty.pair.Outcomes;
import io.rpma.netty.pair.PostTarget;
import java.io.IOException;
import java.net.ProtocolException;

/**
 * What one end of a stream sends: data, one-sided operations, and the messages of the protocol itself. It spends the credits that
 * the peer has given and counts the slots of the send queue, so that no message is sent without a posted receive and the send
 * queue never overflows. Large data is written into memory that the peer has granted.
 *
 * <p>Used by the thread that uses the queue pair.
 */
public final class StreamSender implements PostTarget {
    /** The bit in the contexts of work requests of the send queue; the rest is the number in the window. */
    static final long CONTEXT = 1L << 62;
    /** Contiguous data of at least this size is written into memory that the peer has granted, if there is any. */
    public static final int BULK_BYTES = 512 << 10;

    private final StreamEnd pair;
    private final StreamSizes sizes;
    private final ChannelCounts counters;
    private final PeerCredits given;
    private final boolean completesElsewhere;
    private final boolean signalsData;
    private final Outcomes outcomes;
    private final SendWindow window;
    private final SendStall stall;
    // Null until the peer's handshake is known.
    private StreamWire wire;
    private int prefix;
    private int credits;
    private int peerCredits;
    private int peerMessageBytes;
    private int peerBulkBytes;
    // Null until the peer grants memory.
    private BulkGrants grants;
    private Runnable granted;
    // It is sent before anything else. Its message has a credit and a slot that nothing else may use.
    private final HeldMessage held = new HeldMessage();
    private boolean finSent;
    // Whether the peer has confirmed the end of the stream, for wires on which it has to.
    private boolean endConfirmed;
    // The number of bytes that were written after the peer had closed.
    private long sentToNobody;

    /**
     * Creates the sender of a queue pair that is being made.
     *
     * @param given the credits of the peer, which each message returns as far as they are due
     * @param completesElsewhere whether the connection's own queue is only polled when a completion is expected, because receives
     *     complete in another one
     */
    StreamSender(StreamEnd pair, StreamSizes sizes, PeerCredits given, boolean completesElsewhere) {
        this.pair = pair;
        this.sizes = sizes;
        this.given = given;
        this.completesElsewhere = completesElsewhere;
        signalsData = pair.fabric.signalsData();
        counters = pair.counters;
        outcomes = new Outcomes(sizes.sendQueue());
        window = new SendWindow(sizes.sendQueue(), outcomes, pair.types);
        stall = new SendStall(counters, pair.remoteAddress);
    }

    /** Called when the peer's handshake is known. */
    void open(StreamWire with, Handshake peer) {
        wire = with;
        prefix = with.prefix;
        peerMessageBytes = peer.messageBytes() - prefix;
        peerCredits = peer.credits();
        credits = peer.credits();
        peerBulkBytes = peer.bulkBytes();
        // The credits guarantee a receive for each message. Only the end of the stream has to be known to have been delivered.
        pair.connection.completeSendsEarly(true);
    }

    // ---- what can be sent ----

    /** Returns the work requests under way. */
    SendWindow window() {
        return window;
    }

    ChannelCounts counters() {
        return counters;
    }

    /** Returns how many bytes must be free in front of sent data, in the same memory; they are overwritten. */
    int prefix() {
        return prefix;
    }

    /** Returns how many messages the peer can take now. */
    int credits() {
        return credits;
    }

    /** Returns how many messages the peer can take when it has read everything. */
    int peerCredits() {
        return peerCredits;
    }

    /** Returns how many bytes the next message may have; 0 if none can be sent now. */
    public int messageLimit() {
        return pair.isUsable() && !finSent && credits > 0 && free() > StreamSizes.CONTROL_RESERVE ? peerMessageBytes : 0;
    }

    /** Returns the number of free slots without the one of a held message. */
    private int free() {
        return held.isEmpty() ? window.free() : window.free() - 1;
    }

    /**
     * Returns how many bytes the next message may have if this many bytes are contiguous; 0 if none can be sent now. The result
     * is greater than {@link #messageLimit()} if there are enough of them and the peer has granted memory.
     */
    public int messageLimit(long together) {
        int limit = messageLimit();
        if (limit == 0 || together < BULK_BYTES || grants == null) {
            return limit;
        }
        if (Math.min(together, grants.next()) < (long) limit + prefix) {
            // It fits into a message, or would be in front of its prefix. Such data is sent as every other message is.
            return limit;
        }
        // A write that is announced by a separate message takes two slots.
        return wire.announces() && free() <= StreamSizes.CONTROL_RESERVE + 1 ? limit : Math.max(limit, grants.next());
    }

    /**
     * Returns whether contiguous data of this size needs a prefix in front of it, which is not so if it is written into granted
     * memory.
     */
    boolean isPrefixNeeded(int together) {
        return prefix != 0 && messageLimit(together) == messageLimit();
    }

    private boolean isSignalDue() {
        // A sender that is about to wait needs a completion, to be notified when it can continue.
        return credits == 0 || window.free() - 1 <= StreamSizes.CONTROL_RESERVE || window.isSignalDue();
    }

    /**
     * Returns whether a message without data is signalled. No other message may follow it for a long time; if the connection's
     * queue is only polled when a completion is expected, the message itself must be signalled.
     */
    private boolean isControlSignalled() {
        return completesElsewhere || isSignalDue();
    }

    /** Called when data is to be sent but {@link #messageLimit()} is 0. */
    public void stalled() {
        if (pair.established && pair.broken == null && !finSent) {
            stall.begin(credits == 0);
        }
    }

    /** Called when data can be sent. */
    void stallEnded() {
        stall.end();
    }

    // ---- data ----

    /**
     * Sends a message of data, which {@link #messageLimit(long)} must allow. A message that is longer than
     * {@link #messageLimit()} is written into memory that the peer has granted.
     *
     * @param owner the buffer that holds the bytes; released when they have been delivered
     * @param slab the slab of the buffer
     * @param offset the offset of the first byte in the slab
     * @param bytes the number of bytes, at least 1
     * @param together the number of contiguous bytes, including these; announced to the peer, so that it can grant memory
     * @param last whether no further message follows immediately; the message is then signalled, so that all buffers are
     *     released soon
     */
    public void send(ByteBuf owner, Slab slab, long offset, int bytes, long together, boolean last) throws IOException {
        sendHeld(false);
        int kind = bytes > peerMessageBytes ? Immediate.BULK : Immediate.DATA;
        int wanted = together >= BULK_BYTES && peerBulkBytes > 0
            ? (int) Math.min(together, peerBulkBytes) >>> Handshake.BULK_UNIT_SHIFT : 0;
        credits--;
        try {
            post(owner, slab, offset, bytes, kind, wanted, last || signalsData || isSignalDue());
        } catch (RpmaException e) {
            owner.release();
            pair.breakWith(e);
            throw e;
        }
        window.isOfStream();
        counters.messagesSent++;
        counters.bytesSent += bytes;
        if (kind == Immediate.BULK) {
            counters.bulkSent++;
        }
        if (pair.broken != null) {
            throw pair.broken;
        }
    }

    /**
     * Holds a message back because more data may follow, until {@link #sendHeld} is called or anything else is sent. The message
     * must not be empty, and {@link #messageLimit()} must allow it to be sent.
     *
     * @param together the largest number of contiguous bytes of which the message contains the first ones
     */
    void hold(RpmaByteBuf message, long together) {
        held.set(message, together);
        credits--;
    }

    /** Returns the message that is held back, which is not held any more, or {@code null}. */
    RpmaByteBuf takeHeld() {
        if (held.isEmpty()) {
            return null;
        }
        credits++;
        return held.take();
    }

    /** Returns the number of contiguous bytes that was given with the message that was held back last. */
    long heldTogether() {
        return held.together();
    }

    /**
     * Sends the message that is held back, if there is one. If the connection has ended meanwhile, its data is lost, as that of
     * messages under way is.
     *
     * @param last whether no further message follows immediately
     */
    public void sendHeld(boolean last) throws IOException {
        RpmaByteBuf message = takeHeld();
        if (message != null && pair.isUsable()) {
            long offset = message.block().offset + message.readerIndex();
            send(message, message.slab(), offset, message.readableBytes(), held.together(), last);
        } else if (message != null) {
            message.release();
        }
    }

    /** Sends the message that is held back before another one is. If that fails, the connection ends for this reason. */
    private void sendHeldFirst() {
        try {
            sendHeld(false);
        } catch (IOException e) {
            pair.breakWith(e);
        }
    }

    /**
     * Counts data as sent that is not received, because the peer has closed.
     *
     * @return how many of the bytes the peer's credits would have allowed to be sent
     */
    public int sendToNobody(int bytes) {
        int taken = (int) Math.min(bytes, (long) credits * peerMessageBytes - sentToNobody);
        sentToNobody += taken;
        return taken;
    }

    // ---- one-sided operations ----

    @Override
    public boolean takes(Object message) {
        return message instanceof OneSided;
    }

    @Override
    public boolean canPost() {
        return pair.isUsable() && !finSent && free() > StreamSizes.CONTROL_RESERVE && !outcomes.isFull();
    }

    @Override
    public Outcomes outcomes() {
        return outcomes;
    }

    /** Posts a one-sided operation. Each operation is signalled, because later data of the stream waits for it. */
    @Override
    public void post(Object message, boolean last) {
        OneSided operation = (OneSided) message;
        boolean registered = false;
        try {
            operation.register(pair.fabric);
            registered = true;
            operation.post(pair.connection, pair.fabric, CompletionFlag.ALWAYS, CONTEXT | window.next());
        } catch (RpmaException e) {
            outcomes.refuse(e);
            if (registered && e.error() != RpmaError.INVALID && e.error() != RpmaError.NOT_SUPPORTED) {
                pair.breakWith(e);
            }
            return;
        }
        window.use(operation.retain());
        window.posted(true);
        window.isOfStream();
        outcomes.post();
    }

    // ---- messages of the protocol ----

    /** Returns whether there is a slot for a message without data. Such a message needs no credit. */
    boolean canControl() {
        return pair.isUsable() && window.free() > 0;
    }

    /** Sends a message without data and without an argument. */
    void control(int kind) {
        control(kind, 0, isControlSignalled());
    }

    private void control(int kind, int argument, boolean signal) {
        sendHeldFirst();
        counters.controlMessagesSent++;
        post(null, 0, 0, kind, argument, signal);
        pair.listener.posted();
    }

    /** Ends the stream in this direction. The completion of the FIN implies that everything before it has been delivered. */
    void finish() {
        if (!finSent && pair.isUsable()) {
            sendHeldFirst();
            finSent = true;
            pair.connection.completeSendsEarly(false);
            control(Immediate.FIN, 0, true);
        }
    }

    boolean isFinished() {
        return finSent;
    }

    /** Returns whether the peer has to confirm the end of the stream, and has not done so yet. */
    boolean awaitsConfirmation() {
        return finSent && !endConfirmed && wire.confirmsEnd();
    }

    /** Called when the peer has confirmed the end of the stream. */
    void endConfirmed() {
        endConfirmed = true;
    }

    boolean isEndConfirmed() {
        return endConfirmed;
    }

    /** Called when the peer has returned credits. */
    void creditsReturned(int count) {
        credits += count;
    }

    /**
     * Sends a grant; a message must be allowed.
     *
     * @return whether there was memory for it
     */
    boolean grant(byte[] grant) {
        RpmaByteBuf message = RegisteredMemory.registered(prefix + grant.length, prefix + grant.length);
        if (message == null) {
            return false;
        }
        message.setIndex(prefix, prefix).writeBytes(grant);
        sendHeldFirst();
        try {
            credits--;
            post(message, message.slab(), message.block().offset + prefix, grant.length, Immediate.GRANT, 0,
                isControlSignalled());
            pair.listener.posted();
        } catch (RpmaException e) {
            message.release();
            pair.breakWith(e);
        }
        counters.controlMessagesSent++;
        return true;
    }

    // ---- memory that the peer grants ----

    /** Sets a task that runs when the peer grants memory for large data and there was none before. */
    void whenGranted(Runnable listener) {
        granted = listener;
    }

    /** Called when the peer has granted an area, which the message describes after its prefix. */
    void granted(ByteBuf message, int bytes) throws ProtocolException {
        if (grants == null) {
            grants = new BulkGrants(pair.fabric.provider(), peerBulkBytes);
        }
        grants.add(message, prefix, bytes);
        if (grants.count() == 1 && granted != null) {
            granted.run();
        }
    }

    /**
     * Returns the areas that the peer has granted, unless one was used since the last call. Must be called periodically after
     * the task of {@link #whenGranted} has run.
     *
     * @return whether it has to be called again
     */
    public boolean returnIdleGrants() {
        if (grants == null || grants.count() == 0 || pair.broken != null || finSent) {
            return false;
        }
        if (grants.isIdle() && messageLimit() > 0) {
            int count = grants.count();
            grants.clear();
            credits--;
            control(Immediate.RETURN, count, isControlSignalled());
            return false;
        }
        return true;
    }

    // ---- posting and completing ----

    /** Posts a message whose buffer is released when it has been delivered or could not be posted. */
    private void post(ByteBuf owner, Slab slab, long offset, int bytes, int kind, int argument, boolean signal)
            throws RpmaException {
        LocalMemoryRegion region = slab.region(pair.fabric);
        window.use(owner);
        post(region, offset, bytes, kind, argument, signal);
    }

    private void post(LocalMemoryRegion region, long offset, int bytes, int kind, int argument, boolean signal) {
        CompletionFlag flag = signal ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR;
        int bits = Immediate.of(kind, given.take(), argument);
        try {
            if (kind == Immediate.BULK) {
                boolean signalWrite = wire.announces() ? signalsData : signal;
                wire.write(pair.connection, grants.take(), region, offset, bytes,
                    signalWrite ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR, bits, CONTEXT | window.next());
                if (wire.announces()) {
                    window.posted(signalWrite);
                    wire.announce(pair.connection, bytes, flag, bits, CONTEXT | window.next());
                }
            } else {
                wire.send(pair.connection, region, offset, bytes, flag, bits, CONTEXT | window.next());
            }
            window.posted(signal);
        } catch (RpmaException e) {
            window.refused();
            pair.refused(e, kind);
        }
    }

    /** Called when a work request of the send queue has completed. */
    void completed(long context) {
        window.retire(context ^ CONTEXT);
    }

    /** Called when a work request of the send queue has failed. */
    void failed(long context, CompletionStatus status) {
        window.fail(context ^ CONTEXT, status, pair.broken);
    }

    /** Returns whether a failed work request came after everything that belongs to the stream. */
    boolean isAfterStream(long context) {
        return window.isAfterStream(context ^ CONTEXT);
    }

    /** Releases everything, when the queue pair has been destroyed. */
    void close() {
        window.close();
        held.close();
        if (wire != null) {
            wire.close();
        }
        if (grants != null) {
            grants.close();
        }
    }
}
