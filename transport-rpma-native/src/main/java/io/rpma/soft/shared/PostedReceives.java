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
package io.rpma.soft.shared;

import io.rpma.posix.Memory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntConsumer;

/**
 * The receives that are posted in a shared receive queue, on the owner's side: the slots and the positions of the ring in which
 * they are posted. Any thread may post. The thread that polls the ring of completions of a queue pair unposts the slots that the
 * completions name; the thread that reclaims receives ({@code ReceiveReclaimer}) unposts those that will not be completed.
 *
 * <p>A posted receive is identified by its slot. The owner's record of a slot is private to this process; the words that peers
 * read and write are in {@link SharedReceives}. The state of a posted slot contains its position; the thread that changes the
 * state to {@link #FREE}, because of a completion or of the end of the peer that took the receive, reports the receive. It is
 * therefore reported exactly once, and never on behalf of a later use of the slot.
 *
 * <p>There is no lock. Only the thread that has popped a slot from the list of free slots, or has changed its state to {@link
 * #FREE}, stores to the plain elements of the slot; it publishes them by storing the state (release), and other threads read them
 * after they have loaded the state (acquire). All other fields are final or accessed by atomic operations.
 */
public final class PostedReceives {
    /** The state of a slot that is not posted. */
    public static final long FREE = 0;
    /** No slot. */
    public static final int NONE = FreeSlots.NONE;

    private static final VarHandle TAIL;

