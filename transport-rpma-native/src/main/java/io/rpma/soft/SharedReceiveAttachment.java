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
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import io.rpma.soft.host.FaultPoints;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.process.HalfMemory;
import io.rpma.soft.process.RemoteEnd;
import io.rpma.soft.shared.CompletionRing;
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.PostedReceives;
import io.rpma.soft.shared.SharedReceives;
import java.util.ArrayDeque;
import java.util.BitSet;

/**
 * A queue pair's attachment to a shared receive queue: its index there, and its ring of completions.
 *
 * <p>One thread at a time polls the ring: the thread that polls the receive completion queue of the shared receive queue, or, if
 * there is no such queue, the thread that polls the completion queue of the queue pair. The fields that are not final belong to
 * that thread, except two that the thread that closes or reclaims the queue pair stores before it detaches the attachment. Any
 * thread may wake the peer and look for completions in the ring. Nothing is guarded by a lock.
 */
final class SharedReceiveAttachment {
    /** No position. */
    static final long NOTHING = Long.MIN_VALUE;

    /** Empty polls in a row after which a ring leaves a long list, if it entered the list soon after it had left it. */
    private static final int LONG_PATIENCE = 64;
    /** Empty polls in a row after which any other ring leaves a long list. */
    private static final int SHORT_PATIENCE = 4;

    /** Whether a peer that has completed a receive has taken it, by what it has written to its half. */
    private enum Claim {
        /** It has not taken the receive. */
        NONE,
        /** It can have taken the receive, but has taken another one since, or is about to do so. */
        POSSIBLE,
        /** It names the receive as the last one that it has taken. */
        CERTAIN
    }

    private final ReceiveQueueOwner queue;
    private final PostedReceives receives;
    private final LocalEnd own;
    private final HalfMemory half;
    // The generation of the half: a later connection may use the same object.
    private final long use;
    private final int number;
    private final int index;
    // The address of the word that contains the bit of this index; see SharedReceives.WAITERS.
    private final long waiters;
    private final long ring;
    private final int mask;
    private final boolean canFill;
    private final ArrayDeque<Orphan> orphans = new ArrayDeque<>();
    private long consumed;
    // Used by the completion queue that polls several rings.
    private boolean active;
    private boolean finished;
    // Whether the peer was executing an operation when this attachment ended.
    private boolean heldAtEnd;
    private boolean lingers;
    private int idlePolls;
    // The number of empty polls in a row after which the ring is removed from a long list, and the poll that removed it last.
    private int patience = SHORT_PATIENCE;
    private long removedAt = Long.MIN_VALUE / 2;

    /** A completion that outlives its queue pair. */
    private record Orphan(long context, int status, int length, int immediate, int flags) {
    }

    SharedReceiveAttachment(ReceiveQueueOwner queue, PostedReceives receives, LocalEnd own, HalfMemory half,
            int index, long ring, int ringCapacity) {
        this.queue = queue;
        this.receives = receives;
        this.own = own;
        this.half = half.retain();
        use = half.use();
        this.number = own.number();
        this.index = index;
        waiters = queue.memory().address() + SharedReceives.WAITERS + (index >>> 6) * 8L;
        this.ring = ring;
        mask = ringCapacity - 1;
        canFill = receives.slots() >= ringCapacity;
    }

    int index() {
        return index;
    }

    /** Returns the queue pair. */
    LocalEnd end() {
        return own;
    }

    boolean isActive() {
        return active;
    }

    /**
     * Called when the ring enters the list of the queue. A ring that was removed shortly before will probably have completions
     * soon again, so it is kept for longer this time. Entering and removing a ring costs as much as polling it several dozen
     * times.
     *
     * @param poll the number of the queue's current poll
     */
    void enter(long poll) {
        active = true;
        idlePolls = 0;
        patience = poll - removedAt <= LONG_PATIENCE ? LONG_PATIENCE : SHORT_PATIENCE;
    }

    /** Called when the ring is removed from the list. */
    void leave(long poll) {
        active = false;
        removedAt = poll;
    }

