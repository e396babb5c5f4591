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
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.ReferenceCounted;
import io.rpma.CompletionFlag;
import io.rpma.CompletionOpcode;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;

/**
 * One end of a stream over a queue pair; implements the protocol of {@code docs/protocol.md}. It counts credits and send slots,
 * so that no message is sent without a posted receive and the send queue never overflows. It keeps received messages until they
 * are read, which is what stops the peer, and records whether the stream ended in order. It does not depend on channels and
 * pipelines.
 *
 * <p>Used by one event loop at a time.
 */
final class StreamQueuePair extends QueuePair implements PostedEntries.Target {
    private static final long SEND_CONTEXT = 1L << 62;
    /** The slot of a message that no longer holds a receive, because it has a buffer of its own. */
    private static final int NO_SLOT = -1;
    /** The slot of a message in an area for large data, which holds no receive either. */
    private static final int AREA = -2;
    /** The opcode of a receive that was consumed by a write with immediate data. */
    private static final int WRITTEN = CompletionOpcode.RECV_RDMA_WITH_IMM.code();
    /** Contiguous data of at least this size is written into memory that the peer has granted, if there is any. */
    static final int BULK_BYTES = 512 << 10;

    private static final int MOST_READ_SLOTS = 8;

    private final StreamSizes sizes;

    // Receiving: the messages that arrived and have not been read, in order, and the receive that each of them still holds, if
    // any.
    private final ReceiveBuffers receives;
    private final ByteBuf[] arrived;
    private final int[] arrivedSlot;
    private final int[] arrivedBytes;
    private int arrivedHead;
    private int arrivedCount;
    private int headRead;
    private int returnable;
    // The receives of messages that were read while the listener was being notified of their completion. They are posted after
    // that, so that a response of the application does not wait for it.
    private final int[] readSlots = new int[MOST_READ_SLOTS];
    private int readSlotCount;
    private boolean settling;
    private int peerHolds;
    private boolean starved;
    // The queue in which the receives complete if that is not the connection's own, or null.
    private final LoopCompletions elsewhere;
    private final int number;
    // Whether the thread that polls that queue also uses this queue pair; changed by that thread alone.
    private boolean isHome;
    // The loop that uses this queue pair if it is a different one; null while there is none.
    private volatile EventLoop loop;
    // Completions from that queue that arrived while another thread used this queue pair; null if there is no such queue.
    private final Queue<StreamArrival> inbox;
    // An end event that arrived before a loop was known, or null.
    private ConnectionEvent earlyEnd;
    // The state before the completions were handled that the listener has not been notified of yet.
    private boolean touched;
    private int arrivedBefore;
    private boolean finBefore;
    private boolean brokenBefore;
    private boolean blockedBefore;
    private boolean fullBefore;
    // Null until the peer has announced large data.
    private BulkAreas areas;

    // Sending: the buffers and operations under way, by sequence number.
    private final ReferenceCounted[] underWay;
    private final int underWayMask;
    private long posted;
    private long retired;
    private int unsignalled;
    // The sequence number of the last message that carried stream data, or of the last operation.
    private long lastOfStream = -1;
    private final Outcomes outcomes;
    private int credits;
    private int peerCredits;
    private int peerMessageBytes;
    private int peerBulkBytes;
    // Null until the peer's handshake is known; messages that arrive before are kept.
    private StreamWire wire;
    // The number of bytes in front of the payload of each message.
    private int prefix;
    private Queue<StreamArrival> early;
    private ByteBuffer peerData = ByteBuffer.allocate(0);
    // Null until the peer grants memory.
    private BulkGrants grants;
    private Runnable granted;

    // The number of bytes that were written after the peer had closed.
    private long sentToNobody;

    private boolean finSent;
    private boolean finReceived;
    // For wires that confirm the ends of streams: whether the peer has confirmed, and whether this end has to.
    private boolean finSeen;
    private boolean seenTold;
    private boolean seenDue;
    // Why a message could not be delivered to a peer that may have closed in order, or null; see failed().
    private IOException hungUp;
    private boolean hangUpLater;

    // Reused for each stall; null if there has been none.
    private CreditStallEvent stall;
    private long stalledSince;

    private StreamQueuePair(Fabric fabric, StreamSizes sizes, boolean active, ReceiveBuffers receives,
            Connection connection, InetSocketAddress requestedRemote) {
        super(fabric, connection, requestedRemote, active, sizes.credits());
        this.sizes = sizes;
        this.receives = receives;
        arrived = new ByteBuf[sizes.receiveQueue()];
        arrivedSlot = new int[arrived.length];
        arrivedBytes = new int[arrived.length];
        int slots = Integer.highestOneBit(sizes.sendQueue() * 2 - 1);
        underWay = new ReferenceCounted[slots];
        outcomes = new Outcomes(sizes.sendQueue());
        underWayMask = slots - 1;
        peerHolds = sizes.credits();
        elsewhere = receives.completions();
        inbox = elsewhere == null ? null : new ConcurrentLinkedQueue<>();
        number = elsewhere == null ? 0 : connection.queuePairNumber();
    }

