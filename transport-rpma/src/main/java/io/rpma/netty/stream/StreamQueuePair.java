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

import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.util.internal.PlatformDependent;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.netty.jit.InliningBarrier;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.LimboMemory;
import io.rpma.netty.pair.StacklessIOException;
import io.rpma.netty.pair.ThreadBatch;
import io.rpma.netty.pair.TransportLogger;
import io.rpma.netty.pair.UserTypes;
import io.rpma.netty.receive.LoopCompletions;
import io.rpma.netty.receive.LoopReceives;
import io.rpma.netty.receive.ReceiveBuffers;
import io.rpma.netty.receive.StreamArrival;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.function.BooleanSupplier;

/**
 * One end of a stream over a queue pair; implements the protocol of {@code docs/protocol.md}. It handles the events and
 * completions of the connection and notifies the listener of their effects. Its {@link StreamSender} sends, and its
 * {@link StreamReceiver} receives. None of these classes depends on channels and pipelines.
 *
 * <p>Used by one event loop at a time.
 */
public final class StreamQueuePair extends StreamEnd {
    private static final InliningBarrier TELL =
        new InliningBarrier(MethodHandles.lookup(), StreamQueuePair.class, "tell", MethodType.methodType(void.class));
    private static final InliningBarrier DISPATCH = new InliningBarrier(MethodHandles.lookup(), StreamQueuePair.class, "dispatch",
        MethodType.methodType(void.class, WorkCompletions.class, int.class));

    private final StreamSizes sizes;
    private final ReceiveBuffers receives;
    private final StreamSender sender;
    private final StreamReceiver receiver;
    // Null if the receives complete in the connection's own queue.
    private final LoopReceives elsewhere;
    private final StreamChanges changes;
    // Null if no channel uses this queue pair yet.
    private IdleGrants idleGrants;
    private ByteBuffer peerData = Handshake.NO_DATA;
    // Why a message could not be delivered to a peer that may have closed in order, or null; see failed().
    private IOException hungUp;
    private boolean hangsUpLater;

    StreamQueuePair(UserTypes types, Fabric fabric, StreamSizes sizes, boolean active, ReceiveBuffers receives,
            Connection connection, InetSocketAddress requestedRemote) {
        super(types, fabric, connection, requestedRemote, active, sizes.credits());
        this.sizes = sizes;
        this.receives = receives;
        LoopCompletions completions = receives.completions();
        elsewhere = completions == null ? null
            : new LoopReceives(this, completions, connection.queuePairNumber(), sizes.receiveQueue());
        PeerCredits given = new PeerCredits(sizes.credits());
        sender = new StreamSender(this, sizes, given, elsewhere != null);
        receiver = new StreamReceiver(this, sizes, receives, given, sender);
        changes = new StreamChanges(sender, receiver);
    }

    /** Begins the stream with the handshake of the peer. */
    void peerIs(Handshake peer) throws RpmaException {
        StreamWire wire = peer.isPrefixedWith(fabric) ? new PrefixWire(fabric, sender.window().length())
            : ImmediateWire.INSTANCE;
        peerData = peer.data();
        sender.open(wire, peer);
        receiver.open(wire);
    }

    /** Returns the private data of the peer's application. */
    public ByteBuffer peerData() {
        return peerData.asReadOnlyBuffer();
    }

    /** Returns what this end sends. */
    public StreamSender sender() {
        return sender;
    }

    /** Returns what this end receives. */
    public StreamReceiver receiver() {
        return receiver;
    }

    // ---- events ----

    @Override
    protected void greeted() throws IOException {
        if (active) {
            Handshake peer = Handshake.decode(connection.privateData());
            if (peer.status() == Handshake.REFUSED_BY_APPLICATION) {
                throw types.refused(remoteAddress, peer.reason());
            }
            if (peer.status() != Handshake.ACCEPTED) {
                throw new ProtocolException(remoteAddress + " refused the connection: "
                    + Handshake.refusalText(peer.status()));
            }
            peer.requireFor(fabric);
            peerIs(peer);
        }
    }

    /** Returns whether the stream ended abnormally. It ends in order by FIN, which may be followed by the peer's disconnect. */
    public boolean isAbnormal() {
        return broken != null
            && !(receiver.isEndOfStream() && (hungUp != null || terminal == ConnectionEvent.CLOSED));
    }

    @Override
    protected String closedReason() {
        return receiver.isEndOfStream() ? "Broken pipe: the peer has closed the connection" : "Connection reset by peer";
    }

    @Override
    protected boolean endsLater(ConnectionEvent event) {
        return elsewhere != null && established && elsewhere.endsLater(event);
    }