    /** Counts a poll that found nothing. Returns whether there were so many in a row that the ring should leave a long list. */
    boolean countIdle() {
        return ++idlePolls > patience;
    }

    /** Keeps the ring in the list as if it had just had a completion. */
    void keep() {
        idlePolls = 0;
    }

    boolean isEmpty() {
        return CompletionRing.control(ring, mask, consumed) == 0;
    }

    /** Returns whether the peer has published a completion or a fault. */
    boolean isDue() {
        return !isEmpty() || Memory.getInt(half.address() + Half.FAULT) != 0;
    }

    /** Returns the number of completions that have not been polled, at most {@code limit}. */
    int ready(int limit) {
        int count = 0;
        while (count < limit && CompletionRing.control(ring, mask, consumed + count) != 0) {
            count++;
        }
        return count;
    }

    /**
     * Takes completions.
     *
     * @return the number of entries now in the batch, or its complement if a completion has failed or is not valid
     */
    int poll(WorkCompletions completions, int count) {
        long position = consumed;
        int limit = completions.capacity();
        boolean failed = false;
        while (count < limit && !failed) {
            long control = CompletionRing.control(ring, mask, position);
            if (control == 0) {
                break;
            }
            // Load it only once: the peer can change it at any time.
            long data = CompletionRing.data(ring, mask, position);
            int slot = take(control, data, position);
            position++;
            if (slot == PostedReceives.NONE) {
                own.breakOff();
                failed = true;
                break;
            }
            if (FaultPoints.ENABLED) {
                FaultPoints.at("checked");
            }
            int status = CompletionRing.status(control);
            int flags = CompletionRing.flags(control);
            completions.set(count++, receives.context(slot), status, Receives.opcode(flags), (int) data, (int) (data >>> 32),
                number, Receives.completionFlags(flags));
            // Store CONSUMED before the slot is pushed and can be posted again. A sender that takes the slot's next receive
            // therefore observes this value when it next checks for room, and never finds a ring full that has more entries
            // than the queue has slots.
            Memory.putLongRelease(half.address() + Half.CONSUMED, position);
            receives.push(slot);
            if (FaultPoints.ENABLED) {
                FaultPoints.at("freed");
            }
            failed = status != 0;
        }
        if (position != consumed) {
            advance(position);
        }
        return failed ? ~count : count;
    }

    /** Notes the position up to which completions have been polled, and wakes the peer if it waits for room in the ring. */
    private void advance(long position) {
        idlePolls = 0;
        consumed = position;
        if (canFill) {
            // Orders the store of CONSUMED before the load of Half.STALLED; a sender that found the ring full stores STALLED,
            // executes a fence and loads CONSUMED once more (row M4 of docs/memory-order.md).
            Memory.fullFence();
            own.wakePeer();
        }
    }

    /**
     * Takes the slot that a completion of the peer names.
     *
     * @param entry the position of the completion in the ring
     * @return the slot, or {@link PostedReceives#NONE} if the completion is not valid
     */
    private int take(long control, long data, long entry) {
        int slot = CompletionRing.slot(control);
        int flags = CompletionRing.flags(control);
        long state = slot < receives.slots() ? receives.state(slot) : PostedReceives.FREE;
        if (state == PostedReceives.FREE
            || (flags & CompletionRing.WRITE) == 0 && CompletionRing.status(control) == 0
                && Integer.compareUnsigned((int) data, receives.length(slot)) > 0
            || !canHaveTaken(slot, PostedReceives.position(state), entry)
            || !receives.unpost(slot, state)) {
            SoftLog.violation("queue pair " + number + " received a completion of " + Integer.toUnsignedString((int) data)
                + " bytes for slot " + slot + " of a shared receive queue of " + receives.slots() + " slots; the slot is not"
                + " posted, belongs to another connection, or is shorter: the peer breaks the protocol");
            return PostedReceives.NONE;
        }
        return slot;
    }

