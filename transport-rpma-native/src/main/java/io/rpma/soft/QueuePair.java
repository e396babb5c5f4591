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
import io.rpma.CompletionStatus;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.soft.host.FaultPoints;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.process.ControlSocket;
import io.rpma.soft.process.GracePeriod;
import io.rpma.soft.process.HalfMemory;
import io.rpma.soft.process.RemoteEnd;
import io.rpma.soft.shared.CompletionChannel;
import io.rpma.soft.shared.Doorbell;
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.RegionTable;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A reliable queue pair. There is no device: the thread that posts a work request executes it, by the {@link Requester}. If the
 * peer has posted no receive, has no room for a completion or is not ready, the work request and all later ones become
 * {@link WaitingRequests}. The peer signals the event descriptor when its condition has changed, and the next post or poll
 * continues.
 *
 * <p>While no request waits, the posting thread executes. While a request waits, one thread at a time executes, whichever
 * continues the waiting requests; that class explains how the executing state passes between them.
 */
final class QueuePair {
    private static final int SUCCESS = CompletionStatus.SUCCESS.code();
    private static final int WR_FLUSH_ERR = CompletionStatus.WR_FLUSH_ERR.code();
    private static final int REM_ACCESS_ERR = CompletionStatus.REM_ACCESS_ERR.code();

