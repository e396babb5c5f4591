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

import io.rpma.CompletionStatus;
import io.rpma.posix.Memory;
import io.rpma.soft.host.FaultPoints;
import io.rpma.soft.shared.Half;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The work requests of a queue pair that have to wait for the peer, in the order in which they were posted. While there are some,
 * the thread that holds {@link #executing} executes them; any thread of the connection may try to become that thread.
 *
 * <p>The executing state of the queue pair passes between the posting thread and that thread by the positions of this queue: the
 * posting thread stores {@link #tail} after its last access to that state, and the holder stores {@link #head} (release) after
 * its own; each loads the other's position (acquire) before its first access.
 */
final class WaitingRequests {
    /** The largest number of ticks after which a request that waits is retried once more without having been woken. */
    private static final int MOST_TICKS = 32;
    private static final int SPINS = 100;

    private static final int WR_FLUSH_ERR = CompletionStatus.WR_FLUSH_ERR.code();
    private static final int RETRY_EXC_ERR = CompletionStatus.RETRY_EXC_ERR.code();
    /** The result of {@link #execute} if the peer was asked to signal and has not done so yet. */
    private static final int STILL_ANNOUNCED = Integer.MIN_VALUE;

    private static final VarHandle EXECUTING;
    private static final VarHandle AGAIN;
    private static final VarHandle TAIL;
    private static final VarHandle HEAD;
    private static final VarHandle WATCHED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            EXECUTING = lookup.findVarHandle(WaitingRequests.class, "executing", boolean.class);
            AGAIN = lookup.findVarHandle(WaitingRequests.class, "again", boolean.class);
            TAIL = lookup.findVarHandle(WaitingRequests.class, "tail", long.class);
            HEAD = lookup.findVarHandle(WaitingRequests.class, "head", long.class);
            WATCHED = lookup.findVarHandle(WaitingRequests.class, "watched", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final LocalEnd own;
    private final Completer completer;
    private final int capacity;
    private final StarvationTimer timer;
    private boolean executing;
    // Set by a thread that found "executing" taken: the holder must look again, as it may not have observed that thread's change.
    private boolean again;
    // Null until the queue pair is connected; nothing is executed before.
    private Requester requester;
    private WorkRequest[] waiting;
    private long tail;
    private long head;
    private boolean watched;
    // Whether the next attempt is due although the peer has not signalled.
    private volatile boolean lookDue;
    // Whether the first request waits for memory of the peer, so that only the timer retries it.
    private boolean unmapped;
    // Accessed only by the timer: the position of the first request at the last tick, the number of ticks since it was found or
    // retried, and the number of ticks until it is retried.
    private long tickedAt = -1;
    private int ticks;
    private int patience;

    /**
     * Creates an empty queue.
     *
     * @param capacity the capacity of the send queue, a power of two
     * @param timer finds requests that have been waiting for a shared receive for a long time, or wait for memory of the peer
     */
    WaitingRequests(LocalEnd own, Completer completer, int capacity, StarvationTimer timer) {
        this.own = own;
        this.timer = timer;
        this.completer = completer;
        this.capacity = capacity;
    }

    /** Called when the queue pair is connected, before the other end is set. */
    void start(Requester by) {
        requester = by;
    }

    /** Returns whether no request waits, so that the thread that posts the next one can execute it; called by that thread. */
    boolean isEmpty() {
        return tail == (long) HEAD.getAcquire(this);
    }

    /** Appends a request; called by the thread that posts it. {@link #resume} follows. */
    void add(int operation, SoftLocalMemoryRegion local, long localOffset, SoftRemoteMemoryRegion target, long remoteOffset,
            long length, int immediate, long value, boolean signalled, long context, long request) {
        WorkRequest[] requests = waiting;
        if (requests == null) {
            requests = new WorkRequest[capacity];
            for (int i = 0; i < requests.length; i++) {
                requests[i] = new WorkRequest();
            }
            waiting = requests;
        }
        WorkRequest entry = requests[(int) tail & requests.length - 1];
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
        TAIL.setVolatile(this, tail + 1);
    }

    /** Executes the work requests that wait, as far as possible. Any thread of this connection may call it. */
    void resume() {
        // A thread that finds the lock taken leaves its request, or the change that it has observed, to the holder. The holder
        // therefore checks the queue and "again" once more after it has unlocked.
        while ((long) TAIL.getVolatile(this) != (long) HEAD.getVolatile(this) && tryLock()) {
            boolean mustWait = false;
            try {
                while (!mustWait && head != (long) TAIL.getAcquire(this)) {
                    WorkRequest[] requests = waiting;
                    mustWait = !complete(requests[(int) head & requests.length - 1]);
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
        int now = own.state();
        if (now == LocalEnd.CLOSED) {
            return false;
        }
        int status = now == Half.READY ? execute(request) : WR_FLUSH_ERR;
        if (status < 0) {
            return false;
        }
        int operation = request.operation;
        boolean signalled = request.signalled;
        long context = request.context;
        long posted = request.number;
        long length = request.length;
        request.clear();
        if (status == WR_FLUSH_ERR) {
            completer.flush(operation, context, posted);
            HEAD.setRelease(this, head + 1);
            // Orders the flushed completion before the load of the armed word (row M5 of docs/memory-order.md).
            Memory.fullFence();
            own.ownDoorbell().ring();
        } else {
            completer.finish(operation, status, signalled, context, posted, length);
            HEAD.setRelease(this, head + 1);
        }
        return true;
    }

    /** Executes a request that waits. Returns its status; it is negative if the request has to wait longer. */
    private int execute(WorkRequest request) {
        boolean looks = lookDue;
        if (!looks && (isStillAnnounced() || unmapped && !own.isPeerGone())) {
            return STILL_ANNOUNCED;
        }
        if (looks) {
            lookDue = false;
            requester.searchThoroughly(true);
        }
        int status = requester.execute(request);
        for (int tries = 0; mustAnnounce(status) && tries < Requester.MOST_TRIES; tries++) {
            // Ask to be woken, then try again: the peer may have posted a receive between the first attempt and announce().
            // If the reason changes, for instance because there is room now but no receive, announce the new reason: it is
            // announced in another word.
            if (FaultPoints.ENABLED) {
                FaultPoints.at("announcing");
            }
            requester.announce(status);
            status = requester.execute(request);
        }
        requester.searchThoroughly(false);
        unmapped = status == Requester.NOT_MAPPED;
        if (status < 0) {
            if (!own.isPeerGone() && (!unmapped || requester.awaitMemory())) {
                if (FaultPoints.ENABLED) {
                    FaultPoints.at("waiting");
                }
                if (requester.waitsForShared(status)) {
                    if (looks) {
                        requester.reportStarvation();
                    }
                    watch();
                } else if (unmapped) {
                    watch();
                }
                return status;
            }
            status = RETRY_EXC_ERR;
            unmapped = false;
        }
        // More receives may have been posted before the announcement, so the next request has to look for itself.
        requester.forgetAnnouncement();
        return status;
    }

    /** Returns whether a request has to wait for a change that the peer signals, and the peer has not been asked to. */
    private boolean mustAnnounce(int status) {
        return status < 0 && status != Requester.NOT_MAPPED && !requester.isAnnounced(status);
    }

    /** Makes sure that the timer watches the requests that wait. Called by the thread that executes. */
    private void watch() {
        if (!(boolean) WATCHED.getVolatile(this) && WATCHED.compareAndSet(this, false, true)) {
            timer.add(this::tick);
        }
    }

    /**
     * Called by the timer at intervals. If the first request has been waiting since the last tick, it is retried, and then again
     * after twice the time.
     *
     * @return whether the timer has to continue to call this
     */
    private boolean tick() {
        long position = (long) HEAD.getAcquire(this);
        if (own.state() == LocalEnd.CLOSED || position == (long) TAIL.getVolatile(this)) {
            WATCHED.setVolatile(this, false);
            // A request that was added before this thread stored "watched" may have found it still set.
            return own.state() != LocalEnd.CLOSED && (long) HEAD.getAcquire(this) != (long) TAIL.getVolatile(this)
                && WATCHED.compareAndSet(this, false, true);
        }
        if (position != tickedAt) {
            tickedAt = position;
            ticks = 0;
            patience = 1;
        } else if (++ticks >= patience) {
            ticks = 0;
            patience = Math.min(2 * patience, MOST_TICKS);
            lookDue = true;
            resume();
        }
        return true;
    }

    /** Returns whether the peer was asked to signal and has not done so yet: then another attempt is useless. */
    private boolean isStillAnnounced() {
        return requester.isAnnounced() && !own.isPeerGone() && requester.isStillAnnounced();
    }

    /** Waits until no thread executes any more, and makes sure that none will. Waits for a thread of this process alone. */
    void stop() {
        for (int rounds = 1; !EXECUTING.compareAndSet(this, false, true); rounds++) {
            if (rounds % SPINS == 0) {
                // On a single CPU the other thread needs this one to yield.
                Thread.yield();
            }
            Thread.onSpinWait();
        }
    }
}
