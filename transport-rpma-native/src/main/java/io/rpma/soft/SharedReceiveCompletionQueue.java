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

import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import io.rpma.soft.host.FaultPoints;
import io.rpma.soft.shared.CompletionChannel;
import io.rpma.soft.shared.EventPipe;
import io.rpma.soft.shared.RepeatedSignal;
import io.rpma.soft.shared.SharedReceives;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The completion queue of a shared receive queue. It polls the rings of the attached queue pairs, but only of those that hold
 * completions or did so recently, so that its cost does not grow with the number of connections.
 *
 * <p>A queue pair whose ready bit is set at the lowest level is in the list of active queue pairs, or is about to be entered; its
 * producer then writes nothing but its ring. When the list is long, a queue pair whose ring stays empty is removed from it and
 * its bit is cleared.
 *
 * <p>Any process that shares the queue can overwrite the bits. All rings are therefore checked after a number of polls and when
 * this queue has been signalled. If there are many rings, a check is postponed until {@link #LOOK_INTERVAL_NANOS} have passed
 * since the last one, unless the queue has been signalled and no completion explains the signal.
 */
final class SharedReceiveCompletionQueue extends SoftCompletionQueue {
    /** The length of the list up to which empty rings stay in it. */
    private static final int KEEP = 8;
    /** Empty polls of this queue in a row after which all rings are checked. */
    private static final int LOOK_LIMIT = 1024;
    /** Polls after which all rings are checked even if no poll was empty: a ring that is not in the list may have completions. */
    private static final int BUSY_LOOK_LIMIT = 16 * 1024;
    /** The number of rings up to which a check of all rings costs so little that it is never postponed. */
    private static final int FEW = 64;
    private static final long LOOK_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(25);
    private static final long URGENT = 1L << 32;
    /** The number of closed queue pairs without completions for which the owner is woken, because each of them holds memory. */
    private static final int MOST_DETACHED = 64;

    private final AttachmentTable attachments;
    private final ReceiveReclaimer reclaimer;
    private final long base;
    // The address of the number by which this queue is armed: only this process writes there.
    private final long arming;
    private final boolean mayOverflow;
    private final Runnable beforeWaiting;
    private final ConcurrentLinkedQueue<SharedReceiveAttachment> revived = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<SharedReceiveAttachment> detached = new ConcurrentLinkedQueue<>();
    // The number of queue pairs added to the two lists since they were read; each that the owner was woken for adds URGENT.
    private final AtomicLong news = new AtomicLong();
    private final RepeatedSignal signal;
    private SharedReceiveAttachment[] active = new SharedReceiveAttachment[KEEP];
    private int activeCount;
    private int next;
    private int emptyPolls;
    private int polls;
    // Whether a completion has been found since this queue was last signalled.
    private boolean hasFound;
    private boolean lookNow;
    // Whether the check of all rings that a signal asks for has been postponed. It is read by the thread that repeats signals.
    private volatile boolean lookOwed;
    private long lookedAt = System.nanoTime();
    private long looks;
    // The number of all polls.
    private long turn;
    private SharedReceiveAttachment[] orphaned = new SharedReceiveAttachment[0];

    SharedReceiveCompletionQueue(AttachmentTable attachments, ReceiveReclaimer reclaimer, int size, long base, long arming,
            boolean mayOverflow, Runnable beforeWaiting) throws RpmaException {
        super(new CompletionChannel(), size);
        this.attachments = attachments;
        this.reclaimer = reclaimer;
        this.base = base;
        this.arming = arming;
        this.mayOverflow = mayOverflow;
        this.beforeWaiting = beforeWaiting;
        signal = new RepeatedSignal(channel().event(), () -> lookOwed || news.get() >= MOST_DETACHED);
        Memory.putLongRelease(arming, 1);
    }

    /**
     * Reads the descriptor unconditionally, because memory that other processes can overwrite does not tell reliably whether it
     * has been signalled. If it has, the queue is armed again. Otherwise the queue is still armed, and a producer that is about
     * to signal makes the descriptor readable.
     */
    @Override
    boolean consume() {
        boolean hasRung = channel().event().read() > 0;
        if (hasRung) {
            // The fence orders the store of the new number before the loads of the next poll. A producer publishes its entry,
            // executes a fence and loads the number (SharedDoorbell): either the poll finds the entry or the producer finds the
            // new number and signals (row M26 of docs/memory-order.md).
            Memory.putLongRelease(arming, Memory.getLong(arming) + 1);
            Memory.fullFence();
            considerLook();
        }
        beforeWaiting.run();
        return hasRung;
    }

    /**
     * Decides when all rings are checked after a signal, because the ready bits are not reliable. If the completions that have
     * been found explain the signal, and all rings have been checked recently, the check is postponed. A thread that waits for
     * the next signal gets one for it.
     */
    private void considerLook() {
        if (!hasFound || isLookDue()) {
            lookNow = true;
        } else {
            lookOwed = true;
            signal.signalLater();
        }
        hasFound = false;
    }

    private boolean isLookDue() {
        return attachments.count() <= FEW || System.nanoTime() - lookedAt >= LOOK_INTERVAL_NANOS;
    }

    @Override
    int take(WorkCompletions completions) throws RpmaException {
        turn++;
        if (news.get() != 0) {
            takeNews();
        }
        if (Memory.getLongAcquire(base + SharedReceives.READY_TOP) != 0) {
            findReady();
        }
        if (mayOverflow) {
            checkOverflow();
        }
        int count = 0;
        if (orphaned.length > 0) {
            count = takeOrphans(completions);
        }
        count = pollActive(completions, count);
        emptyPolls = count > 0 ? 0 : emptyPolls + 1;
        polls++;
        if (emptyPolls >= LOOK_LIMIT || polls >= BUSY_LOOK_LIMIT) {
            emptyPolls = 0;
            polls = 0;
            lookNow |= isLookDue();
        }
        if (lookNow) {
            findForgotten();
            if (count == 0) {
                count = pollActive(completions, 0);
            }
        }
        hasFound |= count > 0;
        return count;
    }

    /** Polls the rings in the list. Returns the number of entries now in the batch. */
    private int pollActive(WorkCompletions completions, int taken) {
        int count = taken;
        int limit = completions.capacity();
        // Start after the ring that filled the last batch, so that no ring starves the others.
        int start = next < activeCount ? next : 0;
        for (int i = 0; i < activeCount && count < limit; i++) {
            int at = start + i;
            if (at >= activeCount) {
                at -= activeCount;
            }
            SharedReceiveAttachment attachment = active[at];
            int before = count;
            count = attachment.end().pollReceives(completions, count);
            if (count == limit) {
                next = at + 1;
            } else if (count == before && activeCount > KEEP && attachment.countIdle()) {
                if (deactivate(at)) {
                    i--;
                    start = at < start ? start - 1 : start;
                }
            }
        }
        return count;
    }

    /** Enters the queue pairs into the list whose rings have completions but whose ready bits were overwritten. */
    private void findForgotten() {
        lookNow = false;
        lookOwed = false;
        lookedAt = System.nanoTime();
        looks++;
        for (int index = attachments.count() - 1; index >= 0; index--) {
            SharedReceiveAttachment attachment = attachments.get(index);
            if (attachment != null && attachment.isDue()) {
                activate(attachment);
            }
        }
    }

    private void checkOverflow() throws RpmaException {
        int ready = 0;
        for (int i = 0; i < activeCount && ready <= size(); i++) {
            ready += active[i].ready(size() + 1 - ready);
        }
        if (ready > size()) {
            for (int i = 0; i < activeCount; i++) {
                active[i].end().fail();
            }
            throw overflow();
        }
    }

    /** Enters the queue pairs whose bits have been set into the list, from the uppermost level down. */
    private void findReady() {
        long top = Memory.getAndSetLong(base + SharedReceives.READY_TOP, 0);
        while (top != 0) {
            int topBit = Long.numberOfTrailingZeros(top);
            top &= top - 1;
            if (topBit >= SharedReceives.MAX_ATTACHED >>> 12) {
                continue;
            }
            long middle = Memory.getAndSetLong(base + SharedReceives.READY_MIDDLE + topBit * 8L, 0);
            while (middle != 0) {
                int word = (topBit << 6) + Long.numberOfTrailingZeros(middle);
                middle &= middle - 1;
                long bits = Memory.getLongVolatile(base + SharedReceives.READY + word * 8L);
                while (bits != 0) {
                    activate(attachments.get((word << 6) + Long.numberOfTrailingZeros(bits)));
                    bits &= bits - 1;
                }
            }
        }
    }

    private void activate(SharedReceiveAttachment attachment) {
        // A queue pair may be revived and detached while takeNews() runs: it may have finished before it is taken from "revived".
        if (attachment != null && !attachment.isActive() && !attachment.hasFinished()) {
            attachment.enter(turn);
            if (activeCount == active.length) {
                active = Arrays.copyOf(active, activeCount * 2);
            }
            active[activeCount++] = attachment;
        }
    }

    /** Removes a ring from the list unless a completion or a fault has arrived meanwhile. */
    private boolean deactivate(int at) {
        SharedReceiveAttachment attachment = active[at];
        if (FaultPoints.ENABLED) {
            FaultPoints.at("deactivating");
        }
        Memory.getAndBitwiseAndLong(base + SharedReceives.READY + (attachment.index() >>> 6) * 8L,
            ~(1L << attachment.index()));
        // Orders the clearing of the bit before the loads of the ring and of the fault. A producer publishes its entry or its
        // fault, executes a fence and loads the bit (SharedReceives.markReady()): either this thread finds what was published
        // or the producer finds the bit clear and sets it again (row M25 of docs/memory-order.md).
        Memory.fullFence();
        if (attachment.isDue()) {
            // The producer may have found the bit still set, and then does not set the bits of the upper levels: keep the ring.
            Memory.getAndBitwiseOrLong(base + SharedReceives.READY + (attachment.index() >>> 6) * 8L,
                1L << attachment.index());
            attachment.keep();
            return false;
        }
        remove(at);
        return true;
    }

    private void remove(int at) {
        active[at].leave(turn);
        activeCount--;
        System.arraycopy(active, at + 1, active, at, activeCount - at);
        active[activeCount] = null;
    }

    /**
     * Enters a queue pair whose peer has ended into the list if the peer has left something, whether it has set the ready bit or
     * not. Any thread may call it.
     */
    void revive(SharedReceiveAttachment attachment) {
        if (attachment.hasLeft()) {
            revived.add(attachment);
            announce();
        }
    }

    /**
     * Takes over the ring of a queue pair that is closed. Any thread may call it. The owner is woken if the peer has left
     * something. Otherwise the next poll releases the ring.
     */
    void detach(SharedReceiveAttachment attachment) {
        detached.add(attachment);
        if (attachment.hasLeft()) {
            announce();
        } else if (news.incrementAndGet() == MOST_DETACHED) {
            wake();
        }
    }

    private void announce() {
        // If there was urgent news already, the thread that announced it wakes the owner, which finds both.
        if (news.getAndAdd(URGENT) < URGENT) {
            wake();
        }
    }

    private void wake() {
        EventPipe event = channel().event();
        if (event.tryRetain()) {
            signal.signal();
            event.release();
        }
    }

    private void takeNews() {
        // Clear the number before the lists are read, so that a thread that adds to a list afterwards wakes the owner again.
        news.set(0);
        // News explains a signal, as a completion does.
        hasFound = true;
        SharedReceiveAttachment attachment = revived.poll();
        while (attachment != null) {
            activate(attachment);
            attachment = revived.poll();
        }
        if (FaultPoints.ENABLED) {
            FaultPoints.at("revived");
        }
        attachment = detached.poll();
        while (attachment != null) {
            for (int i = 0; i < activeCount; i++) {
                if (active[i] == attachment) {
                    remove(i);
                    break;
                }
            }
            attachment.takeLeft();
            reclaimer.reclaim(attachment);
            attachment.finish();
            if (attachment.hasOrphans()) {
                orphaned = Arrays.copyOf(orphaned, orphaned.length + 1);
                orphaned[orphaned.length - 1] = attachment;
            }
            attachment = detached.poll();
        }
    }

    private int takeOrphans(WorkCompletions completions) {
        int count = 0;
        int done = 0;
        while (done < orphaned.length && count < completions.capacity()) {
            count = orphaned[done].pollOrphans(completions, count);
            if (orphaned[done].hasOrphans()) {
                break;
            }
            done++;
        }
        orphaned = Arrays.copyOfRange(orphaned, done, orphaned.length);
        return count;
    }

    /** Returns how many times all rings have been checked. */
    long looks() {
        return looks;
    }

    /**
     * Releases the queue together with its shared receive queue, to which no queue pair is attached any more. The queue is marked
     * as closed already, and no thread waits for it.
     */
    void close() {
        takeNews();
        channel().close();
    }
}
