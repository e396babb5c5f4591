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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.process.GracePeriod;
import io.rpma.soft.process.HalfMemory;
import io.rpma.soft.process.LocalReceiveQueue;
import io.rpma.soft.process.RemoteEnd;
import io.rpma.soft.shared.ChannelDoorbell;
import io.rpma.soft.shared.CompletionChannel;
import io.rpma.soft.shared.Doorbell;
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.RegionTable;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * This process's end of a connection: its number, its half, its doorbells, its state and, once it is connected, the view of the
 * other end. The parts of a queue pair, the shared receive queues and {@link LocalProcess} use a queue pair through this class.
 * The one subclass is {@link QueuePair}, so that a call of an abstract method costs as much as that of any other method.
 *
 * <p>Any thread may call any method, unless the method says otherwise.
 */
abstract class LocalEnd {
    /** The state of an end that is closed; the others are those of {@link Half#STATE}. */
    static final int CLOSED = 3;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(LocalEnd.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int number;
    private final HalfMemory half;
    private final long base;
    private final int receiveCapacity;
    private final int ringCapacity;
    private final Doorbell ownDoorbell;
    private final Doorbell receiveDoorbell;

    // The other end; it does not change once connected. QueuePair.connect() sets it before ready() stores the state.
    private volatile RemoteEnd remote;
    private int state;
    private volatile boolean peerGone;

    /**
     * Creates an end that is not connected, and arms its completion queues.
     *
     * @param half the memory that the peer accesses; this object takes ownership unless the constructor of the queue pair fails
     * @param receiveCapacity entries of the ring of posted receives, 0 if there is none
     * @param ringCapacity entries of the ring of completions
     * @param channel the channel of its completion queue
     * @param receiveChannel the channel of its own receive completion queue, or {@code null} if it has none
     */
    LocalEnd(int number, HalfMemory half, int receiveCapacity, int ringCapacity, CompletionChannel channel,
            CompletionChannel receiveChannel) {
        this.number = number;
        this.half = half;
        base = half.address();
        this.receiveCapacity = receiveCapacity;
        this.ringCapacity = ringCapacity;
        ownDoorbell = channel.isDeferred() ? new ChannelDoorbell(base + Half.ARMED, channel)
            : new Doorbell(base + Half.ARMED, channel.event());
        Memory.putInt(base + Half.ARMED, channel.isDeferred() ? Doorbell.UNWATCHED : Doorbell.ARMED);
        Memory.putInt(base + Half.RECEIVE_ARMED, Doorbell.ARMED);
        receiveDoorbell = receiveChannel == null ? ownDoorbell
            : new Doorbell(base + Half.RECEIVE_ARMED, receiveChannel.event());
    }

    final int number() {
        return number;
    }

    final HalfMemory half() {
        return half;
    }

    final long base() {
        return base;
    }

    final int receiveCapacity() {
        return receiveCapacity;
    }

    final int ringCapacity() {
        return ringCapacity;
    }

    /** Returns the doorbell of its completion queue. */
    final Doorbell ownDoorbell() {
        return ownDoorbell;
    }

    /** Returns the doorbell of the queue that receives complete in. */
    final Doorbell receiveDoorbell() {
        return receiveDoorbell;
    }

    // ---- the state

    /** Returns the state: one of those of {@link Half#STATE}, or {@link #CLOSED}. */
    final int state() {
        return (int) STATE.getVolatile(this);
    }

    /** Returns the state to a thread that is about to post: if it finds READY, it also finds what executes work requests. */
    final int stateToPost() {
        return (int) STATE.getAcquire(this);
    }

    final boolean isError() {
        return (int) STATE.getAcquire(this) == Half.ERROR;
    }

    /** Throws an exception if this end is closed. */
    final void checkOpen() throws RpmaException {
        if ((int) STATE.getAcquire(this) == CLOSED) {
            throw SoftLog.failure(RpmaError.INVALID, "the connection is closed");
        }
    }

    /** Changes the state unless another thread has changed it. Returns whether it did. */
    final boolean changeState(int from, int to) {
        return STATE.compareAndSet(this, from, to);
    }

    /** Changes the state to {@link #CLOSED}. Returns the state before. */
    final int changeToClosed() {
        return (int) STATE.getAndSet(this, CLOSED);
    }

    // ---- the other end

    /** Returns the other end, or {@code null} if this end is not connected. */
    final RemoteEnd remote() {
        return remote;
    }

    /** Sets the other end, once everything that accesses it is there. */
    final void setRemote(RemoteEnd end) {
        remote = end;
    }

    /** Returns whether the peer has closed the connection or died. */
    final boolean isPeerGone() {
        return peerGone;
    }

    /** Marks the peer as gone. */
    final void markPeerGone() {
        peerGone = true;
    }

    /**
     * Wakes the peer if it waits. The caller has stored the change that the peer may wait for and executed a full fence. Without
     * the fence, {@link Half#STALLED} could be loaded before that store is visible: this thread would find no waiting peer, and
     * the peer would find no change and wait.
     */
    final void wakePeer() {
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

    /**
     * Returns the operation that the peer is executing in memory of this process. Operations that the peer begins later observe
     * what the caller stored before this call, if a full fence lies between (see {@link Requester}). If the peer's end is in this
     * process, this method waits for the end of the operation instead: the executing thread cannot be stopped or killed alone.
     *
     * @return the operation, or {@code null} if there is none
     */
    final GracePeriod.Operation peerOperation() {
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
    final GracePeriod.Operation peerOperation(int key, int usages) {
        RemoteEnd end = remote;
        return end == null ? null : end.operation(key, usages, false);
    }

    // ---- what the queue pair does

    /** Enters the error state; see {@link QueuePair#fail()}. */
    abstract void fail();

    /** Ends the connection because the peer has broken the protocol; see {@link QueuePair#breakOff()}. */
    abstract void breakOff();

    /** Executes the work requests that wait, as far as possible. Any thread of this connection may call it. */
    abstract void resume();

    /**
     * Takes completions of receives. The thread that polls the queue in which receives complete calls it.
     *
     * @return the number of entries now in the batch
     */
    abstract int pollReceives(WorkCompletions completions, int count);

    /** Returns the shared receive queue that it takes receives from, or {@code null} if it has its own. */
    abstract LocalReceiveQueue sharedReceiveQueue();

    /** Waits for the end of the operation that a thread of this process may be executing by this queue pair. */
    abstract void awaitOwn();
}