    /**
     * Requests a connection.
     *
     * @param receives the receives that the request was configured with; returned when the connection ends or cannot be made
     * @param request made by the blocking part of connecting; consumed in any case
     * @param data the private data of the application
     */
    static StreamQueuePair connect(Fabric fabric, StreamSizes sizes, ReceiveBuffers receives, ConnectionRequest request,
            ByteBuffer data, InetSocketAddress remote) throws RpmaException {
        return open(fabric, sizes, receives, request, !fabric.hasImmediateData(), data, true, remote);
    }

    /**
     * Accepts a connection.
     *
     * @param receives the receives that the request was configured with; returned when the connection ends or cannot be made
     * @param request the request of the client; consumed in any case
     * @param data the private data of the application
     * @param peer the handshake of the client
     */
    static StreamQueuePair accept(Fabric fabric, StreamSizes sizes, ReceiveBuffers receives, ConnectionRequest request,
            ByteBuffer data, Handshake peer) throws RpmaException {
        StreamQueuePair pair = open(fabric, sizes, receives, request, peer.isPrefixedWith(fabric), data, false,
            request.remoteAddress());
        try {
            pair.peerIs(peer);
        } catch (RpmaException | RuntimeException e) {
            pair.close();
            throw e;
        }
        return pair;
    }

    private static StreamQueuePair open(Fabric fabric, StreamSizes sizes, ReceiveBuffers receives, ConnectionRequest request,
            boolean prefixed, ByteBuffer data, boolean active, InetSocketAddress remote) throws RpmaException {
        int posted = 0;
        Connection connection = null;
        LoopCompletions elsewhere = receives.completions();
        if (elsewhere != null) {
            elsewhere.expect();
        }
        try {
            // Receives are posted before the connection exists, so that the peer's first message finds them.
            receives.post(request, sizes.receiveQueue());
            posted = sizes.receiveQueue();
            connection = request.connect(Handshake.of(sizes, prefixed, data).encode());
            if (receives instanceof OwnReceives own) {
                own.connected(connection);
            }
            StreamQueuePair pair = new StreamQueuePair(fabric, sizes, active, receives, connection, remote);
            if (elsewhere != null) {
                elsewhere.add(pair);
            }
            return pair;
        } catch (RpmaException | RuntimeException e) {
            abandon(connection, request, e);
            if (elsewhere != null) {
                elsewhere.expectNoMore();
            }
            receives.leave(posted);
            throw e;
        }
    }

    private void peerIs(Handshake peer) throws RpmaException {
        wire = peer.isPrefixedWith(fabric) ? new PrefixWire(fabric, underWay.length) : ImmediateWire.INSTANCE;
        prefix = wire.prefix;
        peerMessageBytes = peer.messageBytes() - prefix;
        peerCredits = peer.credits();
        credits = peer.credits();
        peerBulkBytes = peer.bulkBytes();
        peerData = peer.data();
        while (early != null && !early.isEmpty()) {
            StreamArrival arrival = early.poll();
            received(arrival.slot(), arrival.bytes(), arrival.opcode() == WRITTEN, arrival.hasImmediate(), arrival.immediate());
        }
    }

    /** Returns the private data of the peer's application. */
    ByteBuffer peerData() {
        return peerData.asReadOnlyBuffer();
    }

    /**
     * Sets a task that runs when the peer grants memory for large data and there was none before; see
     * {@link #returnIdleGrants}.
     */
    void whenGranted(Runnable listener) {
        granted = listener;
    }

    /** Returns whether the stream ended abnormally. It ends in order by FIN, which may be followed by the peer's disconnect. */
    boolean isAbnormal() {
        return broken != null && !(finReceived && (hungUp != null || terminal == ConnectionEvent.CLOSED));
    }

    // ---- events ----

    @Override
    void greeted() throws IOException {
        if (active) {
            Handshake peer = Handshake.decode(connection.privateData());
            if (peer.status() == Handshake.REFUSED_BY_APPLICATION) {
                throw new RpmaRefusedException(remoteAddress, peer.reason());
            }
            if (peer.status() != Handshake.ACCEPTED) {
                throw new ProtocolException(remoteAddress + " refused the connection: "
                    + Handshake.refusalText(peer.status()));
            }
            peer.requireFor(fabric);
            peerIs(peer);
        }
    }

    @Override
    String closedReason() {
        return finReceived ? "Broken pipe: the peer has closed the connection" : "Connection reset by peer";
    }

    // ---- completions ----

    @Override
    int mostCompletions() {
        return sizes.sendQueue() + receives.most();
    }

    @Override
    int poll(WorkCompletions batch) {
        if (connection == null) {
            return 0;
        }
        boolean first = touch();
        int n = take(batch);
        if (hungUp != null && broken == null) {
            hangUp();
        }
        if (n != 0 || !first) {
            settle();
        } else {
            touched = false;
        }
        return Math.abs(n);
    }

    /** Ends the connection with a peer that has gone, after what the peer sent before, and the end of its stream. */
    private void hangUp() {
        takeAll();
        if (broken != null || hangUpLater) {
            return;
        }
        EventLoop user = loop;
        hangUpLater = elsewhere != null && !isHome && user != null && elsewhere.onLoop(() -> {
            elsewhere.drain();
            // Tasks that forward what has been drained are run before this one.
            onItsLoop(() -> breakWith(hungUp));
        });
        if (!hangUpLater) {
            breakWith(hungUp);
        }
    }