    /** Returns whether the peer, which has published a completion, can have taken a slot that is posted at a position. */
    private boolean canHaveTaken(int slot, int position, long entry) {
        if (receives.isTakenBy(position, index + 1)) {
            return true;
        }
        int taker = receives.takerOf(slot, position);
        if (taker == index + 1) {
            return true;
        }
        if (taker == SharedReceives.OWNER || taker > 0 && queue.attachedEnd(taker - 1) != null) {
            return false;
        }
        // No attached queue pair has this index, so a process has overwritten the take word. Only the memory that each peer
        // shares with this process alone shows which of them took the receive.
        queue.scheduleRepair();
        return switch (claim(position, entry)) {
            case CERTAIN -> true;
            case POSSIBLE -> !queue.isClaimed(slot, position, index);
            case NONE -> false;
        };
    }

    /**
     * Returns whether the peer, which has published a completion, has taken the receive at a position. It named the receive in
     * {@link Half#BUSY_RECEIVE} before it took it, and names it until it takes another one.
     */
    private Claim claim(int position, long entry) {
        RemoteEnd end = own.remote();
        if (end == null || !end.tryRetain()) {
            return Claim.POSSIBLE;
        }
        // The peer stores the position only while it is busy, and increments BUSY when it begins and when it ends. An idle peer
        // that names another receive has taken that one, and has published its completion (row M58 of docs/memory-order.md).
        int before = Memory.getIntVolatile(end.base() + Half.BUSY);
        boolean named = Memory.getIntVolatile(end.base() + Half.BUSY_RECEIVE) == position;
        int after = Memory.getIntVolatile(end.base() + Half.BUSY);
        end.release();
        if (named) {
            return Claim.CERTAIN;
        }
        boolean idle = (before & 1) == 0 && before == after;
        return idle && CompletionRing.control(ring, mask, entry + 1) == 0 ? Claim.NONE : Claim.POSSIBLE;
    }

    /**
     * Returns whether the peer names the receive that is posted at a position, and has published its completion or is about to do
     * so. Any thread may call it.
     */
    boolean claims(int slot, int position) {
        RemoteEnd end = own.remote();
        if (own.isError() || end == null || !end.tryRetain()) {
            return false;
        }
        boolean named = Memory.getIntVolatile(end.base() + Half.BUSY_RECEIVE) == position;
        boolean busy = (Memory.getIntVolatile(end.base() + Half.BUSY) & 1) != 0;
        end.release();
        if (!named || busy) {
            return named;
        }
        BitSet completed = new BitSet();
        completed.set(slot);
        clearCompleted(completed);
        return completed.isEmpty();
    }

    /** Returns whether the peer publishes that it executes an operation. */
    private boolean isPeerBusy() {
        return namedByPeer() != NOTHING;
    }

    /** Returns the position of the receive that the peer names as the one it takes, or {@link #NOTHING} if it is not busy. */
    long namedByPeer() {
        RemoteEnd end = own.remote();
        if (end == null || !end.tryRetain()) {
            return NOTHING;
        }
        boolean busy = (Memory.getIntVolatile(end.base() + Half.BUSY) & 1) != 0;
        int position = Memory.getIntVolatile(end.base() + Half.BUSY_RECEIVE);
        end.release();
        return busy ? position : NOTHING;
    }

    /**
     * Returns whether the peer may have taken a receive that it has not completed, or whose completion has not been polled.
     * If the peer gives a false answer, a repair finds its receives ({@link ReceiveReclaimer}).
     */
    boolean mayHoldReceives() {
        return heldAtEnd || !isEmpty();
    }

    /**
     * Returns whether the peer, which publishes nothing more, has left a completion, a fault, or an operation that it did not
     * finish. Any thread may call it. If completions are being polled meanwhile, the answer may be {@code true} in vain.
     */
    boolean hasLeft() {
        return heldAtEnd || CompletionRing.hasReached(ring, mask, consumed)
            || Memory.getIntAcquire(half.address() + Half.FAULT) != 0;
    }