    // ---- completions ----

    @Override
    protected int mostCompletions() {
        // The receives of a loop complete in the queue of the loop.
        return sizes.sendQueue() + (receives.completions() != null ? 0 : receives.most());
    }

    @Override
    public int poll(WorkCompletions batch) {
        if (connection == null) {
            return 0;
        }
        boolean first = touch();
        int n = take(batch);
        if (hungUp != null && broken == null) {
            hangUp();
        }
        if (n == 0 && first) {
            changes.end();
            return 0;
        }
        settle();
        // Completions that were taken before count as work, too. The listener may have posted more, and the flush may have taken
        // the completions of that, so the loop must poll again before it blocks.
        return Math.max(1, Math.abs(n));
    }

    /** Ends the connection with a peer that has gone, after what the peer sent before, and the end of its stream. */
    private void hangUp() {
        takeAll();
        if (broken == null && !hangsUpLater) {
            hangsUpLater = elsewhere != null && elsewhere.breaksLater(hungUp);
            if (!hangsUpLater) {
                breakWith(hungUp);
            }
        }
    }

    @Override
    public void takeSent() {
        if (elsewhere == null || connection == null || sender.window().isEmpty()) {
            return;
        }
        boolean first = touch();
        take(ThreadBatch.get());
        if (first && !isEnded() && !sender.outcomes().hasNext() && !changes.unblockSending()) {
            changes.end();
        }
    }

    @Override
    public boolean touch() {
        return changes.begin(broken != null);
    }

    @Override
    public void settle() {
        if (!changes.arePending()) {
            return;
        }
        changes.end();
        if (connection == null || !takeOvertakenEvents()) {
            return;
        }
        boolean outermost = !receiver.isNotifying();
        receiver.beginNotifying();
        try {
            TELL.method().invokeExact(this);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        } finally {
            if (outermost) {
                endNotifying();
            }
        }
    }

    /**
     * Posts the receives of what the listener has read, and returns their credits. If that fails, the listener is notified that
     * the connection is broken.
     */
    private void endNotifying() {
        boolean wasBroken = broken != null;
        receiver.endNotifying();
        if (broken != null && !wasBroken && connection != null) {
            listener.readable();
        }
    }

    private void tell() {
        receiver.respond();
        boolean ended = sender.outcomes().hasNext();
        // Determined before the listener is notified: if the listener closes another channel of this event loop, the queue of
        // both is polled, and the changes are recorded anew.
        boolean unblocked = changes.unblockSending();
        if (changes.concernReading(broken != null)) {
            listener.readable();
        }
        boolean confirmed = changes.takeConfirmation();
        if (connection != null && (ended || confirmed || unblocked || changes.unblockSending())) {
            if (sender.messageLimit() > 0) {
                sender.stallEnded();
            }
            listener.writable();
        }
    }

