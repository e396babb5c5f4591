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

import io.rpma.CompletionFlag;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.host.FaultPoints;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.process.ControlSocket;
import io.rpma.soft.process.GracePeriod;
import io.rpma.soft.process.HalfMemory;
import io.rpma.soft.process.LocalReceiveQueue;
import io.rpma.soft.process.RemoteEnd;
import io.rpma.soft.shared.CompletionChannel;
import io.rpma.soft.shared.EventPipe;
import io.rpma.soft.shared.Half;

/**
 * A reliable queue pair. There is no device: the thread that posts a work request executes it, by the {@link Requester}. If the
 * peer has posted no receive, has no room for a completion or is not ready, the work request and all later ones become
 * {@link WaitingRequests}. The peer signals the event descriptor when its condition has changed, and the next post or poll
 * continues.
 *
 * <p>This class connects, fails and closes its parts: the {@link Requester}, {@link Completer} and {@link WaitingRequests} for
 * what it sends, the {@link Responder} for what it receives. They use it as {@link LocalEnd}, which holds the state.
 *
 * <p>While no request waits, the posting thread executes. While a request waits, one thread at a time executes, whichever
 * continues the waiting requests; that class explains how the executing state passes between them.
 */
final class QueuePair extends LocalEnd {
    private final LocalProcess process;
    private final ProtectionDomain domain;
    private final SendQueue sends;
    private final Completer completer;
    private final WaitingRequests waiting;
    private final Responder responder;
    private final CompletionChannel channel;
    private final CompletionChannel receiveChannel;
    // The socket, and whether the connection has been broken off. The poll of a shared receive queue may break off a connection
    // whose request has not been accepted yet, and which therefore has no socket here.
    private volatile ControlSocket control;
    private volatile boolean brokenOff;
    // Whether the peer can receive the descriptor of the completion queue, and whether it has been sent.
    private volatile boolean mayLend;
    private boolean lent;
    // Does not change once connected: connect() sets it before the other end.
    private Requester requester;

    private long stalls;
    private volatile boolean reclaimed;

    private QueuePair(ProtectionDomain domain, int number, QueueSizes sizes, HalfMemory half, CompletionChannel channel,
            CompletionChannel receiveChannel) throws RpmaException {
        super(number, half, receiveCapacity(sizes), ringCapacity(sizes), channel, receiveChannel);
        process = domain.process();
        this.domain = domain;
        sends = new SendQueue(sizes.sends());
        completer = new Completer(this, sends);
        waiting = new WaitingRequests(this, completer, sends.capacity(), process.starvationTimer());
        this.channel = channel;
        this.receiveChannel = receiveChannel;
        responder = new Responder(this, sizes, base() + Half.ring(receiveCapacity()), process.limbo());
    }

    /**
     * Creates a queue pair that is not connected, with a number that is unique in this process.
     *
     * @param sizes of its queues
     * @param half of {@link #halfSize} bytes; the queue pair takes ownership unless this method fails
     * @param channel the channel of its completion queue
     * @param receiveChannel the channel of its own receive completion queue, or {@code null} if it has none
     */
    static QueuePair create(ProtectionDomain domain, QueueSizes sizes, HalfMemory half, CompletionChannel channel,
            CompletionChannel receiveChannel) throws RpmaException {
        int number = domain.process().newQueuePairNumber(half.owner());
        QueuePair queuePair = new QueuePair(domain, number, sizes, half, channel, receiveChannel);
        queuePair.responder.publish();
        queuePair.process.add(queuePair);
        return queuePair;
    }

    private static int receiveCapacity(QueueSizes sizes) {
        return sizes.sharedReceiveQueue() != null ? 0 : Half.powerOfTwo(sizes.receives());
    }

    private static int ringCapacity(QueueSizes sizes) {
        return sizes.sharedReceiveQueue() != null ? sizes.sharedReceiveQueue().ringCapacity(sizes.receives())
            : receiveCapacity(sizes);
    }

    /** Returns the size of the half of a queue pair, in bytes. */
    static int halfSize(QueueSizes sizes) {
        return (int) Half.size(receiveCapacity(sizes), ringCapacity(sizes));
    }

    ProtectionDomain domain() {
        return domain;
    }

    SendQueue sends() {
        return sends;
    }

    /** Returns what the peer finds at this end. */
    Responder responder() {
        return responder;
    }

    /** Returns how often a work request had to wait for the peer. */
    long stalls() {
        return stalls;
    }