    /** Clears the bits of the slots that completions in the ring name. Any thread may call it. */
    void clearCompleted(BitSet candidates) {
        if (!half.tryRetain()) {
            return;
        }
        // This attachment may have ended, and another connection may use the half now. The generation does not change while the
        // half is retained.
        if (half.use() != use) {
            half.release();
            return;
        }
        // Loaded without synchronization. An old value only adds completions that have been polled since.
        int from = (int) consumed;
        for (int i = 0; i <= mask; i++) {
            long control = Memory.getLongAcquire(ring + (long) i * CompletionRing.ENTRY + 8);
            if (control != 0 && (int) (control >>> 32) - 1 - from >= 0) {
                candidates.clear(CompletionRing.slot(control));
            }
        }
        half.release();
    }

    /**
     * Wakes the peer if it waits for a receive, because this queue pair takes no more. If this attachment has been removed
     * meanwhile, the waiting bit may be that of the attachment that has its index now. The index is therefore looked up again
     * after the bit has been cleared (rows M31 and M51 of docs/memory-order.md).
     */
    void wakeWaiter() {
        long bit = 1L << index;
        if ((Memory.getLongAcquire(waiters) & bit) != 0) {
            if (FaultPoints.ENABLED) {
                FaultPoints.at("failingWakesWaiter");
            }
            Memory.getAndBitwiseAndLong(waiters, ~bit);
            wakePeer(own);
            LocalEnd current = queue.attachedEnd(index);
            if (current != null && current != own) {
                wakePeer(current);
            }
        }
    }

    /** Wakes the peer, whose waiting bit has been cleared. */
    void wakePeer() {
        wakePeer(own);
    }

    private static void wakePeer(LocalEnd of) {
        RemoteEnd end = of.remote();
        if (end != null && end.tryRetain()) {
            end.wake();
            end.release();
        }
    }

    /** Marks the queue pair as closed while its peer may still fill a receive. */
    void linger() {
        lingers = true;
    }

    /** Returns whether {@link #linger()} has been called. */
    boolean lingers() {
        return lingers;
    }

    /** Called when the attachment ends: notes whether the peer executes an operation. It publishes nothing more in its ring. */
    void noteEnd() {
        heldAtEnd = isPeerBusy();
    }

    /**
     * Takes the completions that are left in the ring. The completion queue that polls several rings calls it on its thread,
     * after the queue pair has closed; the receives that the peer had taken without completing them are reclaimed next, and then
     * {@link #finish()} is called.
     */
    void takeLeft() {
        long control = CompletionRing.control(ring, mask, consumed);
        while (control != 0) {
            long data = CompletionRing.data(ring, mask, consumed);
            int slot = take(control, data, consumed);
            consumed++;
            if (slot == PostedReceives.NONE) {
                break;
            }
            orphans.add(new Orphan(receives.context(slot), CompletionRing.status(control), (int) data, (int) (data >>> 32),
                CompletionRing.flags(control)));
            receives.push(slot);
            control = CompletionRing.control(ring, mask, consumed);
        }
    }

    /** Ends the use of the ring by the completion queue that polls several rings. */
    void finish() {
        finished = true;
        release();
    }

    /** Releases the memory of the ring. */
    void release() {
        half.release();
    }

    /** Returns whether {@link #finish()} has been called. The ring must not be polled then: its memory is released. */
    boolean hasFinished() {
        return finished;
    }

    /** Takes the completions that {@link #takeLeft()} has found. Returns the number of entries now in the batch. */
    int pollOrphans(WorkCompletions completions, int count) {
        while (count < completions.capacity() && !orphans.isEmpty()) {
            Orphan orphan = orphans.remove();
            completions.set(count++, orphan.context(), orphan.status(), Receives.opcode(orphan.flags()), orphan.length(),
                orphan.immediate(), number, Receives.completionFlags(orphan.flags()));
        }
        return count;
    }

    /** Adds a receive that the peer had taken and not completed to those that {@link #pollOrphans} returns. */
    void addFlushed(int slot) {
        orphans.add(new Orphan(receives.context(slot), CompletionStatus.WR_FLUSH_ERR.code(), 0, 0, 0));
    }

    boolean hasOrphans() {
        return !orphans.isEmpty();
    }
}