    static {
        try {
            TAIL = MethodHandles.lookup().findVarHandle(PostedReceives.class, "tail", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int slots;
    private final int capacity;
    private final long ring;
    private final long base;
    private final IntConsumer wakeWaiters;
    private final Runnable damaged;
    private final FreeSlots free;

    // Of each slot: private to this process.
    private final long[] contexts;
    private final int[] keys;
    private final long[] offsets;
    private final int[] lengths;
    // FREE, or posted(position).
    private final AtomicLongArray states;
    // The take word of the entry in which a slot is posted, copied before that entry is used for a later position.
    private final AtomicLongArray takers;
    // For each entry of the ring: the last position that was posted there, plus one, and the slot.
    private final AtomicLongArray places;
    private int tail;

    /**
     * Creates the slots, and prepares the shared memory. No slot is posted.
     *
     * @param capacity the positions of the ring, a power of two
     * @param ring the address of the file of posted receives
     * @param base the address of the file that initiators write
     * @param first the first position
     * @param wakeWaiters wakes as many initiators that wait for a receive as this number; called while some are waiting
     * @param damaged runs when an overwritten take word has been found; it does not block
     */
    public PostedReceives(int slots, int capacity, long ring, long base, int first, IntConsumer wakeWaiters,
            Runnable damaged) {
        this.slots = slots;
        this.capacity = capacity;
        this.ring = ring;
        this.base = base;
        this.wakeWaiters = wakeWaiters;
        this.damaged = damaged;
        contexts = new long[slots];
        keys = new int[slots];
        offsets = new long[slots];
        lengths = new int[slots];
        states = new AtomicLongArray(slots);
        takers = new AtomicLongArray(slots);
        free = new FreeSlots(slots);
        places = new AtomicLongArray(capacity);
        start(first);
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

    public int slots() {
        return slots;
    }

    /** Returns the context of a receive. The caller has unposted it, or is about to report it. */
    public long context(int slot) {
        return contexts[slot];
    }

    /** Returns the length of a receive's buffer. */
    public int length(int slot) {
        return lengths[slot];
    }

    /** Returns the state of a slot: {@link #FREE}, or a value that contains its {@link #position}. */
    public long state(int slot) {
        return states.getAcquire(slot);
    }

    /** Returns the position in the state of a posted slot. */
    public static int position(long state) {
        return (int) state - 1;
    }

    /** Returns the state of a slot that is posted at a position. */
    public static long posted(int position) {
        return 1L << 32 | position + 1 & 0xffff_ffffL;
    }

    /**
     * Posts a receive.
     *
     * @return whether there was a free slot
     */
    public boolean post(long context, int key, long offset, int length) {
        int slot = free.pop();
        if (slot == NONE) {
            return false;
        }
        contexts[slot] = context;
        keys[slot] = key;
        offsets[slot] = offset;
        lengths[slot] = length;
        post(slot);
        return true;
    }

    /** Posts a slot whose receive has been set. */
    private void post(int slot) {
        int first = tail;
        int next = postAt(slot);
        while (next != NONE) {
            next = postAt(next);
        }
        // Orders the store of the entry's state before the load of WAITING. An initiator that finds no receive stores its bit and
        // WAITING, executes a fence and searches once more: either it finds this receive or this thread observes WAITING (row M24
        // of docs/memory-order.md).
        Memory.fullFence();
        if (Memory.getInt(base + SharedReceives.WAITING) != 0) {
            // Another thread may have posted a later position before this one, in vain: initiators take the positions in order.
            wakeWaiters.accept((int) TAIL.getVolatile(this) - first);
        }
    }

    /** Returns the number of receives that have probably not been taken. Any process that shares the queue can change it. */
    public int free() {
        return Math.clamp((int) TAIL.getVolatile(this) - Memory.getIntAcquire(base + SharedReceives.HEAD), 0, slots);
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
                damaged.run();
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

    /** Notes the taker of a slot, unless the taker of the position at which the slot is posted is noted already. */
    private void noteTaker(int slot, long take) {
        takers.accumulateAndGet(slot, take,
            (known, found) -> SharedReceives.isTaken(known, position(states.get(slot))) ? known : found);
    }

    /**
     * Returns the taker of a slot that is posted at a position.
     *
     * @return the index of a queue pair plus one, or {@link SharedReceives#OWNER} if the slot has not been taken; if the take
     *     word has been overwritten, {@link SharedReceives#UNKNOWN} or an index that no queue pair has
     */
    public int takerOf(int slot, int position) {
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

    /** Returns whether the take word of a position names this taker. If not, {@link #takerOf} may still return it. */
    public boolean isTakenBy(int position, int taker) {
        return Memory.getLongAcquire(SharedReceives.takeWord(base, capacity, position)) == SharedReceives.taken(position, taker);
    }

    /** Returns the take word of a position. */
    public long takeOf(int position) {
        return Memory.getLongAcquire(SharedReceives.takeWord(base, capacity, position));
    }

    /** Returns whether initiators can take the receive that is posted at a position, if this is its take word. */
    public boolean isFree(long take, int position) {
        return SharedReceives.isFree(take, position, capacity);
    }

    /**
     * Makes sure that no initiator takes the receive at a position any more, before it is posted again elsewhere. Its take word
     * is not free, but another process may change it once more, for example back to what it was. If a later position has been
     * posted at the same entry, the take word is that of the later position, and is left alone.
     *
     * @param take the take word of the position, which is not free
     * @return whether no initiator can have taken the receive since the take word was this one
     */
    public boolean endTakes(int position, long take) {
        return SharedReceives.isTaken(take, position)
            || (int) (places.getAcquire(position & capacity - 1) >>> 32) != position + 1
            || Memory.casLong(SharedReceives.takeWord(base, capacity, position), take,
                SharedReceives.taken(position, SharedReceives.NOBODY));
    }

    /**
     * Changes the state of a slot to {@link #FREE} if it is still this one. The slot may have been completed and posted again
     * meanwhile; its state then differs. The thread for which this succeeds reports the receive and then calls {@link #push}.
     */
    public boolean unpost(int slot, long state) {
        return states.compareAndSet(slot, state, FREE);
    }

    /** Posts a slot at another position if it still has this state. Returns whether it had. */
    public boolean postAgain(int slot, long state) {
        if (!unpost(slot, state)) {
            return false;
        }
        post(slot);
        return true;
    }

    /** Makes a slot available for another receive. */
    public void push(int slot) {
        free.push(slot);
    }
}