    /** Returns what executes its work requests, once it is connected. */
    Requester requester() {
        return requester;
    }

    @Override
    LocalReceiveQueue sharedReceiveQueue() {
        return responder.sharedReceiveQueue();
    }

    /** Sets the control socket, which detects the end of the peer. Called before {@link #connect} and {@link #ready()}. */
    void control(ControlSocket socket) {
        control = socket;
        if (brokenOff) {
            socket.breakBoth();
        }
    }

    /** Sets the other end, before {@link #ready()}. */
    void connect(RemoteEnd end) {
        requester = new Requester(this, domain, end, control);
        end.receiveDoorbellFrom(control);
        completer.start(requester);
        waiting.start(requester);
        setRemote(end);
    }

    /**
     * Starts to send and to receive. The fence orders the store of the state before the load of {@link Half#STALLED} in
     * {@link #wakePeer()}; {@link Requester#announce} of the peer orders its store of that word before its next load of the
     * state. So either the peer observes the new state or this side observes that the peer waits (row M1 of
     * docs/memory-order.md).
     */
    void ready() {
        if (changeState(Half.INITIAL, Half.READY)) {
            if (FaultPoints.ENABLED) {
                FaultPoints.at("readying");
            }
            Memory.putIntVolatile(base() + Half.STATE, Half.READY);
            Memory.fullFence();
            if (state() != Half.READY) {
                // Another thread has failed or closed the queue pair after the compare-and-set, and the store above may have
                // replaced its store of the error.
                Memory.putIntVolatile(base() + Half.STATE, Half.ERROR);
                Memory.fullFence();
            }
            wakePeer();
        }
    }

    /**
     * Enters the error state: this end accepts no more messages, and the work requests that wait are flushed. Receives that the
     * peer completed earlier can still be polled; polling flushes the receives that are still posted.
     */
    @Override
    void fail() {
        int was = state();
        while (was != Half.ERROR && was != CLOSED) {
            if (changeState(was, Half.ERROR)) {
                if (FaultPoints.ENABLED) {
                    FaultPoints.at("failing");
                }
                Memory.putIntVolatile(base() + Half.STATE, Half.ERROR);
                // Orders the store of the state before the load of Half.STALLED in wakePeer(), as in ready(), and of the waiting
                // bit in wakeWaiter() (rows M1 and M2 of docs/memory-order.md).
                Memory.fullFence();
                wakePeer();
                responder.wakeWaiter();
                resume();
                // Orders the error state and what resume() has flushed before the loads of the armed words. The polling thread
                // arms, executes a fence and polls again: either it observes the error, or this thread finds the queue armed
                // (rows M5 and M8 of docs/memory-order.md).
                Memory.fullFence();
                // ringIfOpen(): another thread may be closing the connection.
                ownDoorbell().ringIfOpen();
                if (receiveDoorbell() != ownDoorbell()) {
                    receiveDoorbell().ringIfOpen();
                }
                return;
            }
            was = state();
        }
    }

    /**
     * Ends the connection because the peer has broken the protocol by what it has written to shared memory: enters the error
     * state, and lets both ends get the final event. The error state alone would not be noticed here, because the receives of a
     * shared receive queue are not flushed. A peer whose request has not been accepted yet can do so as well: then accepting the
     * request fails.
     */
    @Override
    void breakOff() {
        fail();
        brokenOff = true;
        ControlSocket socket = control;
        if (socket != null) {
            socket.breakBoth();
        }
    }

    /**
     * Handles the end of the peer, which has closed the connection or died: the work requests that wait fail, and no operation
     * of the peer can be in progress.
     */
    void peerGone() {
        markPeerGone();
        resume();
        responder.peerGone();
        // Orders the accesses above before those to the armed words in wake(), as in fail() (rows M5 and M9 of
        // docs/memory-order.md).
        Memory.fullFence();
        channel.wake(base() + Half.ARMED);
        if (receiveChannel != null) {
            receiveChannel.wake(base() + Half.RECEIVE_ARMED);
        }
    }

    /**
     * Returns the descriptor of its completion queue, whose channel is deferred. The first call creates it, and sends it to the
     * peer, or postpones that until {@link #lendFromNow()}. Called while the queue is open.
     */
    int watch() throws RpmaException {
        return channel.watch(base() + Half.ARMED, this::lend);
    }

    /**
     * Sends the descriptor of its completion queue to the peer if it has been requested already. Called when the peer has been
     * sent the message that establishes the connection, because it expects no other message before that one.
     */
    void lendFromNow() throws RpmaException {
        mayLend = true;
        channel.lend(this::lend);
    }