    @Override
    void takeSent() {
        if (elsewhere == null || connection == null || posted == retired) {
            return;
        }
        boolean first = touch();
        take(rest());
        boolean ended = broken != null || hungUp != null || isFlushed();
        if (first && !ended && !outcomes.hasNext() && !(blockedBefore && messageLimit() > 0) && !(fullBefore && canPost())) {
            touched = false;
        }
    }

    /**
     * Records the state before a completion is handled; {@link #settle} follows.
     *
     * @return whether there was nothing that the listener had still to be notified of
     */
    boolean touch() {
        boolean first = !touched;
        if (first) {
            touched = true;
            arrivedBefore = arrivedCount;
            finBefore = finReceived;
            brokenBefore = broken != null;
            blockedBefore = false;
            fullBefore = false;
        }
        // Updated on each call: something may have been sent since the first.
        blockedBefore |= messageLimit() == 0;
        fullBefore |= !canPost();
        return first;
    }

    /** Notifies the listener of the effects of the handled completions. */
    void settle() {
        if (!touched) {
            return;
        }
        touched = false;
        if (connection == null || !takeOvertakenEvents()) {
            return;
        }
        boolean outermost = !settling;
        settling = true;
        try {
            tell();
        } finally {
            if (outermost) {
                settling = false;
                repostRead();
            }
        }
    }

    private void tell() {
        grantAreas();
        if (seenDue) {
            confirmEnd();
        }
        // Return the credits of grants, which are never read by the application.
        returnCredits();
        boolean ended = outcomes.hasNext();
        if (arrivedCount != arrivedBefore || finReceived != finBefore || broken != null && !brokenBefore) {
            listener.readable();
        }
        boolean seen = finSeen && !seenTold;
        seenTold = finSeen;
        if (connection != null && (ended || seen || blockedBefore && messageLimit() > 0 || fullBefore && canPost())) {
            if (messageLimit() > 0) {
                stallEnded();
            }
            listener.writable();
        }
    }

    /** Posts the receives of messages that have been read, and returns their credits if enough are due. */
    private void repostRead() {
        int count = readSlotCount;
        if (count > 0) {
            readSlotCount = 0;
            for (int i = 0; i < count; i++) {
                giveBack(readSlots[i]);
            }
            returnable += count;
            if (connection != null) {
                returnCredits();
            }
        }
    }

    @Override
    void completed(WorkCompletions batch, int index) {
        long context = batch.context(index);
        if ((context & SEND_CONTEXT) != 0) {
            retire(context ^ SEND_CONTEXT);
        } else {
            received((int) context, batch.byteLength(index), batch.opcodeCode(index) == WRITTEN, batch.hasImmediate(index),
                batch.immediate(index));
        }
    }

    @Override
    boolean awaitsCompletions() {
        return elsewhere == null || posted != retired || touched;
    }

    // ---- receives that complete elsewhere ----

    /**
     * Returns the loop whose queue the receives complete in, or {@code null} if they complete in the connection's own queue.
     */
    IoEventLoop home() {
        return elsewhere == null ? null : elsewhere.loop();
    }

    /** Returns the queue pair number that completions in the loop's queue contain. */
    int number() {
        return number;
    }

    /** Returns whether the thread that polls the loop's queue uses this queue pair; called on that thread. */
    boolean isHome() {
        return isHome;
    }

    /**
     * Stores a completion for the thread that uses this queue pair, which is a different one; called on the thread that polls.
     */
    void forward(StreamArrival arrival) {
        inbox.add(arrival);
        onItsLoop(this::takeForwarded);
    }

    /** Ends this connection, which another thread uses; called on the thread that polls. */
    void breakElsewhere(IOException cause) {
        onItsLoop(() -> breakWith(cause));
    }

    private void onItsLoop(Runnable task) {
        EventLoop user = loop;
        if (user == null) {
            // The loop that takes over this queue pair checks the inbox.
            return;
        }
        try {
            user.execute(() -> {
                if (loop == user) {
                    touch();
                    task.run();
                    settle();
                }
            });
        } catch (RejectedExecutionException e) {
            // That loop has ended, and has closed this queue pair; close() takes the receives out of the inbox.
            AbstractRpmaServerChannel.LOGGER.debug("{} is on a loop that has ended.", this, e);
        }
    }

    /** Ends only this connection, because a received message could not be processed. {@link #settle} notifies the listener. */
    void cannotTake(Throwable why) {
        AbstractRpmaServerChannel.LOGGER.error("{} failed; its connection is closed.", this, why);
        breakWith(new IOException("what was received could not be dealt with: " + why, why));
    }

    /** Ends only this connection, because notifying its listener failed. */
    void cannotTell(Throwable why) {
        cannotTake(why);
        try {
            listener.failed();
        } catch (Throwable suppressed) {
            AbstractRpmaServerChannel.LOGGER.error("{} could not be closed.", this, suppressed);
        }
    }

    /** Handles the completions that another thread has stored for this one. */
    void takeForwarded() {
        StreamArrival arrival = inbox.poll();
        while (arrival != null) {
            counters.completions++;
            if (arrival.status() == 0) {
                received(arrival.slot(), arrival.bytes(), arrival.opcode() == WRITTEN, arrival.hasImmediate(),
                    arrival.immediate());
            } else {
                CompletionStatus status = CompletionStatus.of(arrival.status());
                counters.failed(status);
                failed(arrival.slot(), status, number);
            }
            arrival = inbox.poll();
        }
    }