    @Override
    protected void completed(WorkCompletions batch, int index) {
        try {
            DISPATCH.method().invokeExact(this, batch, index);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    private void dispatch(WorkCompletions batch, int index) {
        long context = batch.context(index);
        if ((context & StreamSender.CONTEXT) != 0) {
            sender.completed(context);
        } else {
            receiver.received((int) context, batch.byteLength(index), batch.opcodeCode(index) == StreamReceiver.WRITTEN,
                batch.hasImmediate(index), batch.immediate(index));
        }
    }

    @Override
    public void handle(StreamArrival arrival) {
        counters.completions++;
        if (arrival.status() == 0) {
            receiver.received(arrival);
        } else {
            CompletionStatus status = CompletionStatus.of(arrival.status());
            counters.failed(status);
            failed(arrival.slot(), status, arrival.queuePair());
        }
    }

    @Override
    protected void failed(long context, CompletionStatus status, int queuePair) {
        boolean send = (context & StreamSender.CONTEXT) != 0;
        if (send) {
            sender.failed(context, status);
        } else if (receives.isShared()) {
            // A receive of this connection alone fails together with its queue pair and would fail again if it were posted.
            receiver.giveBack((int) context);
        }
        // A peer that has ended its stream may close before it receives credits or areas that it no longer needs, or this end's
        // FIN. Nor is it a failure if the peer has closed in order and does not receive data; in that case, the end of its
        // stream has arrived, but perhaps not been handled.
        boolean gone = send && (sender.isAfterStream(context) || status == CompletionStatus.RETRY_EXC_ERR);
        if (broken != null || hungUp != null || !gone && isExpected(status)) {
            return;
        }
        IOException reset = new StacklessIOException("Connection reset: " + status.text() + " ("
            + (send ? "send" : "receive") + " on queue pair " + queuePair + ")");
        if (gone) {
            hungUp = reset;
        } else {
            failedBy(status, reset);
        }
    }

    @Override
    void refused(RpmaException e, int kind) {
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

    @Override
    public boolean awaitsCompletions() {
        return elsewhere == null || !sender.window().isEmpty() || changes.arePending();
    }

    @Override
    public void cannotTake(Throwable why) {
        TransportLogger.LOGGER.error("{} failed; its connection is closed.", this, why);
        breakWith(new IOException("the received data could not be processed: " + why, why));
    }

    @Override
    public void cannotTell(Throwable why) {
        cannotTake(why);
        try {
            listener.failed();
        } catch (Throwable suppressed) {
            TransportLogger.LOGGER.error("{} could not be closed.", this, suppressed);
        }
    }

    // ---- receives that complete elsewhere ----

    /** Returns the loop in whose queue the receives complete, or {@code null} if they complete in the connection's own. */
    public IoEventLoop home() {
        return elsewhere == null ? null : elsewhere.loop();
    }

    @Override
    public LoopReceives elsewhere() {
        return elsewhere;
    }

    @Override
    protected void takeElsewhere() {
        if (elsewhere != null) {
            elsewhere.take();
        }
    }

    /** Sets what returns granted memory that is idle. Called before an event loop uses this queue pair. */
    public void idleGrants(IdleGrants idle) {
        idleGrants = idle;
        sender.whenGranted(idle::granted);
    }

    @Override
    public void enter(EventLoop loop) {
        if (idleGrants != null) {
            idleGrants.enter(loop);
        }
        if (elsewhere != null) {
            elsewhere.enter(loop);
        }
    }

    @Override
    public void leave() {
        if (idleGrants != null) {
            idleGrants.leave();
        }
        if (elsewhere != null) {
            elsewhere.leave();
        }
    }

    // ---- the end ----

    @Override
    boolean isEnded() {
        return connection == null || broken != null || hungUp != null || isEnding();
    }

    @Override
    public void finish() {
        sender.finish();
        receiver.grantNoMore();
    }

    @Override
    public boolean isFinished() {
        return sender.isFinished();
    }

    @Override
    protected boolean awaitsOutcomes() {
        return sender.outcomes().isAwaited();
    }

    @Override
    public boolean isSettled() {
        return sender.window().isSettled();
    }

    @Override
    public boolean isDelivered() {
        return sender.window().isEmpty() && !sender.awaitsConfirmation();
    }

    /**
     * Handles completed shared receives in this connection's completion queue, which would otherwise be lost with the queue.
     */
    @Override
    protected void closing() {
        if (!receives.isShared()) {
            return;
        }
        try {
            connection.disconnectBeforeClose();
        } catch (RpmaException e) {
            // The connection was not established, or is disconnected already: in both cases nothing arrives any more.
            breakWith(e);
        }
        if (broken == null) {
            breakWith(new ClosedByThisEnd());
        }
        boolean wasSending = takeAllLeft() || receiver.unread() > 0;
        if (!receiver.isEndOfStream() && (wasSending || terminal != null)) {
            receives.endedMidway();
        }
    }

    /**
     * Handles the pending completions. After the disconnect, a peer that follows the protocol causes no more. Returns whether
     * there were receives.
     */
    private boolean takeAllLeft() {
        boolean received = false;
        WorkCompletions rest = ThreadBatch.get();
        int left = mostCompletions();
        while (left > 0) {
            int n = take(rest);
            if (n <= 0) {
                break;
            }
            for (int i = 0; i < n; i++) {
                received |= (rest.context(i) & StreamSender.CONTEXT) == 0;
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
    protected void release(BooleanSupplier quiescent) {
        receiver.repostRead();
        if (elsewhere != null) {
            elsewhere.close();
        }
        receiver.drop();
        int count = sizes.receiveQueue();
        long bytes = (long) (receives.isShared() ? 1 : count) * sizes.messageBytes();
        LimboMemory.release(quiescent, bytes, () -> receives.leave(count));
        sender.close();
        receiver.close();
    }

    @Override
    protected String endReason() {
        if (isAbnormal() && !(broken instanceof ClosedChannelException)) {
            return broken.getMessage() != null ? broken.getMessage() : broken.toString();
        }
        return receiver.isEndOfStream() ? "ended by both" : "closed by this end";
    }

    @Override
    public String toString() {
        return "stream " + localAddress + " - " + remoteAddress + " on " + fabric;
    }
}