    // Called under the monitor of the channel.
    private void lend(EventPipe event) throws RpmaException {
        if (half().owner().isSelf()) {
            // The other end uses the doorbell of this one.
            event.closeForPeer();
            return;
        }
        if (lent || !mayLend) {
            return;
        }
        int fd = event.openForPeer();
        int result;
        try {
            result = control.send(ControlMessage.of(ControlMessage.DOORBELL).attach(ControlMessage.EVENT, 0, 0, fd));
        } finally {
            Posix.close(fd);
        }
        // A peer that is gone needs no doorbell. The end of its socket is an event of this connection.
        if (result < 0 && result != -Sockets.EPIPE && result != -Sockets.ECONNRESET) {
            throw SoftLog.failure(RpmaError.PROVIDER, -result, "the descriptor of the completion queue cannot be sent to the"
                + " peer: " + Posix.strerror(-result), null);
        }
        lent = true;
    }

    // ---- work requests

    /**
     * Posts a work request.
     *
     * @param value of an atomic write
     */
    void post(int operation, SoftLocalMemoryRegion local, long localOffset, SoftRemoteMemoryRegion target, long remoteOffset,
            long length, CompletionFlag flag, int immediate, long value, long context) throws RpmaException {
        int now = stateToPost();
        if (now == Half.INITIAL) {
            throw SoftLog.failure(RpmaError.PROVIDER, Posix.EINVAL,
                "the connection is not established: post after ConnectionEvent.ESTABLISHED", null);
        }
        checkOpen();
        long request = sends.take();
        boolean signalled = flag == CompletionFlag.ALWAYS;
        if (now == Half.ERROR || !waiting.isEmpty()) {
            waiting.add(operation, local, localOffset, target, remoteOffset, length, immediate, value, signalled, context,
                request);
            resume();
            return;
        }
        int result = requester.execute(operation, local, localOffset, target, remoteOffset, length, immediate, value);
        if (result < 0) {
            waiting.add(operation, local, localOffset, target, remoteOffset, length, immediate, value, signalled, context,
                request);
            stall(result);
            resume();
        } else {
            completer.finish(operation, result, signalled, context, request, length);
        }
    }

    private void stall(int reason) {
        stalls++;
        if (reason == Requester.NO_RECEIVE && SoftLog.isEnabled(RpmaLog.Level.NOTICE)) {
            SoftLog.log(RpmaLog.Level.NOTICE, "queue pair " + number() + " waits: the peer has posted no receive (a device would"
                + " retry after 655 ms)");
        }
    }

    @Override
    void resume() {
        waiting.resume();
    }

    @Override
    int pollReceives(WorkCompletions completions, int count) {
        return responder.poll(completions, count);
    }

    // ---- taking memory away

    @Override
    void awaitOwn() {
        if (remote() != null) {
            requester.awaitOwn();
        }
    }

    /**
     * Closes the queue pair: it executes nothing more, and operations that the peer begins from now on do not reach this end.
     * This method does not wait for an operation that the peer is executing: until that operation has ended, this end keeps its
     * memory and {@link #isReclaimed()} returns {@code false}.
     */
    void close() {
        if (changeToClosed() == CLOSED) {
            return;
        }
        Memory.putIntVolatile(base() + Half.STATE, Half.ERROR);
        // Orders the store of the state before the load of Half.STALLED in wakePeer(), of the waiting bit in wakeWaiter() and of
        // the peer's BUSY in peerOperation() (rows M1, M2 and M36 of docs/memory-order.md).
        Memory.fullFence();
        // Wake the peer unconditionally. A thread that failed concurrently may have skipped it.
        wakePeer();
        responder.wakeWaiter();
        // Another thread's poll may be executing requests that wait. It stops after its current request.
        waiting.stop();
        responder.close();
        GracePeriod period = GracePeriod.with(null, peerOperation());
        if (period == null || period.endsAtOnce()) {
            reclaim();
        } else {
            responder.linger();
            process.limbo().add(period, remote().process().origin(), this::reclaim);
        }
    }

    private void reclaim() {
        process.remove(this);
        responder.detach();
        RemoteEnd end = remote();
        if (end != null) {
            end.release();
        }
        half().release();
        reclaimed = true;
    }

    /** Returns whether the queue pair is closed and the peer can no longer access memory by this connection. */
    boolean isReclaimed() {
        if (!reclaimed) {
            process.limbo().sweep();
        }
        return reclaimed;
    }
}
