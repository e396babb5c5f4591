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
import io.rpma.CompletionFlag;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.LimboMemory;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.Slab;
import io.rpma.netty.pair.BacklogMessages;
import io.rpma.netty.pair.FailedOpening;
import io.rpma.netty.pair.OneSided;
import io.rpma.netty.pair.Outcomes;
import io.rpma.netty.pair.PostTarget;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.pair.ThreadBatch;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.function.BooleanSupplier;

/**
 * One end of a connection that carries messages and one-sided operations as librpma does, without framing, credits or a
 * handshake. A message that arrived keeps its receive until it is read, which is what stops the peer. A shared receive, which
 * other connections need, is kept only while messages are being read; see {@link MessageReceiver}. This class does not
 * depend on channels and pipelines.
 */
final class MessageQueuePair extends QueuePair implements PostTarget {
    private static final long SEND_CONTEXT = 1L << 62;
    /**
     * The context of an additional work request, which belongs to no promise and only causes the completion of those before it.
     */
    private static final long FILLER_CONTEXT = 1L << 61;

    private final MessageSizes sizes;
    private ByteBuffer peerData;

    private final MessageReceives receives;
    private final MessageReceiver receiver;

    // Sending. The work requests are numbered; their memory belongs to the caller that had them posted.
    private final Outcomes outcomes;
    private long posted;
    private long retired;
    private int unsignalled;
    private int fillers;

    private MessageQueuePair(Fabric fabric, MessageSizes sizes, boolean active, ByteBuffer peerData, MessageReceives receives,
            Connection connection, InetSocketAddress remote) throws RpmaException {
        super(PublicTypes.INSTANCE, fabric, connection, remote, active, sizes.receives());
        if (sizes.receiveCompletionQueue()) {
            queue = new TwoQueues(connection);
        }
        this.sizes = sizes;
        this.peerData = peerData;
        this.receives = receives;
        receiver = new MessageReceiver(receives, sizes, counters, this::post);
        outcomes = new Outcomes(sizes.sendQueue());
    }

    /**
     * Requests a connection.
     *
     * @param request made by the blocking part of connecting; consumed in any case
     * @param privateData the private data for the peer, possibly empty
     */
    static MessageQueuePair connect(Fabric fabric, MessageSizes sizes, ConnectionRequest request, ByteBuffer privateData,
            InetSocketAddress remote) throws RpmaException {
        return open(fabric, sizes, request, privateData, true, ByteBuffer.allocate(0), remote);
    }

    /**
     * Accepts a connection.
     *
     * @param request the request of the client; consumed in any case
     * @param privateData the private data for the peer, possibly empty
     */
    static MessageQueuePair accept(Fabric fabric, MessageSizes sizes, ConnectionRequest request, ByteBuffer privateData)
            throws RpmaException {
        ByteBuffer peerData;
        try {
            peerData = request.privateData();
        } catch (RpmaException | RuntimeException e) {
            FailedOpening.abandon(null, request, e);
            throw e;
        }
        return open(fabric, sizes, request, privateData, false, peerData, request.remoteAddress());
    }

    private static MessageQueuePair open(Fabric fabric, MessageSizes sizes, ConnectionRequest request, ByteBuffer privateData,
            boolean active, ByteBuffer peerData, InetSocketAddress remote) throws RpmaException {
        MessageReceives receives = null;
        Connection connection = null;
        try {
            receives = MessageReceives.of(fabric, sizes);
            receives.post(request);
            connection = request.connect(privateData.hasRemaining() ? privateData : null);
            return new MessageQueuePair(fabric, sizes, active, peerData, receives, connection, remote);
        } catch (RpmaException | RuntimeException e) {
            FailedOpening.abandon(connection, request, e);
            if (receives != null) {
                receives.close();
            }
            throw e;
        }
    }

    /** Returns the peer's private data, padded with zeros. */
    ByteBuffer peerData() {
        return peerData.asReadOnlyBuffer();
    }

    // ---- events ----

    @Override
    protected void greeted() throws IOException {
        if (active) {
            peerData = connection.privateData();
        }
    }

    @Override
    protected String closedReason() {
        return "the peer has closed the connection, or died";
    }

    // ---- completions ----

    @Override
    protected int mostCompletions() {
        return sizes.sendQueue() + sizes.receivable();
    }