    /** The state of a queue pair that is closed; the others are those of {@link Half#STATE}. */
    static final int CLOSED = 3;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(QueuePair.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final LocalProcess process;
    private final ProtectionDomain domain;
    private final int number;
    private final HalfMemory half;
    private final long base;
    private final int receiveCapacity;
    private final int ringCapacity;
    private final SendQueue sends;
    private final Responder responder;
    private final CompletionChannel channel;
    private final CompletionChannel receiveChannel;
    private final Doorbell ownDoorbell;
    private ControlSocket control;

    private final WaitingRequests waiting;

    // The other end; these do not change once connected. connect() sets them before ready() stores the state.
    private volatile RemoteEnd remote;
    private Requester requester;

    private int state;
    private long stalls;
    private volatile boolean peerGone;
    private volatile boolean reclaimed;

    /**
     * Creates a queue pair that is not connected.
     *
     * @param sizes of its queues
     * @param half of {@link #halfSize} bytes; this object takes ownership unless the constructor fails
     * @param channel the channel of its completion queue
     * @param receiveChannel the channel of its own receive completion queue, or {@code null} if it has none
     */
    QueuePair(ProtectionDomain domain, int number, QueueSizes sizes, HalfMemory half, CompletionChannel channel,
            CompletionChannel receiveChannel) throws RpmaException {
        this.process = domain.process();
        this.domain = domain;
        this.number = number;
        receiveCapacity = receiveCapacity(sizes);
        ringCapacity = ringCapacity(sizes);
        this.half = half;
        base = half.address();
        sends = new SendQueue(sizes.sends());
        waiting = new WaitingRequests(this, sends.capacity());
        this.channel = channel;
        this.receiveChannel = receiveChannel;
        ownDoorbell = new Doorbell(base + Half.ARMED, channel.event());
        Memory.putInt(base + Half.ARMED, Doorbell.ARMED);
        Memory.putInt(base + Half.RECEIVE_ARMED, Doorbell.ARMED);
        Doorbell receiveDoorbell = receiveChannel == null ? ownDoorbell
            : new Doorbell(base + Half.RECEIVE_ARMED, receiveChannel.event());
        responder = new Responder(this, sizes, half, base + Half.ring(receiveCapacity), receiveDoorbell);
    }

    private static int receiveCapacity(QueueSizes sizes) {
        return sizes.sharedReceiveQueue() != null ? 0 : Half.powerOfTwo(sizes.receives());
    }

    private static int ringCapacity(QueueSizes sizes) {
        return sizes.sharedReceiveQueue() != null ? sizes.sharedReceiveQueue().ringCapacity() : receiveCapacity(sizes);
    }

    /** Returns the size of the half of a queue pair, in bytes. */
    static int halfSize(QueueSizes sizes) {
        return (int) Half.size(receiveCapacity(sizes), ringCapacity(sizes));
    }

    int number() {
        return number;
    }

    ProtectionDomain domain() {
        return domain;
    }

    HalfMemory half() {
        return half;
    }

    long base() {
        return base;
    }

    int receiveCapacity() {
        return receiveCapacity;
    }

    int ringCapacity() {
        return ringCapacity;
    }

    SendQueue sends() {
        return sends;
    }

    Doorbell ownDoorbell() {
        return ownDoorbell;
    }

    /** Returns what the peer finds at this end. */
    Responder responder() {
        return responder;
    }

    RemoteEnd remote() {
        return remote;
    }

    /** Returns how often a work request had to wait for the peer. */
    long stalls() {
        return stalls;
    }

    /** Returns what executes its work requests, once it is connected. */
    Requester requester() {
        return requester;
    }

    /** Returns the state: one of those of {@link Half#STATE}, or {@link #CLOSED}. */
    int state() {
        return (int) STATE.getVolatile(this);
    }

    /** Returns whether the peer has closed the connection or died. */
    boolean isPeerGone() {
        return peerGone;
    }

    boolean isError() {
        return (int) STATE.getAcquire(this) == Half.ERROR;
    }

    /** Sets the control socket, which detects the end of the peer. Called before any other method. */
    void control(ControlSocket socket) {
        control = socket;
    }

    /** Sets the other end, before {@link #ready()}. */
    void connect(RemoteEnd end) {
        requester = new Requester(this, end, control);
        remote = end;
    }

    /**
     * Starts to send and to receive. The fence orders the store of the state before the load of {@link Half#STALLED} in
     * {@link #wakePeer()}; {@link Requester#announce} of the peer orders its store of that word before its next load of the
     * state. So either the peer observes the new state or this side observes that the peer waits (row M1 of
     * docs/memory-order.md).
     */
    void ready() {
        if (STATE.compareAndSet(this, Half.INITIAL, Half.READY)) {
            if (FaultPoints.ENABLED) {
                FaultPoints.at("readying");
            }
            Memory.putIntVolatile(base + Half.STATE, Half.READY);
            Memory.fullFence();
            if ((int) STATE.getVolatile(this) != Half.READY) {
                // Another thread has failed or closed the queue pair after the compare-and-set, and the store above may have
                // replaced its store of the error.
                Memory.putIntVolatile(base + Half.STATE, Half.ERROR);
                Memory.fullFence();
            }
            wakePeer();
        }
    }

    /**
     * Enters the error state: this end accepts no more messages, and the work requests that wait are flushed. Receives that the
     * peer completed earlier can still be polled; polling flushes the receives that are still posted.
     */
    void fail() {
        int was = (int) STATE.getVolatile(this);
        while (was != Half.ERROR && was != CLOSED) {
            if (STATE.compareAndSet(this, was, Half.ERROR)) {
                if (FaultPoints.ENABLED) {
                    FaultPoints.at("failing");
                }
                Memory.putIntVolatile(base + Half.STATE, Half.ERROR);
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
                ownDoorbell.ringIfOpen();
                if (responder.doorbell() != ownDoorbell) {
                    responder.doorbell().ringIfOpen();
                }
                return;
            }
            was = (int) STATE.getVolatile(this);
        }
    }

    /**
     * Handles the end of the peer, which has closed the connection or died: the work requests that wait fail, and no operation
     * of the peer can be in progress.
     */
    void peerGone() {
        peerGone = true;
        resume();
        responder.peerGone();
        // Orders the accesses above before those to the armed words in wake(), as in fail() (rows M5 and M9 of
        // docs/memory-order.md).
        Memory.fullFence();
        channel.wake(base + Half.ARMED);
        if (receiveChannel != null) {
            receiveChannel.wake(base + Half.RECEIVE_ARMED);
        }
    }

    /**
     * Wakes the peer if it waits. The caller has stored the change that the peer may wait for and executed a full fence. Without
     * the fence, {@link Half#STALLED} could be loaded before that store is visible: this thread would find no waiting peer, and
     * the peer would find no change and wait.
     */
    void wakePeer() {
        if (Memory.getInt(base + Half.STALLED) == 0) {
            return;
        }
        // tryRetain(): another thread may be closing the connection.
        RemoteEnd end = remote;
        if (end != null && end.tryRetain()) {
            if (Memory.getAndSetInt(base + Half.STALLED, 0) != 0) {
                end.wake();
            }
            end.release();
        }
    }

    // ---- work requests

    /**
     * Posts a work request.
     *
     * @param value of an atomic write
     */
    void post(int operation, SoftLocalMemoryRegion local, long localOffset, SoftRemoteMemoryRegion target, long remoteOffset,
            long length, CompletionFlag flag, int immediate, long value, long context) throws RpmaException {
        int now = (int) STATE.getAcquire(this);
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
            finish(operation, result, signalled, context, request, length);
        }
    }

    /** Throws an exception if this end is closed. */
    void checkOpen() throws RpmaException {
        if ((int) STATE.getAcquire(this) == CLOSED) {
            throw SoftLog.failure(RpmaError.INVALID, "the connection is closed");
        }
    }

