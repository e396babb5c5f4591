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
import io.rpma.CompletionOpcode;
import io.rpma.CompletionStatus;
import io.rpma.MemoryUsage;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.software.Patience;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A reliable queue pair, including the software adapter behind it: the thread that posts a work request executes it. If the peer
 * has posted no receive, has no room for a completion or is not ready, the work request and all later ones wait in a queue of
 * this object. The peer signals the event descriptor when its condition has changed, and the next post or poll continues.
 *
 * <p>While no request waits, the posting thread executes. While a request waits, the thread that holds {@link #executing}
 * executes. The executing state passes between them by the positions of the queue of waiting requests: the posting thread
 * stores {@link #waitingTail} after its last access to that state, and the holder stores {@link #waitingHead} (release) after
 * its own; each loads the other's position (acquire) before its first access.
 */
final class QueuePair {
    /** A send. */
    static final int SEND = 0;
    /** A send with immediate data. */
    static final int SEND_IMMEDIATE = 1;
    /** A write. */
    static final int WRITE = 2;
    /** A write with immediate data. */
    static final int WRITE_IMMEDIATE = 3;
    /** A read. */
    static final int READ = 4;
    /** An atomic write. */
    static final int ATOMIC_WRITE = 5;
    /** A flush to visibility. */
    static final int FLUSH_VISIBILITY = 6;
    /** A flush to persistence. */
    static final int FLUSH_PERSISTENT = 7;

    private static final int[] OPCODES = {
        CompletionOpcode.SEND.code(), CompletionOpcode.SEND.code(), CompletionOpcode.RDMA_WRITE.code(),
        CompletionOpcode.RDMA_WRITE.code(), CompletionOpcode.RDMA_READ.code(), CompletionOpcode.RDMA_WRITE.code(),
        CompletionOpcode.RDMA_READ.code(), CompletionOpcode.RDMA_READ.code(),
    };

    private static final int SUCCESS = CompletionStatus.SUCCESS.code();
    private static final int LOC_LEN_ERR = CompletionStatus.LOC_LEN_ERR.code();
    private static final int LOC_PROT_ERR = CompletionStatus.LOC_PROT_ERR.code();
    private static final int WR_FLUSH_ERR = CompletionStatus.WR_FLUSH_ERR.code();
    private static final int REM_INV_REQ_ERR = CompletionStatus.REM_INV_REQ_ERR.code();
    private static final int REM_ACCESS_ERR = CompletionStatus.REM_ACCESS_ERR.code();
    private static final int REM_OP_ERR = CompletionStatus.REM_OP_ERR.code();
    private static final int RETRY_EXC_ERR = CompletionStatus.RETRY_EXC_ERR.code();

    // The results of execute() for a work request that has to wait.
    private static final int NO_RECEIVE = -1;
    private static final int RING_FULL = -2;
    private static final int NOT_READY = -3;

    private static final int CLOSED = 3;
    private static final int SPINS = 100;
    /** The first and the longest delay after which a request that waits for a shared receive is retried without a signal. */
    private static final int FIRST_LOOK_MILLIS = 50;
    private static final int LAST_LOOK_MILLIS = 1_600;
    /** The bound on immediate retries after a concurrent change: a misbehaving peer could otherwise cause an endless loop. */
    private static final int MOST_TRIES = 1000;

    private static final VarHandle STATE;
    private static final VarHandle EXECUTING;
    private static final VarHandle AGAIN;
    private static final VarHandle BUSY;
    private static final VarHandle WAITING_TAIL;
    private static final VarHandle WAITING_HEAD;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(QueuePair.class, "state", int.class);
            EXECUTING = lookup.findVarHandle(QueuePair.class, "executing", boolean.class);
            AGAIN = lookup.findVarHandle(QueuePair.class, "again", boolean.class);
            BUSY = lookup.findVarHandle(QueuePair.class, "busy", int.class);
            WAITING_TAIL = lookup.findVarHandle(QueuePair.class, "waitingTail", long.class);
            WAITING_HEAD = lookup.findVarHandle(QueuePair.class, "waitingHead", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final LocalProcess process;
    private final SoftPeer peer;
    private final int number;
    private final HalfMemory half;
    private final long base;
    private final int receiveCapacity;
    private final int ringCapacity;
    private final SendQueue sends;
    private final ReceiveQueue receives;
    private final SoftSharedReceiveQueue.Attachment attachment;
    private final CompletionChannel channel;
    private final CompletionChannel receiveChannel;
    private final Doorbell ownDoorbell;
    private final Doorbell ownReceiveDoorbell;
    private ControlSocket control;

    // The other end; these do not change once connected. connect() sets them before ready() stores the state.
    private volatile RemoteEnd remote;
    private RemoteProcess remoteProcess;
    private long remoteBase;
    private long remoteReceives;
    private int remoteReceiveMask;
    private long remoteRing;
    private int remoteRingMask;
    private SharedReceives remoteShared;
    private int remoteSharedIndex;
    private boolean remoteSharesQueue;
    private int remoteDomain;
    private Doorbell remoteDoorbell;
    private Doorbell remoteReceiveDoorbell;

    // Accessed only by the thread that executes work requests (see the class comment).
    private long found;
    private long ahead;
    private long remotePosition;
    private long remoteConsumed;
    // Odd while an operation executes. Threads of this process read this copy: the peer can overwrite the word Half.BUSY.
    private int busy;
    private long stalls;
    private int announcement;
    private int lookMillis = FIRST_LOOK_MILLIS;
    private boolean lookScheduled;
    private volatile boolean lookDue;

    private int state;
    private boolean executing;
    // Set by a thread that found "executing" taken: the holder must look again, as it may not have observed that thread's change.
    private boolean again;
    private WorkRequest[] waiting;
    private long waitingTail;
    private long waitingHead;
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
    QueuePair(SoftPeer peer, int number, QueueSizes sizes, HalfMemory half, CompletionChannel channel,
            CompletionChannel receiveChannel) throws RpmaException {
        this.process = peer.process();
        this.peer = peer;
        this.number = number;
        SoftSharedReceiveQueue queue = sizes.sharedReceiveQueue();
        receiveCapacity = receiveCapacity(sizes);
        ringCapacity = ringCapacity(sizes);
        this.half = half;
        base = half.address();
        long ring = base + Half.ring(receiveCapacity);
        sends = new SendQueue(sizes.sends());
        this.channel = channel;
        this.receiveChannel = receiveChannel;
        ownDoorbell = new Doorbell(base + Half.ARMED, channel.event());
        Memory.putInt(base + Half.ARMED, Doorbell.ARMED);
        Memory.putInt(base + Half.RECEIVE_ARMED, Doorbell.ARMED);
        boolean ownQueue = receiveChannel != null;
        ownReceiveDoorbell = ownQueue ? new Doorbell(base + Half.RECEIVE_ARMED, receiveChannel.event()) : ownDoorbell;
        if (queue == null) {
            receives = new ReceiveQueue(sizes.receives(), receiveCapacity, base + Half.RECEIVES, ring);
            attachment = null;
        } else {
            receives = null;
            attachment = queue.attach(this, half, ring, ringCapacity);
        }
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

    SoftPeer peer() {
        return peer;
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

    ReceiveQueue receives() {
        return receives;
    }

    SendQueue sends() {
        return sends;
    }

    SoftSharedReceiveQueue.Attachment attachment() {
        return attachment;
    }

    Doorbell ownDoorbell() {
        return ownDoorbell;
    }

    /** Returns the doorbell of the connection's own completion queue for receives. */
    Doorbell ownReceiveDoorbell() {
        return ownReceiveDoorbell;
    }

    RemoteEnd remote() {
        return remote;
    }

    /** Returns how often a work request had to wait for the peer. */
    long stalls() {
        return stalls;
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
        remoteProcess = end.process();
        remoteBase = end.base();
        remoteReceives = end.base() + Half.RECEIVES;
        remoteReceiveMask = end.receiveCapacity() - 1;
        remoteRing = end.ring();
        remoteRingMask = end.ringCapacity() - 1;
        remoteShared = end.shared();
        remoteSharedIndex = end.sharedIndex();
        remoteSharesQueue = end.receivesShareQueue();
        remoteDomain = end.domain();
        remoteDoorbell = end.doorbell();
        remoteReceiveDoorbell = end.receiveDoorbell();
        remote = end;
    }

    /**
     * Starts to send and to receive. The fence orders the store of the state before the load of {@link Half#STALLED} in
     * {@link #wakePeer()}; {@link #announce} of the peer orders its store of that word before its next load of the state. So
     * either the peer observes the new state or this side observes that the peer waits.
     */
    void ready() {
        if (STATE.compareAndSet(this, Half.INITIAL, Half.READY)) {
            Memory.putIntVolatile(base + Half.STATE, Half.READY);
            Memory.fullFence();
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
                if (Faults.ENABLED) {
                    Faults.at("failing");
                }
                Memory.putIntVolatile(base + Half.STATE, Half.ERROR);
                // Orders the store of the state before the load of Half.STALLED in wakePeer(), as in ready().
                Memory.fullFence();
                wakePeer();
                wakeWaiter();
                resume();
                // Orders the error state and what resume() has flushed before the loads of the armed words. The polling thread
                // arms, executes a fence and polls again: either it observes the error, or this thread finds the queue armed.
                Memory.fullFence();
                // ringIfOpen(): another thread may be closing the connection.
                ownDoorbell.ringIfOpen();
                if (ownReceiveDoorbell != ownDoorbell) {
                    ownReceiveDoorbell.ringIfOpen();
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
        // A peer that was killed may have published a completion and not yet signalled it.
        if (attachment != null) {
            attachment.peerGone();
        }
        // Orders the accesses above before those to the armed words in wake(), as in fail().
        Memory.fullFence();
        channel.wake(base + Half.ARMED);
        if (receiveChannel != null) {
            receiveChannel.wake(base + Half.RECEIVE_ARMED);
        }
    }

    // ---- receives

    /** Posts a receive to the queue pair's own receive queue. */
    void receive(SoftLocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        Receives.check(target, offset, length);
        if (receives == null) {
            throw Receives.shared();
        }
        checkOpen();
        receives.post(Receives.key(target, offset, length), offset, (int) length, context);
        if (remote != null) {
            // Orders the store of the entry's state word before the load of Half.STALLED. announce() of the peer orders its
            // store of that word before its next search for a receive: one of the two sides observes the other's store.
            Memory.fullFence();
            wakePeer();
        }
        if (isError()) {
            // Orders the post before the load of the armed word: the polling thread flushes this receive, or is woken to do so.
            Memory.fullFence();
            ownReceiveDoorbell.ring();
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

    private void wakeWaiter() {
        if (attachment != null) {
            attachment.wakeWaiter();
        }
    }

    /** Returns the number of receives that have completed and have not been polled, at most {@code limit}. */
    int readyReceives(int limit) {
        return receives != null ? receives.ready(limit) : attachment.ready(limit);
    }

    /**
     * Takes completions of receives.
     *
     * @return the number of entries now in the batch
     */
    int pollReceives(WorkCompletions completions, int count) {
        int fault = Memory.getInt(base + Half.FAULT);
        if (fault != 0) {
            heed(fault);
        }
        boolean due = isError() && receives != null && receives.outstanding() > 0;
        // Load the two words before the ring is polled. The peer publishes completions and then makes Half.BUSY even (release),
        // so a poll after an even value finds everything that it published. Half.STATE has to be loaded before Half.BUSY: the
        // peer takes receives until it observes the error there, which the failing thread stores after the field "state"; a peer
        // that becomes busy after these two loads observes it and takes none.
        boolean flush = due && Memory.getIntVolatile(base + Half.STATE) == Half.ERROR && !isPeerBusy();
        int result = pollArrived(completions, count);
        if (flush) {
            return receives.flush(completions, result, number);
        }
        if (due) {
            // The end of the peer's operation is not signalled. Ring, so that the polling thread polls again until it has ended.
            ownReceiveDoorbell.ring();
        }
        return result;
    }

    /** Handles a fault that the peer has reported. */
    private void heed(int fault) {
        if (fault == Half.STARVED && attachment != null) {
            Memory.casInt(base + Half.FAULT, fault, 0);
            attachment.queue().starved();
        } else {
            fail();
        }
    }

    /**
     * Takes completions of receives that the peer has filled.
     *
     * @return the number of entries now in the batch
     */
    int pollArrived(WorkCompletions completions, int count) {
        int result = receives != null ? receives.poll(completions, count, number) : attachment.poll(completions, count);
        if (result < 0) {
            fail();
            return ~result;
        }
        return result;
    }

    private boolean isPeerBusy() {
        return remote != null && (Memory.getIntVolatile(remoteBase + Half.BUSY) & 1) != 0 && !remoteProcess.hasEnded();
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
        if (now == Half.ERROR || waitingTail != (long) WAITING_HEAD.getAcquire(this)) {
            enqueue(operation, local, localOffset, target, remoteOffset, length, immediate, value, signalled, context, request);
            resume();
            return;
        }
        int result = execute(operation, local, localOffset, target, remoteOffset, length, immediate, value);
        if (result < 0) {
            enqueue(operation, local, localOffset, target, remoteOffset, length, immediate, value, signalled, context, request);
            stall(result);
            resume();
        } else {
            finish(operation, result, signalled, context, request, length);
        }
    }

    private void checkOpen() throws RpmaException {
        if ((int) STATE.getAcquire(this) == CLOSED) {
            throw SoftLog.failure(RpmaError.INVALID, "the connection is closed");
        }
    }

    /** Completes a work request that has been executed, and wakes the owners of the completion queues concerned. */
    private void finish(int operation, int status, boolean signalled, long context, long request, long length) {
        boolean completed = signalled || status != SUCCESS;
        boolean delivered = operation <= SEND_IMMEDIATE || operation == WRITE_IMMEDIATE;
        try {
            if (Faults.ENABLED) {
                Faults.at("telling");
            }
            if (completed) {
                sends.complete(request, context, status, OPCODES[operation], length);
            }
            if (delivered && remoteSharesQueue) {
                // Orders the published completion before the load of the ready bit in markReady(). When the owner drops a ring
                // from its list, it clears the bit, executes a fence and checks the ring once more: either it finds the
                // completion or this thread finds the bit clear and sets it.
                Memory.fullFence();
                remoteShared.markReady(remoteSharedIndex);
            }
        } finally {
            // Leave before the peer is woken. A peer that closes at once would otherwise have to wait for the end of this call.
            leave();
        }
        if (completed || delivered) {
            // Orders the completions published above before the loads of the armed words. An owner arms, executes a fence and
            // polls again. Without this fence an armed word could be loaded before the completion is visible: the owner would
            // find nothing, this thread would find the queue not armed, and the wake-up would be lost.
            Memory.fullFence();
            if (delivered) {
                remoteReceiveDoorbell.ring();
                lookAhead();
            }
            if (completed) {
                ownDoorbell.ring();
            }
        }
        if (status == REM_ACCESS_ERR) {
            // The peer's queue pair enters the error state as well, when its owner polls and finds this fault. The fence orders
            // the store of the fault before the loads of the armed words, as above.
            Memory.putIntVolatile(remoteBase + Half.FAULT, Half.BROKEN);
            if (remoteSharesQueue) {
                markReady();
            }
            Memory.fullFence();
            remoteDoorbell.ring();
            if (remoteReceiveDoorbell != remoteDoorbell) {
                remoteReceiveDoorbell.ring();
            }
        }
        if (status != SUCCESS) {
            fail();
        }
    }

    private void enqueue(int operation, SoftLocalMemoryRegion local, long localOffset, SoftRemoteMemoryRegion target,
            long remoteOffset, long length, int immediate, long value, boolean signalled, long context, long request) {
        WorkRequest[] requests = waiting;
        if (requests == null) {
            requests = new WorkRequest[sends.capacity()];
            for (int i = 0; i < requests.length; i++) {
                requests[i] = new WorkRequest();
            }
            waiting = requests;
        }
        WorkRequest entry = requests[(int) waitingTail & requests.length - 1];
        entry.operation = operation;
        entry.local = local;
        entry.localOffset = localOffset;
        entry.remote = target;
        entry.remoteOffset = remoteOffset;
        entry.length = length;
        entry.immediate = immediate;
        entry.value = value;
        entry.signalled = signalled;
        entry.context = context;
        entry.number = request;
        WAITING_TAIL.setVolatile(this, waitingTail + 1);
    }

    private void stall(int reason) {
        stalls++;
        if (reason == NO_RECEIVE && SoftLog.isEnabled(RpmaLog.Level.NOTICE)) {
            SoftLog.log(RpmaLog.Level.NOTICE, "queue pair " + number + " waits: the peer has posted no receive (a device would"
                + " retry after 655 ms)");
        }
    }

    /** Executes the work requests that wait, as far as possible. Any thread of this connection may call it. */
    void resume() {
        // A thread that finds the lock taken leaves its request, or the change that it has observed, to the holder. The holder
        // therefore checks the queue and "again" once more after it has unlocked.
        while ((long) WAITING_TAIL.getVolatile(this) != (long) WAITING_HEAD.getVolatile(this) && tryLock()) {
            boolean mustWait = false;
            try {
                while (!mustWait && waitingHead != (long) WAITING_TAIL.getAcquire(this)) {
                    WorkRequest[] requests = waiting;
                    mustWait = !complete(requests[(int) waitingHead & requests.length - 1]);
                }
            } finally {
                EXECUTING.setVolatile(this, false);
            }
            if (mustWait && !(boolean) AGAIN.getVolatile(this)) {
                return;
            }
        }
    }

    /** Takes the lock, or makes its holder look again after everything that this thread has observed. */
    private boolean tryLock() {
        if (!EXECUTING.compareAndSet(this, false, true)) {
            // Store "again" before the second attempt. resume() stores "executing" before it loads "again": either the attempt
            // succeeds or the holder observes "again".
            AGAIN.setVolatile(this, true);
            if (!EXECUTING.compareAndSet(this, false, true)) {
                return false;
            }
        }
        // A read-modify-write, not a store: reading the value that the other thread stored orders what that thread had observed
        // before its store ahead of everything that this thread loads from here on.
        AGAIN.getAndSet(this, false);
        return true;
    }

    /** Executes or flushes a request that waits. Returns whether it has completed. */
    private boolean complete(WorkRequest request) {
        int now = (int) STATE.getVolatile(this);
        if (now == CLOSED) {
            return false;
        }
        int status = WR_FLUSH_ERR;
        if (now == Half.READY) {
            if (isStillAnnounced()) {
                return false;
            }
            status = execute(request);
            for (int tries = 0; status < 0 && status != announcement && tries < MOST_TRIES; tries++) {
                // Ask to be woken, then try again: the peer may have posted a receive between the first attempt and announce().
                // If the reason changes, for instance because there is room now but no receive, announce the new reason: it is
                // announced in another word.
                if (Faults.ENABLED) {
                    Faults.at("announcing");
                }
                announce(status);
                status = execute(request);
            }
            if (status < 0) {
                if (!peerGone) {
                    if (Faults.ENABLED) {
                        Faults.at("waiting");
                    }
                    if (status == NO_RECEIVE && remoteShared != null) {
                        lookAgainLater();
                    }
                    return false;
                }
                status = RETRY_EXC_ERR;
            }
            // More receives may have been posted before the announcement, so the next request has to look for itself.
            announcement = 0;
            lookMillis = FIRST_LOOK_MILLIS;
        }
        int operation = request.operation;
        boolean signalled = request.signalled;
        long context = request.context;
        long posted = request.number;
        long length = request.length;
        request.clear();
        if (status == WR_FLUSH_ERR) {
            sends.complete(posted, context, status, OPCODES[operation], 0);
            WAITING_HEAD.setRelease(this, waitingHead + 1);
            Memory.fullFence();
            ownDoorbell.ring();
        } else {
            finish(operation, status, signalled, context, posted, length);
            WAITING_HEAD.setRelease(this, waitingHead + 1);
        }
        return true;
    }

    /**
     * Schedules another search for a shared receive, in case the peer does not signal: any process that shares the queue can
     * overwrite the words by which this side announces that it waits. Called by the thread that executes.
     */
    private void lookAgainLater() {
        if (!lookScheduled || lookDue) {
            // A retry that is already due was scheduled for an earlier request, which did not need it.
            lookDue = false;
            lookScheduled = true;
            CompletableFuture.delayedExecutor(lookMillis, TimeUnit.MILLISECONDS).execute(this::lookAgain);
            lookMillis = Math.min(2 * lookMillis, LAST_LOOK_MILLIS);
        }
    }

    private void lookAgain() {
        lookDue = true;
        resume();
    }

    /** Sets the ready bit of the peer's queue pair in the shared completion queue. */
    private void markReady() {
        // Once the peer has closed, it may assign the index to another queue pair. It does not while this side is busy and the
        // state was READY after enter().
        enter(RegionTable.NO_REGION);
        if (Memory.getIntAcquire(remoteBase + Half.STATE) == Half.READY) {
            remoteShared.markReady(remoteSharedIndex);
        }
        leave();
    }

    /** Reports to the peer that no receive has been found for so long that some may be lost. */
    private void reportStarvation() {
        enter(RegionTable.NO_REGION);
        boolean told = Memory.getIntAcquire(remoteBase + Half.STATE) == Half.READY
            && Memory.casInt(remoteBase + Half.FAULT, 0, Half.STARVED);
        if (told && remoteSharesQueue) {
            remoteShared.markReady(remoteSharedIndex);
        }
        leave();
        if (told) {
            Memory.fullFence();
            remoteReceiveDoorbell.ring();
        }
    }

    private int execute(WorkRequest request) {
        return execute(request.operation, request.local, request.localOffset, request.remote, request.remoteOffset,
            request.length, request.immediate, request.value);
    }

    /**
     * Asks the peer to signal when the condition that this side waits for has changed. The fence orders the announcement before
     * the loads of the next attempt, against the fence between a change and {@link #wakePeer()} on the peer's side.
     */
    private void announce(int reason) {
        announcement = reason;
        if (reason == NO_RECEIVE && remoteShared != null) {
            // Once the peer has closed, it may assign the index to another queue pair: see markReady().
            enter(RegionTable.NO_REGION);
            if (Memory.getIntAcquire(remoteBase + Half.STATE) == Half.READY) {
                remoteShared.announceWaiting(remoteSharedIndex);
            }
            leave();
        } else {
            Memory.putIntVolatile(remoteBase + Half.STALLED, 1);
        }
        Memory.fullFence();
    }

    /** Returns whether the last announcement still stands: then the peer has changed nothing, and another attempt is useless. */
    private boolean isStillAnnounced() {
        if (announcement == 0 || peerGone) {
            return false;
        }
        if (lookDue) {
            lookDue = false;
            lookScheduled = false;
            if (announcement == NO_RECEIVE) {
                reportStarvation();
            }
            announcement = 0;
            return false;
        }
        boolean stands = announcement == NO_RECEIVE && remoteShared != null
            ? remoteShared.isWaiting(remoteSharedIndex) && Memory.getIntAcquire(remoteBase + Half.STATE) == Half.READY
            : Memory.getIntAcquire(remoteBase + Half.STALLED) != 0;
        if (!stands) {
            announcement = 0;
        }
        return stands;
    }

    /**
     * Marks this queue pair busy. The fence orders the store of {@link Half#BUSY} before all later loads of the peer's state and
     * of the stamps of its regions. A process that takes memory away stores these words first, executes a fence and then loads
     * BUSY. So either this side observes that the memory is no longer valid, or the peer observes that this side is busy and
     * waits for the end of the operation before it reuses the memory.
     *
     * @param region the key of the region that the operation reaches, {@link Half#POSTED_RECEIVES}, or
     *     {@link RegionTable#NO_REGION}
     */
    private void enter(int region) {
        int mark = busy + 1;
        BUSY.setRelease(this, mark);
        // The release store orders every access of the previous operation before it. A peer that loads this region concludes that
        // the previous operation has ended.
        Memory.putIntRelease(base + Half.BUSY_REGION, region);
        Memory.putIntRelease(base + Half.BUSY, mark);
        Memory.fullFence();
    }

    /**
     * Makes the queue pair idle again if it is busy. The release store orders all accesses of the operation, including the
     * published completion, before the even value.
     */
    private void leave() {
        int mark = busy;
        if ((mark & 1) != 0) {
            BUSY.setRelease(this, mark + 1);
            Memory.putIntRelease(base + Half.BUSY, mark + 1);
        }
    }

    /**
     * Executes a work request in the peer's memory. Unless the request has to wait, {@link #finish} follows, and this queue pair
     * stays busy until then: once the peer has closed, it may assign its index in the shared queue to another queue pair.
     *
     * @return the status, or, if it has to wait and nothing has been done, one of the negative reasons
     */
    private int execute(int operation, SoftLocalMemoryRegion local, long localOffset, SoftRemoteMemoryRegion target,
            long remoteOffset, long length, int immediate, long value) {
        long localAddress = 0;
        if (local != null) {
            int usage = operation <= SEND_IMMEDIATE ? MemoryUsage.SEND.bit()
                : operation == READ ? MemoryUsage.READ_DST.bit() : MemoryUsage.WRITE_SRC.bit();
            if (!local.allows(usage) || !local.contains(localOffset, length) || !local.isOpen() || local.owner() != peer) {
                return LOC_PROT_ERR;
            }
            localAddress = local.address() + localOffset;
        }
        enter(operation <= SEND_IMMEDIATE ? Half.POSTED_RECEIVES : target != null ? target.key() : RegionTable.NO_REGION);
        int status = NOT_READY;
        try {
            status = executeBusy(operation, localAddress, target, remoteOffset, length, immediate, value);
        } finally {
            if (status < 0) {
                leave();
            }
        }
        return status;
    }

    private int executeBusy(int operation, long localAddress, SoftRemoteMemoryRegion target, long remoteOffset, long length,
            int immediate, long value) {
        if (peerGone) {
            return RETRY_EXC_ERR;
        }
        int peerState = Memory.getIntAcquire(remoteBase + Half.STATE);
        if (peerState != Half.READY) {
            return peerState == Half.INITIAL ? NOT_READY : RETRY_EXC_ERR;
        }
        if (Faults.ENABLED) {
            Faults.at("executing");
        }
        if (operation <= SEND_IMMEDIATE) {
            return send(localAddress, length, operation == SEND_IMMEDIATE ? CompletionRing.IMMEDIATE : 0, immediate);
        }
        return access(operation, localAddress, target, remoteOffset, length, immediate, value);
    }

    /** Sends: takes a receive that the peer has posted, fills its buffer and publishes its completion. */
    private int send(long source, long length, int flags, int immediate) {
        if (isRingFull()) {
            return RING_FULL;
        }
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            long entry = findReceive();
            if (entry == 0) {
                return NO_RECEIVE;
            }
            int key = Memory.getInt(entry + ReceiveEntry.KEY);
            int capacity = Memory.getInt(entry + ReceiveEntry.LENGTH);
            long offset = Memory.getLong(entry + ReceiveEntry.OFFSET);
            int slot = Memory.getInt(entry + ReceiveEntry.SLOT);
            RemoteRegion region = null;
            if (length > 0 && length <= capacity) {
                region = region(key);
            }
            // The fields read from the entry are valid only if no other sender has taken it meanwhile.
            if (remoteShared != null && !takeShared()) {
                continue;
            }
            if (Faults.ENABLED) {
                Faults.at("taken");
            }
            if (length > capacity) {
                publish(slot, length, immediate, flags, LOC_LEN_ERR);
                return REM_INV_REQ_ERR;
            }
            if (length > 0 && (region == null || !region.allows(MemoryUsage.RECV.bit(), remoteDomain)
                || !region.contains(offset, length) || copyTo(region, offset, source, length) != SUCCESS)) {
                publish(slot, 0, immediate, flags, LOC_PROT_ERR);
                return REM_OP_ERR;
            }
            if (Faults.ENABLED) {
                Faults.at("copied");
            }
            publish(slot, length, immediate, flags, SUCCESS);
            if (Faults.ENABLED) {
                Faults.at("published");
            }
            return SUCCESS;
        }
        return NO_RECEIVE;
    }

    /** Reads, writes or flushes a memory region of the peer. */
    private int access(int operation, long localAddress, SoftRemoteMemoryRegion target, long remoteOffset, long length,
            int immediate, long value) {
        RemoteRegion region = null;
        long offset = 0;
        if (target != null) {
            region = region(target.key());
            if (region == null || !region.allows(usage(operation), remoteDomain)) {
                return REM_ACCESS_ERR;
            }
            // The address comes from the descriptor, which is not trusted; the bounds come from the peer's table. The sum may
            // overflow to any value, and contains() checks the result.
            offset = target.address() - region.address() + remoteOffset;
            if (!region.contains(offset, length)) {
                return REM_ACCESS_ERR;
            }
        }
        switch (operation) {
            case READ:
                return length == 0 ? SUCCESS : copyFrom(region, offset, localAddress, length);
            case WRITE:
                return length == 0 ? SUCCESS : copyTo(region, offset, localAddress, length);
            case WRITE_IMMEDIATE:
                return writeImmediate(region, offset, localAddress, length, immediate);
            case ATOMIC_WRITE:
                return atomicWrite(region, offset, value);
            case FLUSH_PERSISTENT:
                return persist(region, offset, length);
            default:
                // The writes went to shared memory. The fence orders them before the completion of the flush for all threads.
                Memory.fullFence();
                return SUCCESS;
        }
    }

    private static int usage(int operation) {
        return switch (operation) {
            case READ -> MemoryUsage.READ_SRC.bit();
            case FLUSH_VISIBILITY -> MemoryUsage.FLUSH_VISIBILITY.bit();
            case FLUSH_PERSISTENT -> MemoryUsage.FLUSH_PERSISTENT.bit();
            default -> MemoryUsage.WRITE_DST.bit();
        };
    }

    private int writeImmediate(RemoteRegion region, long offset, long source, long length, int immediate) {
        if (isRingFull()) {
            return RING_FULL;
        }
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            long entry = findReceive();
            if (entry == 0) {
                return NO_RECEIVE;
            }
            int slot = Memory.getInt(entry + ReceiveEntry.SLOT);
            if (remoteShared != null && !takeShared()) {
                continue;
            }
            if (length > 0 && copyTo(region, offset, source, length) != SUCCESS) {
                publish(slot, 0, immediate, CompletionRing.IMMEDIATE | CompletionRing.WRITE, LOC_PROT_ERR);
                return REM_OP_ERR;
            }
            publish(slot, length, immediate, CompletionRing.IMMEDIATE | CompletionRing.WRITE, SUCCESS);
            return SUCCESS;
        }
        return NO_RECEIVE;
    }

    private int atomicWrite(RemoteRegion region, long offset, long value) {
        if (region.local() == 0) {
            return atomicWriteToForeign(region, offset, value);
        }
        long address = region.local() + offset;
        if ((address & 7) != 0) {
            return REM_INV_REQ_ERR;
        }
        Memory.putLongRelease(address, value);
        return SUCCESS;
    }

    /**
     * Writes to memory that this process cannot map: the kernel copies the aligned word. A process that is killed does not
     * interrupt the copy. That a reader never observes half of the word relies on the kernel copying an aligned word by one
     * store, as it does on x86-64 and aarch64. The fence orders all earlier writes of this process before the copy.
     */
    private int atomicWriteToForeign(RemoteRegion region, long offset, long value) {
        if ((region.address() + offset & 7) != 0) {
            return REM_INV_REQ_ERR;
        }
        Memory.fullFence();
        long word = Scratch.get().address();
        Memory.putLong(word, value);
        return copyTo(region, offset, word, Long.BYTES);
    }

    private int persist(RemoteRegion region, long offset, long length) {
        Memory.fullFence();
        if (length > 0 && region.local() != 0 && remoteProcess.isSelf()) {
            // The region may be a file that this process has mapped. Other memory has no storage to write back to.
            long first = (region.local() + offset) / Posix.PAGE_SIZE * Posix.PAGE_SIZE;
            int result = Posix.msync(first, region.local() + offset + length - first);
            return result == 0 ? SUCCESS : REM_OP_ERR;
        }
        if (length > 0 && region.local() == 0) {
            // Only the process that owns the memory knows the file or device behind it, and can synchronize it.
            SoftLog.violation("a flush to persistence of memory of " + User.process(remoteProcess.pid())
                + ": only that process can make it persistent; ask it to by a message, or use the provider tcp");
            return REM_OP_ERR;
        }
        return SUCCESS;
    }

    private RemoteRegion region(int key) {
        RemoteRegion region = remoteProcess.known(key);
        return region != null ? region : remoteProcess.find(key);
    }

    private int copyTo(RemoteRegion region, long offset, long source, long length) {
        if (region.local() != 0) {
            long first = 0;
            if (Faults.ENABLED) {
                first = length / 2;
                StreamingCopy.copy(source, region.local() + offset, first);
                Faults.at("copying");
            }
            StreamingCopy.copy(source + first, region.local() + offset + first, length - first);
            return SUCCESS;
        }
        return control.isPeerGone() ? RETRY_EXC_ERR
            : status(remoteProcess.copyTo(region.address() + offset, source, length));
    }

    private int copyFrom(RemoteRegion region, long offset, long target, long length) {
        if (region.local() != 0) {
            Memory.copy(region.local() + offset, target, length);
            return SUCCESS;
        }
        return control.isPeerGone() ? RETRY_EXC_ERR
            : status(remoteProcess.copyFrom(region.address() + offset, target, length));
    }

    /** Returns the status for the result of a copy by system call. */
    private int status(int result) {
        if (result == 0) {
            return SUCCESS;
        }
        if (result == -Libc.EFAULT) {
            return REM_ACCESS_ERR;
        }
        if (result == -Libc.ESRCH) {
            // The process died after isPeerGone() was called.
            return RETRY_EXC_ERR;
        }
        SoftLog.violation("memory of " + User.process(remoteProcess.pid()) + " cannot be reached by system call: "
            + Posix.strerror(-result) + "; memory from RpmaProvider.reserve needs none");
        return REM_OP_ERR;
    }

    /**
     * Loads the entry of the receive for the next message, after the current message has been signalled, so that it is in this
     * processor's cache when it is needed. The result is only a hint; {@link SharedReceives#take} fails if the receive has been
     * taken meanwhile.
     */
    private void lookAhead() {
        if (remoteShared != null) {
            ahead = remoteShared.find();
        } else {
            ahead = Memory.getLongAcquire(
                remoteReceives + (remotePosition & remoteReceiveMask) * ReceiveEntry.SIZE + ReceiveEntry.STATE);
        }
    }

    /** Returns the address of a posted receive, 0 if there is none. */
    private long findReceive() {
        if (remoteShared != null) {
            found = ahead;
            ahead = 0;
            if (found == 0) {
                // A request that is about to wait does not rely on SharedReceives.HEAD, which other processes can overwrite.
                found = announcement == NO_RECEIVE ? remoteShared.search() : remoteShared.find();
            }
            return found == 0 ? 0 : remoteShared.entry(found);
        }
        long entry = remoteReceives + (remotePosition & remoteReceiveMask) * ReceiveEntry.SIZE;
        return Memory.getLongAcquire(entry + ReceiveEntry.STATE) == remotePosition + 1 ? entry : 0;
    }

    /**
     * Takes the shared receive that was found, unless another sender has taken it. The position is stored in
     * {@link Half#BUSY_RECEIVE} first, so that the peer can identify the receive even if a process that shares the queue
     * overwrites the take word.
     */
    private boolean takeShared() {
        Memory.putInt(base + Half.BUSY_RECEIVE, (int) found);
        return remoteShared.take(found, remoteSharedIndex);
    }

    /**
     * Returns whether the peer's ring of completions is full. That is possible only with a shared receive queue: otherwise no
     * more receives are posted than the ring has entries.
     */
    private boolean isRingFull() {
        if (remoteShared == null || remotePosition - remoteConsumed <= remoteRingMask) {
            return false;
        }
        remoteConsumed = Memory.getLongAcquire(remoteBase + Half.CONSUMED);
        return remotePosition - remoteConsumed > remoteRingMask;
    }

    private void publish(int slot, long length, int immediate, int flags, int status) {
        CompletionRing.publish(remoteRing, remoteRingMask, remotePosition, slot, length, immediate, flags, status);
        remotePosition++;
    }

    // ---- taking memory away

    /**
     * Returns the operation that the peer is executing in memory of this process. Operations that the peer begins later observe
     * what the caller stored before this call, if a full fence lies between (see {@link #enter}). If the peer's end is in this
     * process, this method waits for the end of the operation instead: the executing thread cannot be stopped or killed alone.
     *
     * @return the operation, or {@code null} if there is none
     */
    GracePeriod.Operation peerOperation() {
        return peerOperation(RegionTable.NO_REGION, 0, true);
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
        return peerOperation(key, usages, false);
    }

    private GracePeriod.Operation peerOperation(int key, int usages, boolean any) {
        RemoteEnd end = remote;
        if (end == null || !end.tryRetain()) {
            return null;
        }
        long word = end.base() + Half.BUSY;
        int mark = Memory.getIntVolatile(word);
        boolean concerned = (mark & 1) != 0;
        if (concerned && !any) {
            // Loaded after BUSY, so the value belongs to this operation or to a later one, which observes the invalid region.
            int region = Memory.getIntVolatile(end.base() + Half.BUSY_REGION);
            concerned = region == key || region == Half.POSTED_RECEIVES && (usages & MemoryUsage.RECV.bit()) != 0;
        }
        if (concerned && end.process().isSelf()) {
            Patience patience = new Patience();
            while (Memory.getIntVolatile(word) == mark) {
                patience.pause();
            }
            concerned = false;
        }
        if (!concerned) {
            end.release();
            return null;
        }
        return new GracePeriod.Operation(end, mark);
    }

    /** Waits for the end of the operation that a thread of this process may be executing by this queue pair. */
    void awaitOwn() {
        int mark = (int) BUSY.getVolatile(this);
        if ((mark & 1) != 0) {
            // Wait without a limit: the executing thread would crash the process if the memory were unmapped under it, and it
            // cannot be killed alone.
            Patience patience = new Patience();
            while ((int) BUSY.getVolatile(this) == mark) {
                patience.pause();
            }
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
        // Orders the store of the state before the load of Half.STALLED in wakePeer() and of the peer's BUSY in peerOperation().
        Memory.fullFence();
        // Wake the peer unconditionally. A thread that failed concurrently may have skipped it.
        wakePeer();
        wakeWaiter();
        // Another thread's poll may be executing requests that wait. It stops after its current request.
        for (int rounds = 1; !EXECUTING.compareAndSet(this, false, true); rounds++) {
            if (rounds % SPINS == 0) {
                // On a single CPU the other thread needs this one to yield.
                Thread.yield();
            }
            Thread.onSpinWait();
        }
        GracePeriod period = GracePeriod.with(null, peerOperation());
        if (period == null || period.endsAtOnce()) {
            reclaim();
        } else {
            if (attachment != null) {
                attachment.linger();
            }
            process.limbo().add(period, remoteProcess.origin(), this::reclaim);
        }
    }

    private void reclaim() {
        process.remove(this);
        if (attachment != null) {
            attachment.detach();
        }
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