    @Override
    void takeElsewhere() {
        if (elsewhere == null) {
            return;
        }
        if (isHome) {
            elsewhere.drain();
        } else {
            takeForwarded();
        }
    }

    @Override
    void enter(EventLoop to) {
        if (elsewhere == null) {
            return;
        }
        if (to == elsewhere.loop()) {
            isHome = true;
        } else {
            loop = to;
        }
        takeForwarded();
        IOException failure = elsewhere.failure();
        if (failure != null) {
            // No thread was notified of the failure when it occurred.
            to.execute(() -> {
                if (isHome || loop == to) {
                    touch();
                    breakWith(failure);
                    settle();
                }
            });
        }
        ConnectionEvent end = earlyEnd;
        earlyEnd = null;
        if (end != null && !endsLater(end)) {
            to.execute(() -> end(end));
        }
    }

    @Override
    void leave() {
        isHome = false;
        loop = null;
    }

    @Override
    boolean endsLater(ConnectionEvent event) {
        if (elsewhere == null || isHome || !established) {
            return false;
        }
        EventLoop user = loop;
        if (user == null) {
            earlyEnd = event;
            return true;
        }
        return elsewhere.onLoop(() -> {
            elsewhere.drain();
            user.execute(() -> end(event));
        });
    }

    @Override
    void failed(long context, CompletionStatus status, int queuePair) {
        boolean send = (context & SEND_CONTEXT) != 0;
        if (send) {
            operationFailed(context ^ SEND_CONTEXT, status);
        } else if (receives.isShared()) {
            // A receive of this connection alone fails together with its queue pair and would fail again if it were posted.
            giveBack((int) context);
        }
        // A peer that has ended its stream may close before it receives credits or areas that it no longer needs, or this end's
        // FIN. Nor is it a failure if the peer has closed in order and does not receive data; in that case, the end of its
        // stream has arrived, but perhaps not been handled.
        boolean gone = send && ((context ^ SEND_CONTEXT) > lastOfStream || status == CompletionStatus.RETRY_EXC_ERR);
        if (broken != null || hungUp != null || !gone && isExpected(status)) {
            return;
        }
        IOException reset = new IOException("Connection reset: " + status.text() + " (" + (send ? "send" : "receive")
            + " on queue pair " + queuePair + ")");
        if (gone) {
            hungUp = reset;
        } else {
            failedBy(status, reset);
        }
    }

    /** Completes all work requests up to this one: a completed send implies that all earlier ones have completed. */
    private void retire(long sequence) {
        while (retired <= sequence) {
            int index = (int) retired & underWayMask;
            ReferenceCounted buf = underWay[index];
            if (buf != null) {
                underWay[index] = null;
                if (buf instanceof RpmaOperation) {
                    outcomes.end(null);
                }
                buf.release();
            }
            retired++;
        }
    }

    private void operationFailed(long sequence, CompletionStatus status) {
        if (sequence >= retired) {
            retire(sequence - 1);
            int index = (int) sequence & underWayMask;
            if (underWay[index] instanceof RpmaOperation operation) {
                underWay[index] = null;
                outcomes.end(broken != null ? broken : RpmaCompletionException.of(operation.text(), status));
                operation.release();
            }
        }
    }

    private void received(int slot, int bytes, boolean written, boolean hasImmediate, int immediate) {
        if (wire != null) {
            wire.received(this, slot, bytes, written, hasImmediate, immediate);
            return;
        }
        // A completion can overtake the event that delivers the peer's handshake.
        if (early == null) {
            early = new ArrayDeque<>();
        }
        early.add(new StreamArrival(number, slot, 0, bytes, written ? WRITTEN : 0, hasImmediate, immediate));
    }

    /** Returns the memory of a receive that has completed. */
    RpmaByteBuf receive(int slot) {
        return receives.buffer(slot);
    }

    /** Ends this connection, because a message has no valid bits that describe it. */
    void refuse(int slot, String why) {
        violated(why);
        giveBack(slot);
    }

    /**
     * Handles a message that has arrived.
     *
     * @param slot the slot of its receive
     * @param bytes the length of its payload, as reported by the peer or the device
     * @param written whether the payload was written into an area
     * @param bits the bits that the peer sent with it
     */
    void take(int slot, int bytes, boolean written, int bits) {
        if (broken != null || !accepts(bytes, written, bits)) {
            giveBack(slot);
            return;
        }
        credits += Immediate.credits(bits);
        int argument = Immediate.argument(bits);
        switch (Immediate.kind(bits)) {
            case Immediate.DATA -> {
                arrive(slot, bytes);
                wantAreas(argument);
                return;
            }
            case Immediate.BULK -> {
                put(areas.fill(), AREA, bytes);
                counters.bulkReceived++;
                wantAreas(argument);
            }
            case Immediate.GRANT -> {
                returnable++;
                granted(receives.buffer(slot), bytes);
            }
            case Immediate.RETURN -> {
                returnable++;
                areas.returned(argument);
            }
            case Immediate.FIN -> {
                finReceived = true;
                seenDue = wire.confirmsEnd();
                if (areas != null) {
                    areas.close();
                }
            }
            case Immediate.SEEN -> finSeen = true;
            default -> {
                // The message only returns credits.
            }
        }
        giveBack(slot);
    }

