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

import io.rpma.CompletionQueue;
import io.rpma.CompletionStatus;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.WorkCompletions;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The owner's side of a shared receive queue. Any thread posts; the completions come by the rings of the attached queue pairs,
 * which one thread polls (by the receive completion queue) or each its own (by the queue pair's completion queue).
 *
 * <p>A posted receive is known by its slot. What the owner remembers of a slot is private; what peers see of it, and say of it,
 * is in {@link SharedReceives}. Free slots are a stack; the state of a slot that is posted says at which position, and whoever
 * changes it to {@link #FREE}, by a completion or because the peer that took the receive is gone, reports it, so that it is
 * reported once, and never for a later use of the slot.
 */
final class SoftSharedReceiveQueue implements SharedReceiveQueue {
    /** The largest number of completions that one queue pair can have waiting. */
    private static final int MAX_RING = 256;

    private static final long FREE = 0;
    private static final int NONE = -1;
    /** After so many queue pairs have ended, the whole ring is looked through for what the last of them took. */
    private static final int FULL_LOOK = 64;

    private static final VarHandle TAIL;

    static {
        try {
            TAIL = MethodHandles.lookup().findVarHandle(SoftSharedReceiveQueue.class, "tail", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final SoftPeer peer;
    private final int id;
    private final int slots;
    private final int capacity;
    private final int ringCapacity;
    private final SharedMemory memory;
    private final long base;
    private final long ring;
    private final SharedReceiveCompletionQueue completionQueue;

    // Of each slot: private to this process.
    private final long[] contexts;
    private final int[] lengths;
    // FREE, or what posted() makes of the position.
    private final AtomicLongArray states;
    // The state word of the entry in which a slot was taken, once that entry is used anew.
    private final AtomicLongArray takers;
    private volatile boolean anyTakers;
    // The stack of free slots: links, and a head whose upper half changes with every step.
    private final AtomicIntegerArray links;
    private final AtomicLong free;
    // Which slot lies at each position of the ring.
    private final AtomicIntegerArray slotAt;
    private int tail;
    // All positions before this one have been taken; under the lock of this object, as is the number of queue pairs ended.
    private int taken;
    private int ended;

    private final BitSet indexes = new BitSet();
    // By number, with holes; an element is written before the array is written again.
    private volatile Attachment[] attachments = new Attachment[0];
    private int attached;
    // Those of them that are closed, and whose peer may still be in a buffer.
    private int lingering;
    private volatile boolean closed;
    private volatile boolean destroyed;

    SoftSharedReceiveQueue(SoftPeer peer, int id, int slots, int completions) throws RpmaException {
        this.peer = peer;
        this.id = id;
        this.slots = slots;
        capacity = Half.powerOfTwo(slots);
        // One more than the slots, where that is not too many: then no ring is ever full.
        ringCapacity = Math.min(Half.powerOfTwo(slots + 1), MAX_RING);
        memory = SharedMemory.create("rpma-shared-receives", SharedReceives.size(capacity));
        base = memory.address();
        ring = base + SharedReceives.RING;
        contexts = new long[slots];
        lengths = new int[slots];
        states = new AtomicLongArray(slots);
        takers = new AtomicLongArray(slots);
        links = new AtomicIntegerArray(slots);
        for (int i = 0; i < slots; i++) {
            links.setPlain(i, i + 1 < slots ? i + 1 : NONE);
        }
        free = new AtomicLong(slots > 0 ? 0 : NONE & 0xffff_ffffL);
        slotAt = new AtomicIntegerArray(capacity);
        for (int i = 0; i < capacity; i++) {
            slotAt.setPlain(i, NONE);
        }
        Memory.putIntVolatile(base + SharedReceives.ARMED, Doorbell.ARMED);
        try {
            completionQueue = completions == 0 ? null
                : new SharedReceiveCompletionQueue(this, completions, base, completions < slots);
        } catch (RpmaException e) {
            memory.release();
            throw e;
        }
    }

    SoftPeer peer() {
        return peer;
    }

    /** Returns the number that this process gave it. */
    int id() {
        return id;
    }

    int slots() {
        return slots;
    }

    int capacity() {
        return capacity;
    }

    /** Returns the number of completions that the ring of an attached queue pair holds. */
    int ringCapacity() {
        return ringCapacity;
    }

    SharedMemory memory() {
        return memory;
    }

    @Override
    public CompletionQueue receiveCompletionQueue() {
        return completionQueue;
    }

    SharedReceiveCompletionQueue completions() {
        return completionQueue;
    }

    /** Returns a view for an initiator in this process, {@code null} if the queue has been closed. */
    synchronized SharedReceives view() {
        return closed ? null : new SharedReceives(id, memory.retain(), capacity,
            completionQueue == null ? null : completionQueue.channel().event().retain());
    }

    @Override
    public void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        SoftLocalMemoryRegion region = SoftLocalMemoryRegion.of(target);
        Receives.check(region, offset, length);
        if (closed) {
            throw SoftLog.failure(RpmaError.INVALID, "the shared receive queue is closed");
        }
        int slot = pop();
        if (slot == NONE) {
            throw SoftLog.failure(RpmaError.PROVIDER, 12, "shared receive queue full: " + slots + " of " + slots
                + " slots are posted or not polled yet; poll completions first, or ask for a larger queue"
                + " (SharedReceiveQueueConfig.receiveQueueSize)", null);
        }
        contexts[slot] = context;
        lengths[slot] = (int) length;
        int position = (int) TAIL.getAndAdd(this, 1);
        states.setRelease(slot, posted(position));
        int index = position & capacity - 1;
        long entry = ring + (long) index * ReceiveEntry.SIZE;
        // The receive that lay here before has been taken, since no more are posted than there are positions. If it has not
        // been completed, the state word is about to forget who took it. (If it has been, and its slot is posted elsewhere,
        // the position tells that what is noted here is old.)
        int previous = slotAt.getAcquire(index);
        if (previous != NONE && states.getAcquire(previous) == posted(position - capacity)) {
            noteTaker(previous, Memory.getLongAcquire(entry + ReceiveEntry.STATE));
        }
        slotAt.setRelease(index, slot);
        ReceiveEntry.write(entry, Receives.key(region, offset, length), offset, (int) length, slot);
        Memory.putLongRelease(entry + ReceiveEntry.STATE, (position + 1L) << 32);
        Memory.fullFence();
        if (Memory.getInt(base + SharedReceives.WAITING) != 0) {
            wakeWaiting();
        }
    }

    /** Returns the state of a slot that is posted at a position. */
    private static long posted(int position) {
        return 1L << 32 | position + 1 & 0xffff_ffffL;
    }

    /** Returns the state of the slot that an entry with this state word was posted with. */
    private static long postedBy(long entryState) {
        return 1L << 32 | entryState >>> 32;
    }

    private void noteTaker(int slot, long entryState) {
        takers.accumulateAndGet(slot, entryState, (known, found) -> postedBy(known) == states.get(slot) ? known : found);
        anyTakers = true;
    }

    private int pop() {
        long head = free.get();
        while (true) {
            int slot = (int) head;
            if (slot == NONE) {
                return NONE;
            }
            long next = (head >>> 32) + 1 << 32 | links.getAcquire(slot) & 0xffff_ffffL;
            if (free.compareAndSet(head, next)) {
                return slot;
            }
            head = free.get();
        }
    }

    private void push(int slot) {
        long head = free.get();
        while (true) {
            links.setRelease(slot, (int) head);
            if (free.compareAndSet(head, (head >>> 32) + 1 << 32 | slot)) {
                return;
            }
            head = free.get();
        }
    }

    private void wakeWaiting() {
        Memory.getAndSetInt(base + SharedReceives.WAITING, 0);
        for (Attachment attachment : attachments) {
            if (attachment != null) {
                attachment.wakeWaiter();
            }
        }
    }

    /**
     * Attaches a queue pair, whose completions come by the ring at this address of its half. {@link Attachment#publish()} is to
     * follow.
     */
    synchronized Attachment attach(QueuePair queuePair, HalfMemory half, long ringAddress, int ringSize)
            throws RpmaException {
        if (closed) {
            throw SoftLog.failure(RpmaError.INVALID, "the shared receive queue is closed");
        }
        int index = indexes.nextClearBit(0);
        if (index >= SharedReceives.MAX_ATTACHED) {
            throw SoftLog.failure(RpmaError.PROVIDER, 12, SharedReceives.MAX_ATTACHED + " connections share this receive queue,"
                + " which is the limit: use another one for more", null);
        }
        indexes.set(index);
        attached++;
        if (Faults.ENABLED) {
            Faults.at("attached");
        }
        return new Attachment(this, queuePair, half, index, firstUntaken(), ringAddress, ringSize);
    }

    /** Lets an attachment be found by its number, once its queue pair is complete: others set ready bits as they like. */
    private synchronized void publish(Attachment attachment) {
        Attachment[] all = attachments;
        if (attachment.index >= all.length) {
            all = Arrays.copyOf(all, Math.max(8, attachment.index * 2));
        }
        all[attachment.index] = attachment;
        attachments = all;
        clearBit(SharedReceives.READY, attachment.index);
        clearBit(SharedReceives.WAITERS, attachment.index);
    }

    /** Returns the first position that may still be taken: none behind it has been. */
    private synchronized int firstUntaken() {
        int end = (int) TAIL.getAcquire(this);
        while (taken != end) {
            long state = Memory.getLongAcquire(ring + (taken & capacity - 1L) * ReceiveEntry.SIZE + ReceiveEntry.STATE);
            int ahead = (int) (state >>> 32) - (taken + 1);
            if (ahead < 0 || ahead == 0 && (int) state == 0) {
                break;
            }
            taken++;
        }
        return taken;
    }

    private synchronized boolean isFullLookDue() {
        return ++ended % FULL_LOOK == 0;
    }

    private void clearBit(int words, int index) {
        Memory.getAndBitwiseAndLong(base + words + (index >>> 6) * 8L, ~(1L << index));
    }

    /** Lets the number of an attachment be used anew. */
    private synchronized void forget(Attachment attachment) {
        attachments[attachment.index] = null;
        indexes.clear(attachment.index);
    }

    /** Keeps the queue open for a request that has not attached a queue pair yet. */
    synchronized void hold() throws RpmaException {
        if (closed) {
            throw SoftLog.failure(RpmaError.INVALID, "the shared receive queue is closed");
        }
        attached++;
    }

    /** Takes {@link #hold} back. */
    void countDown() {
        countDown(false);
    }

    private synchronized void countDown(boolean lingered) {
        attached--;
        lingering -= lingered ? 1 : 0;
        if (closed && attached == 0) {
            destroy();
        }
    }

    private synchronized void countLingering() {
        lingering++;
    }

    /** Returns the attachment of a number, or {@code null}. */
    Attachment attachment(int index) {
        Attachment[] all = attachments;
        return index < all.length ? all[index] : null;
    }

    /**
     * Reports the receives that a queue pair had taken and not completed when it ended: their buffers are the application's
     * again.
     */
    private void reclaim(Attachment attachment) {
        if (Faults.ENABLED) {
            Faults.at("reclaiming");
        }
        int taker = attachment.index + 1;
        // Only what was taken while the queue pair was attached can be its own; unless a process has scribbled over the ring.
        int end = firstUntaken();
        int count = Math.min(end - attachment.firstPosition, capacity);
        if (isFullLookDue()) {
            end = (int) TAIL.getAcquire(this);
            count = capacity;
        }
        for (int position = end - count; position != end; position++) {
            // A thread that posts may be about to overwrite the state word: it has noted the taker before it changed the slot.
            int index = position & capacity - 1;
            int slot = slotAt.getAcquire(index);
            long state = Memory.getLongAcquire(ring + (long) index * ReceiveEntry.SIZE + ReceiveEntry.STATE);
            if (slot != NONE && (int) state == taker) {
                reclaim(attachment, slot, state);
            }
        }
        if (anyTakers) {
            for (int slot = 0; slot < slots; slot++) {
                long state = takers.get(slot);
                if ((int) state == taker) {
                    reclaim(attachment, slot, state);
                }
            }
        }
    }

    private void reclaim(Attachment attachment, int slot, long entryState) {
        // The slot may have been completed and posted again meanwhile: that is another state.
        if (states.compareAndSet(slot, postedBy(entryState), FREE)) {
            attachment.orphans.add(new Orphan(contexts[slot], CompletionStatus.WR_FLUSH_ERR.code(), 0, 0, 0));
            push(slot);
        }
    }

    @Override
    public synchronized void close() throws RpmaException {
        if (closed) {
            return;
        }
        if (attached > lingering) {
            throw SoftLog.failure(RpmaError.PROVIDER, 16, attached - lingering
                + " connections still take their receives from this queue: close them first", null);
        }
        closed = true;
        if (completionQueue != null) {
            completionQueue.markClosed();
        }
        peer.remove(this);
        if (attached == 0) {
            destroy();
        }
    }

    private void destroy() {
        if (completionQueue != null) {
            completionQueue.close();
        }
        memory.release();
        destroyed = true;
    }

    @Override
    public boolean isQuiescent() {
        if (closed && !destroyed) {
            peer.process().limbo().sweep();
        }
        return destroyed;
    }

    /** A completion that outlives its queue pair. */
    record Orphan(long context, int status, int length, int immediate, int flags) {
    }

    /** One queue pair's part in a shared receive queue: its number there, and its ring of completions. */
    static final class Attachment {
        private final SoftSharedReceiveQueue queue;
        private final QueuePair queuePair;
        private final HalfMemory half;
        private final int number;
        private final int index;
        private final int firstPosition;
        private final long ring;
        private final int mask;
        private final boolean canFill;
        private final ArrayDeque<Orphan> orphans = new ArrayDeque<>();
        private long consumed;
        // Of the completion queue that polls several rings.
        private boolean active;
        private boolean finished;
        private boolean lingers;
        private int idlePolls;

        Attachment(SoftSharedReceiveQueue queue, QueuePair queuePair, HalfMemory half, int index, int firstPosition, long ring,
                int ringCapacity) {
            this.queue = queue;
            this.queuePair = queuePair;
            this.half = half.retain();
            this.number = queuePair.number();
            this.index = index;
            this.firstPosition = firstPosition;
            this.ring = ring;
            mask = ringCapacity - 1;
            canFill = queue.slots >= ringCapacity;
        }

        /** Lets it be found: its queue pair is complete. */
        void publish() {
            queue.publish(this);
        }

        int index() {
            return index;
        }

        SoftSharedReceiveQueue queue() {
            return queue;
        }

        QueuePair queuePair() {
            return queuePair;
        }

        boolean isActive() {
            return active;
        }

        void setActive(boolean now) {
            active = now;
            idlePolls = 0;
        }

        /** Counts a poll that found nothing; returns how many there have been in a row. */
        int countIdle() {
            return ++idlePolls;
        }

        boolean isEmpty() {
            return CompletionRing.control(ring, mask, consumed) == 0;
        }

        /** Returns the number of completions that wait to be polled, at most {@code limit}. */
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
         * @return the number of entries now in the batch, or its complement if one of them failed or made no sense
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
                int slot = take(control, CompletionRing.data(ring, mask, position));
                position++;
                if (slot == NONE) {
                    failed = true;
                    break;
                }
                long data = CompletionRing.data(ring, mask, position - 1);
                int status = CompletionRing.status(control);
                int flags = CompletionRing.flags(control);
                completions.set(count++, queue.contexts[slot], status, Receives.opcode(flags), (int) data,
                    (int) (data >>> 32), number, Receives.completionFlags(flags));
                // Before the slot can be posted again: a ring that has room for all that is posted is then never seen full.
                Memory.putLongRelease(half.address() + Half.CONSUMED, position);
                queue.push(slot);
                if (Faults.ENABLED) {
                    Faults.at("freed");
                }
                failed = status != 0;
            }
            if (position != consumed) {
                idlePolls = 0;
                consumed = position;
                if (canFill) {
                    Memory.fullFence();
                    queuePair.wakePeer();
                }
            }
            return failed ? ~count : count;
        }

        /** Takes a slot that the peer says it has filled, if that can be; otherwise returns {@link #NONE}. */
        private int take(long control, long data) {
            int slot = CompletionRing.slot(control);
            int flags = CompletionRing.flags(control);
            long state = slot < queue.slots ? queue.states.getAcquire(slot) : FREE;
            if (state == FREE
                || (flags & CompletionRing.WRITE) == 0 && CompletionRing.status(control) == 0
                    && Integer.compareUnsigned((int) data, queue.lengths[slot]) > 0
                || !queue.states.compareAndSet(slot, state, FREE)) {
                SoftLog.violation("queue pair " + number + " received a completion of " + Integer.toUnsignedString((int) data)
                    + " bytes for slot " + slot + " of a shared receive queue of " + queue.slots + " slots, which is not posted"
                    + " or shorter: the peer breaks the protocol");
                return NONE;
            }
            return slot;
        }

        /** Rings for the peer if it waits for a receive. */
        void wakeWaiter() {
            long word = queue.base + SharedReceives.WAITERS + (index >>> 6) * 8L;
            long bit = 1L << index;
            if ((Memory.getLongAcquire(word) & bit) != 0) {
                Memory.getAndBitwiseAndLong(word, ~bit);
                RemoteEnd end = queuePair.remote();
                if (end != null && end.tryRetain()) {
                    end.wake();
                    end.release();
                }
            }
        }

        /** The peer has ended: what it published without a word is polled all the same. */
        void peerGone() {
            if (queue.completionQueue != null) {
                queue.completionQueue.revive(this);
            }
        }

        /** The queue pair is closed, but its peer may still fill a receive: the queue may be closed, and is destroyed later. */
        void linger() {
            lingers = true;
            queue.countLingering();
        }

        /** Ends the queue pair's part. Nothing is published in its ring any more. */
        void detach() {
            if (queue.completionQueue != null) {
                queue.completionQueue.detach(this);
            } else {
                queue.reclaim(this);
                queue.forget(this);
                half.release();
            }
            // The last step: from here on the queue may be closed, and its memory unmapped.
            queue.countDown(lingers);
        }

        /**
         * Takes what is left in the ring, and what the peer had taken without completing it. For the completion queue that
         * polls several rings, on its thread, after the queue pair has closed.
         */
        void finish() {
            long control = CompletionRing.control(ring, mask, consumed);
            while (control != 0) {
                long data = CompletionRing.data(ring, mask, consumed);
                int slot = take(control, data);
                consumed++;
                if (slot == NONE) {
                    break;
                }
                orphans.add(new Orphan(queue.contexts[slot], CompletionRing.status(control), (int) data, (int) (data >>> 32),
                    CompletionRing.flags(control)));
                queue.push(slot);
                control = CompletionRing.control(ring, mask, consumed);
            }
            queue.reclaim(this);
            queue.forget(this);
            finished = true;
            half.release();
        }

        /** Returns whether {@link #finish()} has been called: there is nothing more to be polled, nor the memory for it. */
        boolean hasFinished() {
            return finished;
        }

        /** Hands out what {@link #finish()} has found. Returns the number of entries now in the batch. */
        int pollOrphans(WorkCompletions completions, int count) {
            while (count < completions.capacity() && !orphans.isEmpty()) {
                Orphan orphan = orphans.remove();
                completions.set(count++, orphan.context(), orphan.status(), Receives.opcode(orphan.flags()), orphan.length(),
                    orphan.immediate(), number, Receives.completionFlags(orphan.flags()));
            }
            return count;
        }

        boolean hasOrphans() {
            return !orphans.isEmpty();
        }
    }
}
