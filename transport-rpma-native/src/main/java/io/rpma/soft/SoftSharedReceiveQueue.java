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
import io.rpma.posix.Memory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
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
 *
 * <p>No receive is lost. One that a queue pair had taken and not completed when it ended is reported by the receive completion
 * queue; where there is none it is posted again, since nobody could be told. The processes that share the queue can overwrite
 * each other's take words and hints, and which of them has done it cannot be known. So each completion is compared with the take
 * word, each take word is checked before its entry is used again, and {@link #repair} finds the receives that nobody can take
 * and nobody can complete, and posts them again: an overwritten word costs a delay, and at most the connection that used it.
 */
final class SoftSharedReceiveQueue implements SharedReceiveQueue {
    /** The largest number of completions that one queue pair can have waiting. */
    private static final int MAX_RING = 256;

    private static final long FREE = 0;
    private static final int NONE = -1;
    /** After so many queue pairs have ended, the queue is looked through for receives that are lost. */
    private static final int FULL_LOOK = 64;
    /** The shortest and the longest time between two repairs of one that has to look again; well below what a user notices. */
    private static final long MIN_REPAIR_MILLIS = 10;
    private static final long MAX_REPAIR_MILLIS = 40;

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
    private final SharedMemory posted;
    private final SharedMemory memory;
    private final long base;
    private final long ring;
    private final SharedReceiveCompletionQueue completionQueue;

    // Of each slot: private to this process.
    private final long[] contexts;
    private final int[] keys;
    private final long[] offsets;
    private final int[] lengths;
    // FREE, or what posted() makes of the position.
    private final AtomicLongArray states;
    // The take word of the entry in which a slot was posted, once that entry is used anew.
    private final AtomicLongArray takers;
    // The stack of free slots: links, and a head whose upper half changes with every step.
    private final AtomicIntegerArray links;
    private final AtomicLong free;
    // Of each entry of the ring: the position that was posted there last, plus one, and the slot.
    private final AtomicLongArray places;
    private int tail;

    // Under the lock of this object.
    private int ended;
    private boolean repairing;
    private long lastRepair;

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
        posted = SharedMemory.create("rpma-posted-receives", SharedReceives.postedSize(capacity), true);
        ring = posted.address();
        contexts = new long[slots];
        keys = new int[slots];
        offsets = new long[slots];
        lengths = new int[slots];
        states = new AtomicLongArray(slots);
        takers = new AtomicLongArray(slots);
        links = new AtomicIntegerArray(slots);
        for (int i = 0; i < slots; i++) {
            links.setPlain(i, i + 1 < slots ? i + 1 : NONE);
        }
        free = new AtomicLong(slots > 0 ? 0 : NONE & 0xffff_ffffL);
        places = new AtomicLongArray(capacity);
        boolean done = false;
        SharedMemory shared = null;
        try {
            shared = SharedMemory.create("rpma-shared-receives", SharedReceives.size(capacity));
            memory = shared;
            base = memory.address();
            start(ThreadLocalRandom.current().nextInt());
            completionQueue = completions == 0 ? null
                : new SharedReceiveCompletionQueue(this, completions, base, SharedReceives.arming(ring, capacity),
                    completions < slots);
            done = true;
        } finally {
            if (!done) {
                posted.release();
                if (shared != null) {
                    shared.release();
                }
            }
        }
    }

    /** Makes this position the first one: of each entry, the position before its first one has been posted, and taken. */
    private void start(int first) {
        tail = first;
        for (int position = first - capacity; position != first; position++) {
            places.setPlain(position & capacity - 1, place(position, NONE));
            Memory.putLong(SharedReceives.entry(ring, capacity, position) + ReceiveEntry.STATE, position + 1 & 0xffff_ffffL);
            Memory.putLong(SharedReceives.takeWord(base, capacity, position),
                SharedReceives.taken(position, SharedReceives.OWNER));
        }
        Memory.putInt(base + SharedReceives.HEAD, first);
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

    /** Returns what initiators write. */
    SharedMemory memory() {
        return memory;
    }

    /** Returns the posted receives, which initiators only read. */
    SharedMemory posted() {
        return posted;
    }

    @Override
    public CompletionQueue receiveCompletionQueue() {
        return completionQueue;
    }

    @Override
    public boolean returnsUnfinishedReceives() {
        return true;
    }

    SharedReceiveCompletionQueue completions() {
        return completionQueue;
    }

    /** Returns a view for an initiator in this process, {@code null} if the queue has been closed. */
    synchronized SharedReceives view() {
        return closed ? null : new SharedReceives(id, posted.retain(), memory.retain(), capacity,
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
        keys[slot] = Receives.key(region, offset, length);
        offsets[slot] = offset;
        lengths[slot] = (int) length;
        post(slot);
    }

    /** Posts a slot whose receive has been set. */
    private void post(int slot) {
        int next = postAt(slot);
        while (next != NONE) {
            next = postAt(next);
        }
        Memory.fullFence();
        if (Memory.getInt(base + SharedReceives.WAITING) != 0) {
            wakeWaiting();
        }
    }

    /**
     * Posts a slot at the next position.
     *
     * @return the slot that lay there before if nobody has taken it, to be posted somewhere else; {@link #NONE} if all is well
     */
    private int postAt(int slot) {
        int position = (int) TAIL.getAndAdd(this, 1);
        int index = position & capacity - 1;
        int before = position - capacity;
        int last = slotAt(index, before);
        // The receive that lay here before has been taken, since no more are posted than there are positions. If it has not
        // been completed, the take word is about to forget who took it. (If it has been, and its slot is posted elsewhere,
        // the position tells that what is noted here is old.)
        int displaced = NONE;
        long take = Memory.getLongAcquire(SharedReceives.takeWord(base, capacity, before));
        boolean outstanding = last != NONE && states.getAcquire(last) == posted(before);
        if (!SharedReceives.isTaken(take, before)) {
            displaced = takeBack(before, last);
        } else if (outstanding) {
            noteTaker(last, take);
        }
        states.setRelease(slot, posted(position));
        long entry = SharedReceives.entry(ring, capacity, position);
        ReceiveEntry.write(entry, keys[slot], offsets[slot], lengths[slot], slot);
        Memory.putLongRelease(entry + ReceiveEntry.STATE, position + 1 & 0xffff_ffffL);
        places.setRelease(index, place(position, slot));
        return displaced;
    }

    /** Returns the slot that was posted at an entry last, which was at this position. */
    private int slotAt(int index, int position) {
        long place = places.getAcquire(index);
        while ((int) (place >>> 32) != position + 1) {
            // Another thread is about to write the entry, and receives behind it have been taken: by somebody who does not take
            // them in order.
            Thread.yield();
            place = places.getAcquire(index);
        }
        return (int) place;
    }

    /**
     * Puts a take word in order that does not say that its position has been taken, though the entry is about to be used again:
     * somebody has overwritten it, or the hint at where to look, so that initiators passed over the position.
     *
     * @return the slot that was posted there if nobody has taken it, and now nobody can; otherwise {@link #NONE}
     */
    private int takeBack(int position, int slot) {
        long word = SharedReceives.takeWord(base, capacity, position);
        long take = Memory.getLongVolatile(word);
        while (!SharedReceives.isTaken(take, position)) {
            boolean untaken = SharedReceives.isFree(take, position, capacity);
            long repaired = SharedReceives.taken(position, untaken ? SharedReceives.OWNER : SharedReceives.UNKNOWN);
            if (Memory.casLong(word, take, repaired)) {
                if (slot == NONE || states.getAcquire(slot) != posted(position)) {
                    return NONE;
                }
                if (untaken) {
                    return states.compareAndSet(slot, posted(position), FREE) ? slot : NONE;
                }
                noteTaker(slot, repaired);
                scheduleRepair();
                return NONE;
            }
            take = Memory.getLongVolatile(word);
        }
        if (slot != NONE && states.getAcquire(slot) == posted(position)) {
            noteTaker(slot, take);
        }
        return NONE;
    }

    private static long place(int position, int slot) {
        return position + 1L << 32 | slot & 0xffff_ffffL;
    }

    /** Returns the state of a slot that is posted at a position. */
    private static long posted(int position) {
        return 1L << 32 | position + 1 & 0xffff_ffffL;
    }

    /** Returns the position of a slot that is posted, by its state. */
    private static int position(long state) {
        return (int) state - 1;
    }

    private void noteTaker(int slot, long take) {
        takers.accumulateAndGet(slot, take,
            (known, found) -> (int) (known >>> 32) == (int) states.get(slot) ? known : found);
    }

    /**
     * Returns who has taken a slot that is posted at a position.
     *
     * @return the number of a queue pair plus one, {@link SharedReceives#OWNER} if nobody has taken it;
     *     {@link SharedReceives#UNKNOWN}, or the number of no queue pair, if the take word has been overwritten
     */
    private int takerOf(int slot, int position) {
        // In this order: what is overwritten by the next use of the entry has been noted before.
        long take = Memory.getLongAcquire(SharedReceives.takeWord(base, capacity, position));
        if (SharedReceives.isTaken(take, position)) {
            return SharedReceives.taker(take);
        }
        long noted = takers.get(slot);
        if (SharedReceives.isTaken(noted, position)) {
            return SharedReceives.taker(noted);
        }
        return SharedReceives.isFree(take, position, capacity) ? SharedReceives.OWNER : SharedReceives.UNKNOWN;
    }

    /** Returns whether a queue pair can have taken a slot that is posted at a position. */
    private boolean canHaveTaken(int slot, int position, int index) {
        if (Memory.getLongAcquire(SharedReceives.takeWord(base, capacity, position))
                == SharedReceives.taken(position, index + 1)) {
            return true;
        }
        int taker = takerOf(slot, position);
        if (taker == index + 1) {
            return true;
        }
        if (taker <= 0 || taker != SharedReceives.OWNER && attachment(taker - 1) == null) {
            // Nobody's number: somebody has overwritten it, and the one that completes the receive is likely to be honest.
            scheduleRepair();
            return true;
        }
        return false;
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
        return new Attachment(this, queuePair, half, index, ringAddress, ringSize);
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

    /** Returns a number that is larger than those of all attachments. */
    int attachmentCount() {
        return attachments.length;
    }

    /** Returns the attachment of a number, or {@code null}. */
    Attachment attachment(int index) {
        Attachment[] all = attachments;
        return index < all.length ? all[index] : null;
    }

    /**
     * Gives back the receives that a queue pair had taken and not completed when it ended: nothing is written to their buffers
     * any more.
     */
    private void reclaim(Attachment attachment) {
        if (Faults.ENABLED) {
            Faults.at("reclaiming");
        }
        boolean fullLook = isFullLookDue();
        if (fullLook || attachment.mayHoldReceives()) {
            for (int slot = 0; slot < slots; slot++) {
                long state = states.getAcquire(slot);
                if (state != FREE && takerOf(slot, position(state)) == attachment.index + 1) {
                    giveBack(slot, state, attachment);
                }
            }
        }
        if (fullLook) {
            scheduleRepair();
        }
    }

    /**
     * Gives back a receive that somebody has taken and will not complete. It is reported by the receive completion queue if an
     * attachment is given and there is one; otherwise it is posted again.
     *
     * @return whether it was still posted as this state says
     */
    private boolean giveBack(int slot, long state, Attachment attachment) {
        // The slot may have been completed and posted again meanwhile: that is another state.
        if (!states.compareAndSet(slot, state, FREE)) {
            return false;
        }
        if (completionQueue != null && attachment != null) {
            attachment.orphans.add(new Orphan(contexts[slot], CompletionStatus.WR_FLUSH_ERR.code(), 0, 0, 0));
            push(slot);
        } else {
            post(slot);
        }
        return true;
    }

    /** A sender has been waiting for a receive for a while: perhaps receives are lost. */
    void starved() {
        scheduleRepair();
    }

    /** Has a repair run by another thread, now or later, but not too often; at most one is in progress. */
    private synchronized void scheduleRepair() {
        if (repairing || closed) {
            return;
        }
        repairing = true;
        long sinceLast = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lastRepair);
        later(lastRepair == 0 ? 0 : MIN_REPAIR_MILLIS - sinceLast, MIN_REPAIR_MILLIS);
    }

    private void later(long millis, long nextDelay) {
        CompletableFuture.delayedExecutor(Math.max(0, millis), TimeUnit.MILLISECONDS).execute(() -> repair(nextDelay));
    }

    /**
     * Finds the receives that are lost, because somebody has overwritten what says who took them, and posts them again. Such a
     * receive is posted, as this process remembers, but nobody can take it. That is also so for those that a queue pair has
     * taken and is about to complete; but a queue pair that takes a receive has named it before ({@link Half#BUSY_RECEIVE}), and
     * puts its completion into its ring before it names another one. So the receives that are named, or completed in a ring, are
     * left alone; if the take word of one that is named makes no sense, this looks again later. A queue pair that never comes to
     * an end of what it does keeps the one receive that it names.
     *
     * @param nextDelay after how many milliseconds it looks again, if it has to
     */
    private void repair(long nextDelay) {
        synchronized (this) {
            if (closed) {
                return;
            }
            posted.retain();
            memory.retain();
        }
        boolean over = true;
        try {
            // Without the lock: posting wakes senders of this process, whose work requests are executed at once.
            Repair repair = new Repair();
            reportLost(repair.giveBackLost());
            over = !repair.hasLeftAny();
            if (!over) {
                later(nextDelay, Math.min(2 * nextDelay, MAX_REPAIR_MILLIS));
            }
        } finally {
            if (over) {
                synchronized (this) {
                    repairing = false;
                    lastRepair = System.nanoTime();
                }
            }
            posted.release();
            memory.release();
        }
    }

    private void reportLost(int count) {
        if (count > 0) {
            SoftLog.violation(count + " receives of shared receive queue " + id + " were marked as taken, and nobody completes"
                + " them: one of the processes that share the queue has overwritten its memory; they are posted again");
        }
    }

    /** Returns whether initiators can take what is posted at a position. */
    private boolean canBeTaken(int position) {
        return SharedReceives.isFree(Memory.getLongAcquire(SharedReceives.takeWord(base, capacity, position)), position,
            capacity);
    }

    /** A look for receives that are lost. */
    private final class Repair {
        // What each slot's state was, FREE if it is not suspected.
        private final long[] suspects = new long[slots];
        private final BitSet lost = new BitSet(slots);
        private boolean leftAny;

        Repair() {
            for (int slot = 0; slot < slots; slot++) {
                long state = states.getAcquire(slot);
                if (state != FREE && !canBeTaken(position(state))) {
                    suspects[slot] = state;
                    lost.set(slot);
                }
            }
            // Whoever had taken one of them by then is seen to be busy with it, or to have completed it, after this.
            Memory.fullFence();
            Attachment[] all = attachments;
            for (Attachment attachment : all) {
                if (attachment != null && !lost.isEmpty()) {
                    exclude(attachment);
                }
            }
        }

        private void exclude(Attachment attachment) {
            long named = attachment.namedByPeer();
            if (named == Attachment.NOTHING) {
                return;
            }
            int position = (int) named;
            int slot = suspectAt(position);
            if (slot != NONE) {
                lost.clear(slot);
                // If the word says that this one has taken it, it is given back when that queue pair ends.
                leftAny |= takerOf(slot, position) != attachment.index + 1;
            }
        }

        private int suspectAt(int position) {
            for (int slot = lost.nextSetBit(0); slot >= 0; slot = lost.nextSetBit(slot + 1)) {
                if (suspects[slot] == posted(position)) {
                    return slot;
                }
            }
            return NONE;
        }

        /** Returns whether there is a receive that cannot be given back yet, and that nobody will give back later. */
        boolean hasLeftAny() {
            return leftAny;
        }

        /** Posts those again that are lost. Returns how many. */
        int giveBackLost() {
            for (int slot = lost.nextSetBit(0); slot >= 0; slot = lost.nextSetBit(slot + 1)) {
                if (states.getAcquire(slot) != suspects[slot]) {
                    lost.clear(slot);
                }
            }
            if (lost.isEmpty()) {
                return 0;
            }
            for (Attachment attachment : attachments) {
                if (attachment != null) {
                    attachment.clearCompleted(lost);
                }
            }
            int count = 0;
            for (int slot = lost.nextSetBit(0); slot >= 0; slot = lost.nextSetBit(slot + 1)) {
                count += giveBack(slot, suspects[slot], null) ? 1 : 0;
            }
            return count;
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
        posted.release();
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
        /** No position. */
        static final long NOTHING = Long.MIN_VALUE;

        private final SoftSharedReceiveQueue queue;
        private final QueuePair queuePair;
        private final HalfMemory half;
        private final int number;
        private final int index;
        private final long ring;
        private final int mask;
        private final boolean canFill;
        private final ArrayDeque<Orphan> orphans = new ArrayDeque<>();
        private long consumed;
        // Of the completion queue that polls several rings.
        private boolean active;
        private boolean finished;
        // Whether the peer was in the middle of an operation when this ended.
        private boolean heldAtEnd;
        private boolean lingers;
        private int idlePolls;

        Attachment(SoftSharedReceiveQueue queue, QueuePair queuePair, HalfMemory half, int index, long ring,
                int ringCapacity) {
            this.queue = queue;
            this.queuePair = queuePair;
            this.half = half.retain();
            this.number = queuePair.number();
            this.index = index;
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

        /** Returns whether the peer has told of something, a message or a fault. */
        boolean isDue() {
            return !isEmpty() || Memory.getInt(half.address() + Half.FAULT) != 0;
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
                // Once: the peer can change it at any time.
                long data = CompletionRing.data(ring, mask, position);
                int slot = take(control, data);
                position++;
                if (slot == NONE) {
                    failed = true;
                    break;
                }
                if (Faults.ENABLED) {
                    Faults.at("checked");
                }
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
                || !queue.canHaveTaken(slot, position(state), index)
                || !queue.states.compareAndSet(slot, state, FREE)) {
                SoftLog.violation("queue pair " + number + " received a completion of " + Integer.toUnsignedString((int) data)
                    + " bytes for slot " + slot + " of a shared receive queue of " + queue.slots + " slots, which is not posted,"
                    + " not its own, or shorter: the peer breaks the protocol");
                return NONE;
            }
            return slot;
        }

        /** Returns whether the peer says that it executes something. */
        private boolean isPeerBusy() {
            return namedByPeer() != NOTHING;
        }

        /** Returns the position of the receive that the peer says it takes, or {@link #NOTHING} if it executes nothing. */
        long namedByPeer() {
            RemoteEnd end = queuePair.remote();
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
         * A peer that lies is found out by {@link #repair}.
         */
        private boolean mayHoldReceives() {
            return heldAtEnd || !isEmpty();
        }

        /** Clears the bits of those slots that completions in the ring are about. Any thread. */
        private void clearCompleted(BitSet candidates) {
            if (!half.tryRetain()) {
                return;
            }
            // May be old: then what has been polled since is looked at as well.
            int from = (int) consumed;
            for (int i = 0; i <= mask; i++) {
                long control = Memory.getLongAcquire(ring + (long) i * CompletionRing.ENTRY + 8);
                if (control != 0 && (int) (control >>> 32) - 1 - from >= 0) {
                    candidates.clear(CompletionRing.slot(control));
                }
            }
            half.release();
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
            heldAtEnd = isPeerBusy();
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