    /** Checks a message against the rules of the protocol. */
    private boolean accepts(int bytes, boolean written, int bits) {
        int back = Immediate.credits(bits);
        if (credits + back > peerCredits) {
            return violated("the peer returned " + back + " credits on top of " + credits + ", but has only "
                + peerCredits);
        }
        int kind = Immediate.kind(bits);
        if (finReceived && kind != Immediate.CREDIT && kind != Immediate.SEEN) {
            return violated("a message of kind " + kind + " came after the end of the stream");
        }
        if (written != (kind == Immediate.BULK)) {
            return violated("a message of kind " + kind + " was " + (written ? "written" : "sent"));
        }
        if (Immediate.takesCredit(kind) && --peerHolds < 0) {
            return violated("the peer sent a message of kind " + kind + " without a credit");
        }
        switch (kind) {
            case Immediate.DATA:
                if (bytes < 1 || bytes > sizes.messageBytes() - prefix) {
                    return violated("a message of data has " + bytes + " bytes; allowed are 1 to "
                        + (sizes.messageBytes() - prefix));
                }
                return true;
            case Immediate.BULK:
                int area = areas == null ? 0 : areas.next();
                if (bytes < 1 || bytes > area) {
                    return violated("large data has " + bytes + " bytes; granted next are " + area);
                }
                return true;
            case Immediate.RETURN:
                int outstanding = areas == null ? 0 : areas.outstanding();
                int returned = Immediate.argument(bits);
                if (returned < 1 || returned > outstanding) {
                    return violated(returned + " areas for large data are returned; granted are " + outstanding);
                }
                return true;
            case Immediate.GRANT:
                if (bytes < 2 || bytes > sizes.messageBytes() - prefix) {
                    return violated("a grant has " + bytes + " bytes");
                }
                return true;
            case Immediate.CREDIT:
                if (back < halfOf(peerCredits)) {
                    return violated("the peer returned " + back + " credits by a message of their own; at least "
                        + halfOf(peerCredits) + " of its " + peerCredits + " must be due for that");
                }
                return true;
            case Immediate.FIN:
                return true;
            case Immediate.SEEN:
                return awaitsSeen() || violated("the end of a stream is confirmed that has not been sent, or needs none");
            default:
                return violated("a message is of kind " + kind + ", which the protocol does not know");
        }
    }

    /** Appends a message to the unread messages. If receives are scarce, it releases its receive immediately. */
    private void arrive(int slot, int bytes) {
        if (!receives.isCrowded()) {
            put(receives.buffer(slot), slot, bytes);
            return;
        }
        RpmaByteBuf buf = exchange(slot);
        if (buf != null) {
            put(buf, NO_SLOT, bytes);
            return;
        }
        // No registered memory is left: the message is copied to ordinary memory, and its receive becomes available to other
        // connections.
        ByteBuf ordinary = UnpooledByteBufAllocator.DEFAULT.directBuffer(prefix + bytes, prefix + bytes);
        put(ordinary.writeBytes(receives.buffer(slot), 0, prefix + bytes), NO_SLOT, bytes);
        giveBack(slot);
        starved = true;
    }

    private void put(ByteBuf buf, int slot, int bytes) {
        int tail = (arrivedHead + arrivedCount++) % arrived.length;
        arrived[tail] = buf;
        arrivedSlot[tail] = slot;
        arrivedBytes[tail] = bytes;
        counters.messagesReceived++;
        counters.bytesReceived += bytes;
        counters.unread(arrivedCount);
    }

    /** Returns whether a message had to be copied to ordinary memory since the last call. */
    boolean takeStarved() {
        boolean was = starved;
        starved = false;
        return was;
    }

    /**
     * Ends the connection because its peer has violated the protocol; other connections are not affected. This is the only
     * method that does so.
     */
    private boolean violated(String what) {
        breakWith(new ProtocolException("The peer broke the stream protocol: " + what + "; the connection is closed"));
        return false;
    }

    // ---- receiving ----

    /** Returns the number of bytes that can be read immediately: what is left of the oldest message. */
    int available() {
        return arrivedCount == 0 ? 0 : arrivedBytes[arrivedHead] - headRead;
    }

    /** Returns whether the peer has ended the stream; messages that arrived before may still have to be read. */
    boolean isEndOfStream() {
        return finReceived;
    }

    /**
     * Reads from the oldest message; there must be one. If a message fills at least half of its buffer and the handle would
     * read it in one piece, its buffer is passed on without copying and replaced by another one; otherwise the data is copied.
     *
     * @param whole whether large data is passed on without copying even if it is longer than the handle expects
     */
    ByteBuf read(RecvByteBufAllocator.ExtendedHandle handle, ByteBufAllocator allocator, boolean whole) {
        int bytes = arrivedBytes[arrivedHead];
        ByteBuf source = arrived[arrivedHead];
        boolean area = arrivedSlot[arrivedHead] == AREA;
        int start = area ? 0 : prefix;
        boolean fits = handle.guess() >= bytes || whole && area;
        if (headRead == 0 && bytes >= sizes.messageBytes() >>> 1 && fits && releaseSlot()) {
            handle.attemptedBytesRead(Math.max(handle.guess(), bytes));
            arrived[arrivedHead] = null;
            source.setIndex(start, start + bytes);
            consumed();
            counters.receiveCopiesAvoided++;
            handle.lastBytesRead(bytes);
            return source;
        }
        ByteBuf result = handle.allocate(allocator);
        int n = Math.min(bytes - headRead, result.writableBytes());
        handle.attemptedBytesRead(result.writableBytes());
        result.writeBytes(source, start + headRead, n);
        counters.receiveCopiesMade++;
        headRead += n;
        if (headRead == bytes) {
            consumed();
        }
        handle.lastBytesRead(n);
        return result;
    }

