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
 * The owner's side of a shared receive queue. Any thread may post. Completions arrive in the rings of the attached queue pairs,
 * which one thread polls together (the receive completion queue) or several threads poll one by one (the completion queues of
 * the queue pairs).
 *
 * <p>A posted receive is identified by its slot. The owner's record of a slot is private to this process; the words that peers
 * read and write are in {@link SharedReceives}. Free slots form a stack. The state of a posted slot contains its position; the
 * thread that changes the state to {@link #FREE}, because of a completion or of the end of the peer that took the receive,
 * reports the receive. It is therefore reported exactly once, and never on behalf of a later use of the slot.
 *
 * <p>No receive is lost. A receive that a queue pair had taken and not completed when it ended is reported by the receive
 * completion queue; without such a queue it is posted again, because there is no queue to report it. The processes that share the
 * queue can overwrite each other's take words and hints, and the owner cannot find out which of them did. So each completion is
 * compared with the take word, each take word is checked before its entry is used again, and {@link #repair} finds the receives
 * that can neither be taken nor completed, and posts them again: an overwritten word costs a delay, and at most the connection
 * that used it.
 */
final class SoftSharedReceiveQueue implements SharedReceiveQueue {
    /** The largest number of completions in the ring of one queue pair. */
    private static final int MAX_RING = 256;

    private static final long FREE = 0;
    private static final int NONE = -1;
    /** The number of queue pairs that end before the whole queue is searched for lost receives. */
    private static final int FULL_LOOK = 64;
    /** The shortest and the longest time between two passes of a repair that is not complete. */
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
    // FREE, or posted(position).
    private final AtomicLongArray states;
    // The take word of the entry in which a slot is posted, copied before that entry is used for a later position.
    private final AtomicLongArray takers;
    // The stack of free slots: links, and a head whose upper half changes with every push and pop, which prevents ABA.
    private final AtomicIntegerArray links;
    private final AtomicLong free;
    // For each entry of the ring: the last position that was posted there, plus one, and the slot.
    private final AtomicLongArray places;
    private int tail;

    // Guarded by the lock of this object.
    private int ended;
    private boolean repairing;
    private long lastRepair;

    private final BitSet indexes = new BitSet();
    // By index, with null elements. The volatile field is stored again after each store of an element, and thereby publishes it.
    private volatile Attachment[] attachments = new Attachment[0];
    private int attached;
    // The attached queue pairs that are closed, but whose peer may still write to the buffer of a receive.
    private int lingering;
    private volatile boolean closed;
    private volatile boolean destroyed;

    SoftSharedReceiveQueue(SoftPeer peer, int id, int slots, int completions) throws RpmaException {
        this.peer = peer;
        this.id = id;
        this.slots = slots;
        capacity = Half.powerOfTwo(slots);
        // More entries than slots, up to the limit: such a ring never becomes full.
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

    /** Makes this position the first one: the previous position of each entry is marked as posted and taken. */
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

    /** Returns the number of the queue within this process. */
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

    /** Returns the file that initiators write. */
    SharedMemory memory() {
        return memory;
    }

    /** Returns the file of posted receives, which initiators only read. */
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
        // Orders the store of the entry's state before the load of WAITING. An initiator that finds no receive stores its bit and
        // WAITING, executes a fence and searches once more: either it finds this receive or this thread observes WAITING.
        Memory.fullFence();
        if (Memory.getInt(base + SharedReceives.WAITING) != 0) {
            wakeWaiting();
        }
    }

    /**
     * Posts a slot at the next position.
     *
     * @return the slot that was posted at the same entry before if it has not been taken, to be posted at another position;
     *     otherwise {@link #NONE}
     */
    private int postAt(int slot) {
        int position = (int) TAIL.getAndAdd(this, 1);
        int index = position & capacity - 1;
        int before = position - capacity;
        int last = slotAt(index, before);
        // The previous receive of this entry should have been taken, because no more receives are posted than there are
        // positions. If it has not been completed, note its taker now: the next take overwrites the take word. (If it has been
        // completed and its slot is posted elsewhere, the state of the slot contains another position.)
        int displaced = NONE;
        long take = Memory.getLongAcquire(SharedReceives.takeWord(base, capacity, before));
        boolean outstanding = last != NONE && states.getAcquire(last) == posted(before);
        if (!SharedReceives.isTaken(take, before)) {
            displaced = takeBack(before, last);
        } else if (outstanding) {
            noteTaker(last, take);
        }
        // The private state is stored before the entry's state (release). An initiator takes the entry only after it has loaded
        // the entry's state, so its completion finds the slot posted.
        states.setRelease(slot, posted(position));
        long entry = SharedReceives.entry(ring, capacity, position);
        ReceiveEntry.write(entry, keys[slot], offsets[slot], lengths[slot], slot);
        Memory.putLongRelease(entry + ReceiveEntry.STATE, position + 1 & 0xffff_ffffL);
        places.setRelease(index, place(position, slot));
        return displaced;
    }

    /** Returns the slot that was posted last at an entry, at this position. */
    private int slotAt(int index, int position) {
        long place = places.getAcquire(index);
        while ((int) (place >>> 32) != position + 1) {
            // Another thread of this process has claimed that position and has not posted it yet, although a whole ring of later
            // positions has been claimed: an initiator has taken receives out of order.
            Thread.yield();
            place = places.getAcquire(index);
        }
        return (int) place;
    }

    /**
     * Repairs a take word that does not mark its position as taken although the entry is about to be used again: a process has
     * overwritten it, or has overwritten {@link SharedReceives#HEAD}, so that initiators skipped the position.
     *
     * @return the slot that was posted there if it was not taken; it can no longer be taken there. Otherwise {@link #NONE}
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

    /** Returns the position in the state of a posted slot. */
    private static int position(long state) {
        return (int) state - 1;
    }

    private void noteTaker(int slot, long take) {
        takers.accumulateAndGet(slot, take,
            (known, found) -> (int) (known >>> 32) == (int) states.get(slot) ? known : found);
    }

    /**
     * Returns the taker of a slot that is posted at a position.
     *
     * @return the index of a queue pair plus one, or {@link SharedReceives#OWNER} if the slot has not been taken; if the take
     *     word has been overwritten, {@link SharedReceives#UNKNOWN} or an index that no queue pair has
     */
    private int takerOf(int slot, int position) {
        // Load the take word (acquire) before the noted one. postAt() notes the taker before it posts the entry's next position,
        // so a load that returns the take word of a later position is followed by one that returns the noted taker.
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
            // No attached queue pair has this index, so a process has overwritten the take word. Accept the completion: the queue
            // pair that completes the receive is likely to be the one that took it.
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
     * Attaches a queue pair, whose completions arrive in the ring at this address of its half. The caller then calls
     * {@link Attachment#publish()}.
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

    /**
     * Makes an attachment available by its index. Called once its queue pair is complete, because another process can set any
     * ready bit at any time.
     */
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

    /** Releases the index of an attachment. */
    private synchronized void forget(Attachment attachment) {
        attachments[attachment.index] = null;
        indexes.clear(attachment.index);
    }

    /** Keeps the queue open for a connection request that has not attached a queue pair yet. */
    synchronized void hold() throws RpmaException {
        if (closed) {
            throw SoftLog.failure(RpmaError.INVALID, "the shared receive queue is closed");
        }
        attached++;
    }

    /** Undoes {@link #hold}. */
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

    /** Returns a number that is larger than the indexes of all attachments. */
    int attachmentCount() {
        return attachments.length;
    }

    /** Returns the attachment with an index, or {@code null}. */
    Attachment attachment(int index) {
        Attachment[] all = attachments;
        return index < all.length ? all[index] : null;
    }

    /**
     * Gives back the receives that a queue pair had taken and not completed when it ended. Its peer no longer writes to their
     * buffers.
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
     * Gives back a receive that was taken and will not be completed. If an attachment is given and there is a receive completion
     * queue, that queue reports the receive; otherwise it is posted again.
     *
     * @return whether the slot still had this state
     */
    private boolean giveBack(int slot, long state, Attachment attachment) {
        // The slot may have been completed and posted again meanwhile. Its state then differs.
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

    /** Handles the report of a sender that has been waiting for a receive for a while: receives may be lost. */
    void starved() {
        scheduleRepair();
    }

    /** Schedules a repair on another thread, at a limited rate. At most one repair is in progress. */
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
     * Finds the receives that are lost because a process has overwritten their take words, and posts them again. Such a receive
     * is posted according to this process's record, but cannot be taken. That is also true of a receive that a queue pair has
     * taken and is about to complete; but the queue pair names the receive in {@link Half#BUSY_RECEIVE} before it takes it, and
     * publishes its completion before it names another one. So receives that are named, or completed in a ring, are left alone;
     * if the take word of a named receive is not valid, the repair runs again later. A queue pair that never ends its operation
     * keeps the one receive that it names.
     *
     * @param nextDelay the delay in milliseconds before the next pass, if there has to be one
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
            // Not under the lock: posting wakes senders of this process, whose work requests are then executed by this thread.
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

    /** Returns whether initiators can take the receive that is posted at a position. */
    private boolean canBeTaken(int position) {
        return SharedReceives.isFree(Memory.getLongAcquire(SharedReceives.takeWord(base, capacity, position)), position,
            capacity);
    }

    /** One pass of a repair: finds lost receives. */
    private final class Repair {
        // The observed state of each slot, FREE if it is not suspected.
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
            // Orders the loads of the take words above before the loads of BUSY and BUSY_RECEIVE in exclude(). An initiator
            // stores these two before it takes a receive. If its take has been observed above, the later loads observe that it
            // is busy with the receive, or its completion is in the ring.
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
                // If the take word names this queue pair as the taker, the receive is given back when the queue pair ends.
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

        /** Returns whether there is a receive that only a later pass can give back. */
        boolean hasLeftAny() {
            return leftAny;
        }

        /** Posts the lost receives again. Returns their number. */
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

    /** A queue pair's attachment to a shared receive queue: its index there, and its ring of completions. */
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
        // Used by the completion queue that polls several rings.
        private boolean active;
        private boolean finished;
        // Whether the peer was executing an operation when this attachment ended.
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

        /** Makes this attachment available by its index. Called once its queue pair is complete. */
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

        /** Counts a poll that found nothing; returns the number of such polls in a row. */
        int countIdle() {
            return ++idlePolls;
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
                // Store CONSUMED before the slot is pushed and can be posted again. A sender that takes the slot's next receive
                // therefore observes this value when it next checks for room, and never finds a ring full that has more entries
                // than the queue has slots.
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
                    // Orders the store of CONSUMED before the load of Half.STALLED; a sender that found the ring full stores
                    // STALLED, executes a fence and loads CONSUMED once more.
                    Memory.fullFence();
                    queuePair.wakePeer();
                }
            }
            return failed ? ~count : count;
        }

        /** Takes the slot that a completion of the peer names, if the completion is valid; otherwise returns {@link #NONE}. */
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

        /** Returns whether the peer publishes that it executes an operation. */
        private boolean isPeerBusy() {
            return namedByPeer() != NOTHING;
        }

        /** Returns the position of the receive that the peer names as the one it takes, or {@link #NOTHING} if it is not busy. */
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
         * If the peer gives a false answer, {@link #repair} finds its receives.
         */
        private boolean mayHoldReceives() {
            return heldAtEnd || !isEmpty();
        }

        /** Clears the bits of the slots that completions in the ring name. Any thread may call it. */
        private void clearCompleted(BitSet candidates) {
            if (!half.tryRetain()) {
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

        /** Wakes the peer if it waits for a receive. */
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

        /** Handles the end of the peer: completions that it published without setting its ready bit are polled as well. */
        void peerGone() {
            if (queue.completionQueue != null) {
                queue.completionQueue.revive(this);
            }
        }

        /**
         * Marks the queue pair as closed while its peer may still fill a receive: the shared receive queue can then be closed,
         * and is destroyed later.
         */
        void linger() {
            lingers = true;
            queue.countLingering();
        }

        /** Ends the attachment. The peer publishes nothing more in its ring. */
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
         * Takes the completions that are left in the ring, and the receives that the peer had taken without completing them. The
         * completion queue that polls several rings calls it on its thread, after the queue pair has closed.
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

        /** Returns whether {@link #finish()} has been called. The ring must not be polled then: its memory is released. */
        boolean hasFinished() {
            return finished;
        }

        /** Takes the completions that {@link #finish()} has found. Returns the number of entries now in the batch. */
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