    /** Completes a work request that has been executed, and wakes the owners of the completion queues concerned. */
    void finish(int operation, int status, boolean signalled, long context, long request, long length) {
        boolean completed = signalled || status != SUCCESS;
        boolean delivered = Operation.takesReceive(operation);
        try {
            if (FaultPoints.ENABLED) {
                FaultPoints.at("telling");
            }
            if (completed) {
                sends.complete(request, context, status, Operation.opcode(operation), length);
            }
            if (delivered) {
                requester.markDelivered();
            }
        } finally {
            // Leave before the peer is woken. A peer that closes at once would otherwise have to wait for the end of this call.
            requester.leave();
        }
        if (completed || delivered) {
            // Orders the completions published above before the loads of the armed words. An owner arms, executes a fence and
            // polls again. Without this fence an armed word could be loaded before the completion is visible: the owner would
            // find nothing, this thread would find the queue not armed, and the wake-up would be lost (rows M5, M6 and M26 of
            // docs/memory-order.md).
            Memory.fullFence();
            if (delivered) {
                requester.ringForReceive();
                requester.lookAhead();
            }
            if (completed) {
                ownDoorbell.ring();
            }
        }
        if (status == REM_ACCESS_ERR) {
            requester.reportFault();
        }
        if (status != SUCCESS) {
            fail();
        }
    }

    /** Completes a work request that was not executed, because the queue pair has failed. The caller rings the doorbell. */
    void flush(int operation, long context, long request) {
        sends.complete(request, context, WR_FLUSH_ERR, Operation.opcode(operation), 0);
    }

    private void stall(int reason) {
        stalls++;
        if (reason == Requester.NO_RECEIVE && SoftLog.isEnabled(RpmaLog.Level.NOTICE)) {
            SoftLog.log(RpmaLog.Level.NOTICE, "queue pair " + number + " waits: the peer has posted no receive (a device would"
                + " retry after 655 ms)");
        }
    }

    /** Executes the work requests that wait, as far as possible. Any thread of this connection may call it. */
    void resume() {
        waiting.resume();
    }

    // ---- taking memory away

    /**
     * Returns the operation that the peer is executing in memory of this process. Operations that the peer begins later observe
     * what the caller stored before this call, if a full fence lies between (see {@link Requester}). If the peer's end is in this
     * process, this method waits for the end of the operation instead: the executing thread cannot be stopped or killed alone.
     *
     * @return the operation, or {@code null} if there is none
     */
    GracePeriod.Operation peerOperation() {
        RemoteEnd end = remote;
        return end == null ? null : end.operation(RegionTable.NO_REGION, 0, true);
    }

    /**
     * Returns the operation that the peer is executing in a region of this process. The caller has marked the region as invalid
     * before this call.
     *
     * @param key the key of the region
     * @param usages the usages that it is registered for
     * @return the operation, or {@code null} if there is none
     */
    GracePeriod.Operation peerOperation(int key, int usages) {
        RemoteEnd end = remote;
        return end == null ? null : end.operation(key, usages, false);
    }

    /** Waits for the end of the operation that a thread of this process may be executing by this queue pair. */
    void awaitOwn() {
        if (remote != null) {
            requester.awaitOwn();
        }
    }

    /**
     * Closes the queue pair: it executes nothing more, and operations that the peer begins from now on do not reach this end.
     * This method does not wait for an operation that the peer is executing: until that operation has ended, this end keeps its
     * memory and {@link #isReclaimed()} returns {@code false}.
     */
    void close() {
        if ((int) STATE.getAndSet(this, CLOSED) == CLOSED) {
            return;
        }
        Memory.putIntVolatile(base + Half.STATE, Half.ERROR);
        // Orders the store of the state before the load of Half.STALLED in wakePeer(), of the waiting bit in wakeWaiter() and of
        // the peer's BUSY in peerOperation() (rows M1, M2 and M36 of docs/memory-order.md).
        Memory.fullFence();
        // Wake the peer unconditionally. A thread that failed concurrently may have skipped it.
        wakePeer();
        responder.wakeWaiter();
        // Another thread's poll may be executing requests that wait. It stops after its current request.
        waiting.stop();
        GracePeriod period = GracePeriod.with(null, peerOperation());
        if (period == null || period.endsAtOnce()) {
            reclaim();
        } else {
            responder.linger();
            process.limbo().add(period, remote.process().origin(), this::reclaim);
        }
    }

    private void reclaim() {
        process.remove(this);
        responder.detach();
        if (remote != null) {
            remote.release();
        }
        half.release();
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