    /** Detaches the buffer of the oldest message from its receive. Returns whether that was possible. */
    private boolean releaseSlot() {
        int slot = arrivedSlot[arrivedHead];
        if (slot >= 0) {
            if (connection == null || exchange(slot) == null) {
                return false;
            }
            arrivedSlot[arrivedHead] = NO_SLOT;
        }
        return true;
    }

    /** Drops the oldest message unread. */
    void skip() {
        consumed();
    }

    private void consumed() {
        boolean area = arrivedSlot[arrivedHead] == AREA;
        if (settling && arrivedSlot[arrivedHead] >= 0 && readSlotCount < MOST_READ_SLOTS) {
            // A credit is returned only after its receive has been posted.
            readSlots[readSlotCount++] = arrivedSlot[arrivedHead];
            arrived[arrivedHead] = null;
        } else {
            letGo(arrivedHead);
            returnable++;
        }
        headRead = 0;
        arrivedHead = (arrivedHead + 1) % arrived.length;
        arrivedCount--;
        if (area) {
            areas.read();
            grantAreas();
        }
    }

    /** Releases what a message that arrived holds: its receive, or its buffer. */
    private void letGo(int index) {
        ByteBuf buf = arrived[index];
        arrived[index] = null;
        if (arrivedSlot[index] >= 0) {
            giveBack(arrivedSlot[index]);
        } else if (buf != null) {
            buf.release();
        }
    }

    /** Posts a receive again, unless it belongs to this connection alone and the connection has ended. */
    private void giveBack(int slot) {
        if ((connection == null || broken != null || hungUp != null || isFlushed()) && !receives.isShared()) {
            return;
        }
        try {
            receives.repost(slot);
        } catch (RpmaException e) {
            breakWith(e);
        }
    }

    private RpmaByteBuf exchange(int slot) {
        try {
            return receives.exchange(slot);
        } catch (RpmaException e) {
            breakWith(e);
            return null;
        }
    }

    // ---- receiving large data ----

    /** Called when the peer has announced large data; the size is in units. */
    private void wantAreas(int units) {
        if (units == 0 || sizes.bulkBytes() == 0) {
            return;
        }
        if (areas == null) {
            areas = new BulkAreas(fabric, sizes.bulkBytes());
        }
        areas.want((long) units << Handshake.BULK_UNIT_SHIFT);
    }

    /**
     * Grants the peer the areas that are due, if a credit is available; otherwise the peer continues to use messages meanwhile.
     */
    private void grantAreas() {
        while (areas != null && areas.isDue() && messageLimit() > 0) {
            BulkAreas.Area area = areas.grant();
            if (area == null) {
                counters.bulkRefused++;
                return;
            }
            byte[] grant = area.message();
            RpmaByteBuf message = RpmaByteBufAllocator.DEFAULT.registered(prefix + grant.length, prefix + grant.length);
            if (message == null) {
                areas.withdraw();
                counters.bulkRefused++;
                return;
            }
            message.setIndex(prefix, prefix).writeBytes(grant);
            try {
                credits--;
                post(message, message.slab(), message.block().offset + prefix, grant.length, Immediate.GRANT, 0,
                    isControlSignalled());
                listener.posted();
            } catch (RpmaException e) {
                message.release();
                breakWith(e);
            }
            counters.controlMessagesSent++;
        }
    }