    @Override
    public int poll(WorkCompletions batch) {
        if (connection == null) {
            return 0;
        }
        int arrivedBefore = receiver.unread();
        boolean brokenBefore = broken != null;
        int n = take(batch);
        if (n != 0 && takeOvertakenEvents()) {
            if (outcomes.hasNext()) {
                listener.writable();
            }
            if (receiver.unread() != arrivedBefore || broken != null && !brokenBefore) {
                listener.readable();
            }
        }
        return Math.abs(n);
    }

    @Override
    public BacklogMessages inBacklog() {
        return receives.areShared() ? this::takeInBacklog : null;
    }

    private int takeInBacklog(WorkCompletions batch) {
        if (connection == null) {
            return 0;
        }
        int n = take(batch);
        if (n != 0 && !receiver.setAside(RpmaByteBufAllocator.DEFAULT)) {
            breakWith(receiver.tooManyUnread());
            receiver.setAllAside(RpmaByteBufAllocator.DEFAULT);
            try {
                // Nothing else ends the connection before the channel is registered.
                connection.disconnect();
            } catch (RpmaException e) {
                broken.addSuppressed(e);
            }
        }
        return Math.abs(n);
    }

    @Override
    protected void completed(WorkCompletions batch, int index) {
        long context = batch.context(index);
        if ((context & SEND_CONTEXT) != 0) {
            retire(context ^ SEND_CONTEXT);
        } else if ((context & FILLER_CONTEXT) != 0) {
            fillers--;
            retire(context ^ FILLER_CONTEXT);
        } else {
            received((int) context, batch, index);
        }
    }

    @Override
    protected void failed(long context, CompletionStatus status, int queuePair) {
        if ((context & FILLER_CONTEXT) != 0) {
            failedBy(status, RpmaCompletionException.of("a work request", status));
            return;
        }
        if ((context & SEND_CONTEXT) == 0) {
            returnShared((int) context);
            failedBy(status, new RpmaCompletionException(status, "Connection reset: a receive failed: " + status.text()
                + (status == CompletionStatus.LOC_LEN_ERR || status == CompletionStatus.LOC_QP_OP_ERR
                    ? "; was the peer's message longer than the " + sizes.receiveBytes() + " bytes of a receive buffer"
                        + " (RPMA_RECEIVE_BUFFER_BYTES)?" : "")));
            return;
        }
        long sequence = context ^ SEND_CONTEXT;
        retire(sequence - 1);
        if (retired == sequence) {
            RpmaCompletionException cause = RpmaCompletionException.of("a work request", status);
            retired++;
            outcomes.end(broken != null ? broken : flushed != null ? flushed : cause);
            failedBy(status, cause);
        }
    }

    /** Completes all work requests up to this one: a completed send implies that all earlier ones have completed. */
    private void retire(long sequence) {
        while (retired <= sequence) {
            retired++;
            outcomes.end(null);
        }
    }

    private void received(int slot, WorkCompletions batch, int index) {
        if (broken != null) {
            returnShared(slot);
            return;
        }
        receiver.arrived(slot, batch, index);
    }

    // ---- receiving ----

    /** Returns the messages that have arrived, and how they are read. */
    MessageReceiver receiver() {
        return receiver;
    }

    /** Posts a receive again, unless it belongs to this connection alone and the connection has ended. */
    private void post(int slot) {
        if (!receives.areShared() && (connection == null || broken != null || isEnding())) {
            return;
        }
        try {
            receives.repost(connection, slot);
        } catch (RpmaException e) {
            breakWith(e);
        }
    }

    /** Posts a shared receive again, even if this connection has ended. */
    private void returnShared(int slot) {
        if (receives.areShared()) {
            post(slot);
        }
    }

    // ---- sending ----

    private int freeSlots() {
        return sizes.sendQueue() - (int) (posted - retired) - fillers;
    }

    @Override
    public boolean takes(Object message) {
        return true;
    }

    @Override
    public boolean canPost() {
        return isUsable() && freeSlots() > 0 && !outcomes.isFull();
    }

    @Override
    public Outcomes outcomes() {
        return outcomes;
    }