    /** Called when the peer has granted an area. */
    private void granted(ByteBuf message, int bytes) {
        if (grants == null) {
            grants = new BulkGrants(fabric.provider(), peerBulkBytes);
        }
        try {
            grants.add(message, prefix, bytes);
        } catch (ProtocolException e) {
            violated(e.getMessage());
            return;
        }
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
    boolean returnIdleGrants() {
        if (grants == null || grants.count() == 0 || broken != null || finSent) {
            return false;
        }
        if (grants.isIdle() && messageLimit() > 0) {
            int count = grants.count();
            grants.clear();
            credits--;
            sendControl(Immediate.RETURN, count, isControlSignalled());
            return false;
        }
        return true;
    }

    // ---- returning credits ----

    /** Returns credits in a message of their own, if so many are due that the peer may be waiting for them. */
    void returnCredits() {
        if (returnable >= halfOf(sizes.credits()) && isUsable() && !finReceived && freeSlots() > 0) {
            sendControl(Immediate.CREDIT, 0, isControlSignalled());
        }
    }

    /** Returns the number of due credits from which on they may be returned in a message of their own. */
    private static int halfOf(int credits) {
        return credits + 1 >>> 1;
    }

    /** Confirms to the peer that the end of its stream has arrived. */
    private void confirmEnd() {
        if (isUsable() && freeSlots() > 0) {
            seenDue = false;
            sendControl(Immediate.SEEN, 0, isControlSignalled());
        }
    }

    private boolean awaitsSeen() {
        return finSent && !finSeen && wire.confirmsEnd();
    }

    private int takeReturnable() {
        int n = returnable;
        returnable = 0;
        peerHolds += n;
        return n;
    }

    // ---- sending ----

    private int freeSlots() {
        return sizes.sendQueue() - (int) (posted - retired);
    }

    /** Returns how many bytes the next message may have; 0 if none can be sent now. */
    int messageLimit() {
        return isUsable() && !finSent && credits > 0 && freeSlots() > StreamSizes.CONTROL_RESERVE
            ? peerMessageBytes : 0;
    }

    /**
     * Returns how many bytes the next message may have if this many bytes are contiguous; 0 if none can be sent now. The result
     * is greater than {@link #messageLimit()} if there are enough of them and the peer has granted memory.
     */
    int messageLimit(long together) {
        int limit = messageLimit();
        if (limit == 0 || together < BULK_BYTES || grants == null) {
            return limit;
        }
        // A write that is announced by a separate message takes two slots.
        return wire.announces() && freeSlots() <= StreamSizes.CONTROL_RESERVE + 1 ? limit : Math.max(limit, grants.next());
    }

    /** Returns how many bytes must be free in front of sent data, in the same memory; they are overwritten. */
    int prefix() {
        return prefix;
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
        return credits == 0 || freeSlots() - 1 <= StreamSizes.CONTROL_RESERVE || unsignalled + 1 >= sizes.sendQueue() >>> 2;
    }

    /**
     * Returns whether a message without data is signalled. No other message may follow it for a long time; if the connection's
     * queue is only polled when a completion is expected, the message itself must be signalled.
     */
    private boolean isControlSignalled() {
        return elsewhere != null || isSignalDue();
    }

    /** Called when data is to be sent but {@link #messageLimit()} is 0. */
    void stalled() {
        if (stalledSince != 0 || !established || broken != null || finSent) {
            return;
        }
        boolean credit = credits == 0;
        if (credit) {
            counters.creditWaits++;
        } else {
            counters.sendQueueWaits++;
        }
        stalledSince = System.nanoTime();
        if (stall == null) {
            stall = new CreditStallEvent();
        }
        stall.begin();
        stall.credit = credit;
    }

    private void stallEnded() {
        if (stalledSince == 0) {
            return;
        }
        counters.waitNanos += System.nanoTime() - stalledSince;
        stalledSince = 0;
        if (stall.shouldCommit()) {
            stall.remote = String.valueOf(remoteAddress);
            stall.commit();
        }
    }

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
    void send(ByteBuf owner, Slab slab, long offset, int bytes, long together, boolean last) throws IOException {
        int kind = bytes > peerMessageBytes ? Immediate.BULK : Immediate.DATA;
        int wanted = together >= BULK_BYTES && peerBulkBytes > 0
            ? (int) Math.min(together, peerBulkBytes) >>> Handshake.BULK_UNIT_SHIFT : 0;
        credits--;
        try {
            post(owner, slab, offset, bytes, kind, wanted, last || isSignalDue());
        } catch (RpmaException e) {
            owner.release();
            breakWith(e);
            throw e;
        }
        lastOfStream = posted - 1;
        counters.messagesSent++;
        counters.bytesSent += bytes;
        if (kind == Immediate.BULK) {
            counters.bulkSent++;
        }
        if (broken != null) {
            throw broken;
        }
    }

    /**
     * Counts data as sent that is not received, because the peer has closed.
     *
     * @return how many of the bytes the peer's credits would have allowed to be sent
     */
    int sendToNobody(int bytes) {
        int taken = (int) Math.min(bytes, (long) credits * peerMessageBytes - sentToNobody);
        sentToNobody += taken;
        return taken;
    }

    @Override
    public boolean takes(Object message) {
        return message instanceof RpmaOperation;
    }

    @Override
    public boolean canPost() {
        return isUsable() && !finSent && freeSlots() > StreamSizes.CONTROL_RESERVE && !outcomes.isFull();
    }

    @Override
    public Outcomes outcomes() {
        return outcomes;
    }

    /** Posts a one-sided operation. Each operation is signalled, because later data of the stream waits for it. */
    @Override
    public void post(Object message, boolean last) {
        RpmaOperation operation = (RpmaOperation) message;
        boolean registered = false;
        try {
            operation.register(fabric);
            registered = true;
            operation.post(connection, fabric, CompletionFlag.ALWAYS, SEND_CONTEXT | posted);
        } catch (RpmaException e) {
            outcomes.refuse(e);
            if (registered && e.error() != RpmaError.INVALID && e.error() != RpmaError.NOT_SUPPORTED) {
                breakWith(e);
            }
            return;
        }
        underWay[(int) posted & underWayMask] = operation.retain();
        lastOfStream = posted;
        posted++;
        unsignalled = 0;
        outcomes.post();
    }

    private void sendControl(int kind, int argument, boolean signal) {
        counters.controlMessagesSent++;
        post(null, 0, 0, kind, argument, signal);
        listener.posted();
    }

    /** Posts a message whose buffer is released when it has been delivered or could not be posted. */
    private void post(ByteBuf owner, Slab slab, long offset, int bytes, int kind, int argument, boolean signal)
            throws RpmaException {
        LocalMemoryRegion region = slab.region(fabric);
        underWay[(int) posted & underWayMask] = owner;
        post(region, offset, bytes, kind, argument, signal);
    }

    private void post(LocalMemoryRegion region, long offset, int bytes, int kind, int argument, boolean signal) {
        CompletionFlag flag = signal ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR;
        int bits = Immediate.of(kind, takeReturnable(), argument);
        try {
            if (kind == Immediate.BULK) {
                wire.write(connection, grants.take(), region, offset, bytes, flag, bits, SEND_CONTEXT | posted);
                if (wire.announces()) {
                    posted++;
                    unsignalled++;
                    wire.announce(connection, bytes, flag, bits, SEND_CONTEXT | posted);
                }
            } else {
                wire.send(connection, region, offset, bytes, flag, bits, SEND_CONTEXT | posted);
            }
            posted++;
            unsignalled = signal ? 0 : unsignalled + 1;
        } catch (RpmaException e) {
            int index = (int) posted & underWayMask;
            ReferenceCounted buf = underWay[index];
            if (buf != null) {
                underWay[index] = null;
                buf.release();
            }
            refused(e, kind);
        }
    }

    /**
     * Handles a message that could not be posted. An iWARP device refuses it when the peer has disconnected, while other
     * devices accept and flush it; the reason is given by an event.
     */
    private void refused(RpmaException e, int kind) {
        if (!fabric.isIwarp() || e.error() != RpmaError.PROVIDER) {
            breakWith(e);
            return;
        }
        IOException reset = new IOException("Connection reset: " + e.getMessage(), e);
        if (kind == Immediate.DATA || kind == Immediate.BULK) {
            failedBy(CompletionStatus.WR_FLUSH_ERR, reset);
        } else if (hungUp == null) {
            hungUp = reset;
        }
    }

    /** Ends the stream in this direction. The completion of the FIN implies that everything before it has been delivered. */
    @Override
    void finish() {
        if (!finSent && isUsable()) {
            finSent = true;
            sendControl(Immediate.FIN, 0, true);
        }
    }

    @Override
    boolean isFinished() {
        return finSent;
    }

    @Override
    boolean isSettled() {
        return posted - retired == unsignalled;
    }

    @Override
    boolean isDelivered() {
        return posted == retired && !awaitsSeen();
    }

    // ---- the end ----

    /**
     * Handles completed shared receives in this connection's completion queue, which would otherwise be lost with the queue.
     */
    @Override
    void closing() {
        if (!receives.isShared()) {
            return;
        }
        try {
            connection.disconnect();
        } catch (RpmaException e) {
            // The connection was not established, or is disconnected already: in both cases nothing arrives any more.
            breakWith(e);
        }
        if (broken == null) {
            breakWith(new ClosedHere());
        }
        boolean wasSending = takeAllLeft() || arrivedCount > 0;
        if (!finReceived && (wasSending || terminal != null)) {
            receives.endedMidway();
        }
    }

    /**
     * Handles the pending completions. After the disconnect, a peer that follows the protocol causes no more. Returns whether
     * there were receives.
     */
    private boolean takeAllLeft() {
        boolean received = false;
        WorkCompletions rest = rest();
        int left = mostCompletions();
        while (left > 0) {
            int n = take(rest);
            if (n <= 0) {
                break;
            }
            for (int i = 0; i < n; i++) {
                received |= (rest.context(i) & SEND_CONTEXT) == 0;
            }
            left -= n;
        }
        if (elsewhere != null) {
            long before = counters.completions;
            takeElsewhere();
            received |= counters.completions != before;
        }
        return received;
    }

    @Override
    void release(BooleanSupplier quiescent) {
        repostRead();
        if (elsewhere != null) {
            elsewhere.remove(this);
        }
        while (arrivedCount > 0) {
            letGo(arrivedHead);
            arrivedHead = (arrivedHead + 1) % arrived.length;
            arrivedCount--;
        }
        int count = sizes.receiveQueue();
        long bytes = (long) (receives.isShared() ? 1 : count) * sizes.messageBytes();
        LimboMemory.release(quiescent, bytes, () -> receives.leave(count));
        release(underWay);
        if (wire != null) {
            wire.close();
        }
        while (early != null && !early.isEmpty()) {
            giveBack(early.poll().slot());
        }
        if (areas != null) {
            areas.close();
        }
        if (grants != null) {
            grants.close();
        }
    }

    @Override
    String endReason() {
        if (isAbnormal() && !(broken instanceof ClosedChannelException)) {
            return broken.getMessage() != null ? broken.getMessage() : broken.toString();
        }
        return finReceived ? "ended by both" : "closed by this end";
    }

    private static void release(ReferenceCounted[] buffers) {
        for (int i = 0; i < buffers.length; i++) {
            ReferenceCounted buf = buffers[i];
            if (buf != null) {
                buffers[i] = null;
                buf.release();
            }
        }
    }

    @Override
    public String toString() {
        return "stream " + localAddress + " - " + remoteAddress + " on " + fabric;
    }
}