    @Override
    public void post(Object message, boolean last) {
        // A sender that is about to wait needs a completion, to be notified when it can continue.
        boolean signal = last || fabric.signalsData() || freeSlots() == 1 || outcomes.isAlmostFull()
            || unsignalled + 1 >= sizes.sendQueue() >>> 2;
        CompletionFlag flag = signal ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR;
        long context = SEND_CONTEXT | posted;
        boolean registered = !(message instanceof OneSided);
        try {
            switch (message) {
                case ByteBuf buf -> send(buf, flag, context);
                case RpmaMessage withImmediate -> sendWithImmediate(withImmediate, flag, context);
                default -> {
                    OneSided operation = (OneSided) message;
                    operation.register(fabric);
                    registered = true;
                    operation.post(connection, fabric, flag, context);
                }
            }
        } catch (RpmaException e) {
            outcomes.refuse(e);
            if (registered && e.error() != RpmaError.INVALID && e.error() != RpmaError.NOT_SUPPORTED) {
                breakWith(e);
            } else if ((signal || outcomes.isFull()) && unsignalled > 0) {
                signalBefore();
            }
            return;
        }
        posted++;
        unsignalled = signal ? 0 : unsignalled + 1;
        if (freeSlots() == 0) {
            counters.sendQueueWaits++;
        }
        outcomes.post();
    }

    /**
     * Posts an additional signalled work request. It is needed if a refused request would have caused the completion of those
     * before it, or if many refused ones wait for their completion.
     */
    private void signalBefore() {
        try {
            connection.write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, FILLER_CONTEXT | posted - 1);
            fillers++;
            unsignalled = 0;
        } catch (RpmaException e) {
            breakWith(e);
        }
    }

    private void send(ByteBuf buf, CompletionFlag flag, long context) throws RpmaException {
        int bytes = counted(buf.readableBytes());
        if (bytes == 0) {
            connection.send(null, 0, 0, flag, context);
            return;
        }
        Slab slab = RegisteredMemory.slab(buf.memoryAddress());
        LocalMemoryRegion region = slab.region(fabric);
        connection.send(region, buf.memoryAddress() + buf.readerIndex() - slab.address(), bytes, flag, context);
    }

    private void sendWithImmediate(RpmaMessage message, CompletionFlag flag, long context) throws RpmaException {
        fabric.requireImmediateData("write the bytes without it, as a ByteBuf that begins with the value");
        ByteBuf buf = message.content();
        int bytes = counted(buf.readableBytes());
        LocalMemoryRegion region = null;
        long offset = 0;
        if (bytes != 0) {
            Slab slab = RegisteredMemory.slab(buf.memoryAddress());
            region = slab.region(fabric);
            offset = buf.memoryAddress() + buf.readerIndex() - slab.address();
        }
        connection.sendWithImmediate(region, offset, bytes, flag, message.immediate(), context);
    }

    private int counted(int bytes) throws RpmaException {
        if (bytes > sizes.peerReceiveBytes()) {
            throw new RpmaException(RpmaError.INVALID, "a message of " + bytes + " bytes is longer than the "
                + sizes.peerReceiveBytes() + " that the peer can receive (RPMA_PEER_RECEIVE_BUFFER_BYTES, or the device's"
                + " limit): split it");
        }
        counters.messagesSent++;
        counters.bytesSent += bytes;
        return bytes;
    }

    @Override
    public void finish() {
        // No message signals the end of the data. The peer detects it by the disconnect.
    }

    @Override
    public boolean isFinished() {
        return true;
    }

    @Override
    protected boolean awaitsOutcomes() {
        return outcomes.isAwaited();
    }

    @Override
    public boolean isSettled() {
        return posted - retired == unsignalled;
    }

    @Override
    public boolean isDelivered() {
        return posted == retired;
    }

    // ---- the end ----

    @Override
    protected void closing() {
        if (!receives.areShared()) {
            return;
        }
        // After the disconnect, the queue pair consumes no more shared buffers; those that it has consumed are returned.
        breakWith(new ClosedChannelException());
        try {
            connection.disconnectBeforeClose();
        } catch (RpmaException e) {
            breakWith(e);
        }
        boolean midway = terminal != null || receiver.unread() > 0 || receiver.hasDropped();
        long before = counters.completions;
        WorkCompletions rest = ThreadBatch.get();
        int left = mostCompletions();
        while (left > 0) {
            int n = take(rest);
            if (n <= 0) {
                break;
            }
            left -= n;
        }
        if (midway || counters.completions != before) {
            receives.endedMidway();
        }
        receiver.dropShared();
    }

    @Override
    protected void release(BooleanSupplier quiescent) {
        receiver.forget();
        LimboMemory.release(quiescent, receives.bytes(), receives::close);
    }

    @Override
    protected String endReason() {
        // closing() breaks each queue pair with a shared receive queue with a ClosedChannelException.
        return broken != null && !(broken instanceof ClosedChannelException) ? String.valueOf(broken.getMessage())
            : "closed by this end";
    }

    @Override
    public String toString() {
        return "messages " + localAddress + " - " + remoteAddress + " on " + fabric;
    }
}
