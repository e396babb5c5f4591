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

import io.rpma.posix.Memory;

/**
 * A shared receive queue as its initiators see it: the ring of posted receives, which any of them takes from, and the words by
 * which they tell its owner that there is something to poll, or that they wait.
 *
 * <p>There are two files. The <i>posted</i> file is the ring of {@link ReceiveEntry}, and behind it the number by which the owner
 * arms its completion queue: only the owner writes it, and the kernel keeps every other process from mapping it writable. The
 * owner posts at consecutive positions; the state word of an entry is the position that is posted there, plus one. The
 * <i>shared</i> file holds what initiators write. Each entry of the ring has a take word there: in its upper half the last
 * position of that entry that was taken, plus one; in its lower half a code of the taker and the position. A posted receive can
 * be taken while its take word names the position one ring before it. Taking is one compare-and-set, so that whoever dies has
 * either taken a receive, and the take word says who, or has not. Receives are taken in the order of positions. The owner posts
 * at an entry again only when the take word names the position before, and never writes a take word of an entry that is in order.
 *
 * <p>The processes that share a queue can all write the shared file. Nothing there is believed: see {@link
 * SoftSharedReceiveQueue} for what the owner does about it. {@link #HEAD} is only a hint; whoever finds nothing from there
 * looks through the whole ring before it waits. A take word is believed only if its code makes sense: a word in which any single
 * bit is wrong, or which is a little larger or smaller than it was, is neither free nor taken. The first position is a random
 * number, so that an arbitrary number is not likely to be a take word that makes sense either.
 *
 * <p>The ready bits: one for each queue pair, in three levels. A set bit at the lowest level means that the owner knows of the
 * queue pair and polls its ring; so an initiator that finds its bit set writes nothing.
 */
final class SharedReceives {
    /** Queue pairs that can be attached to one shared receive queue. */
    static final int MAX_ATTACHED = 1 << 16;

    /** The position from which to look for a posted receive, or one before it. */
    static final int HEAD = 0;
    /** Not 0 if some initiator waits for a receive. */
    static final int WAITING = Memory.APART;
    /** The uppermost level of the ready bits: one word, a bit for each word of the middle level. */
    static final int READY_TOP = 2 * Memory.APART;
    /** The middle level: a bit for each word of the lowest level. */
    static final int READY_MIDDLE = 3 * Memory.APART;
    /** The lowest level: a bit for each queue pair. */
    static final int READY = 5 * Memory.APART;
    /** A bit for each queue pair that waits for a receive. */
    static final int WAITERS = READY + MAX_ATTACHED / 8;
    /** The take words. */
    static final int TAKES = WAITERS + MAX_ATTACHED / 8;

    /** The owner as a taker: the number of no queue pair. */
    static final int OWNER = Integer.MAX_VALUE;
    /** The taker of a receive whose take word has been overwritten: not known. */
    static final int UNKNOWN = -1;

    private static final long FOUND = 1L << 32;
    // Two to the 32nd by the golden ratio, whose multiples by powers of two and by small numbers are far from 0, and its inverse.
    private static final int MIX = 0x9e37_79b9;
    private static final int UNMIX = 0x144c_bc89;

    private final int id;
    private final SharedMemory posted;
    private final SharedMemory memory;
    private final long ring;
    private final long base;
    private final int capacity;
    private final EventPipe event;
    private final Doorbell doorbell;
    private int users;

    /**
     * Creates a view.
     *
     * @param posted the ring of posted receives, taken over
     * @param memory what the initiators write, taken over
     * @param capacity positions of the ring, a power of two
     * @param event the doorbell of its completion queue, or {@code null} if it has none, taken over
     */
    SharedReceives(int id, SharedMemory posted, SharedMemory memory, int capacity, EventPipe event) {
        this.id = id;
        this.posted = posted;
        this.memory = memory;
        this.ring = posted.address();
        this.base = memory.address();
        this.capacity = capacity;
        this.event = event;
        doorbell = event == null ? null : new SharedDoorbell(arming(ring, capacity), event);
    }

    /** Returns the size of the file that initiators write. */
    static long size(int capacity) {
        return SharedMemory.roundUp(TAKES + (long) capacity * Long.BYTES);
    }

    /** Returns the size of the file that only the owner writes. */
    static long postedSize(int capacity) {
        return SharedMemory.roundUp(arming(0, capacity) + Memory.APART);
    }

    /**
     * Returns the address of the number by which the owner arms its completion queue ({@link SharedDoorbell}), which lies behind
     * the ring, apart from it.
     *
     * @param ring the address of the posted file
     */
    static long arming(long ring, int capacity) {
        return ring + ((long) capacity * ReceiveEntry.SIZE + Memory.APART - 1) / Memory.APART * Memory.APART;
    }

    /** Returns the address of the entry of a position in a ring. */
    static long entry(long ring, int capacity, int position) {
        return ring + (position & capacity - 1L) * ReceiveEntry.SIZE;
    }

    /** Returns the address of the take word of a position. */
    static long takeWord(long base, int capacity, int position) {
        return base + TAKES + (position & capacity - 1L) * Long.BYTES;
    }

    /**
     * Returns the take word of a position that has been taken.
     *
     * @param taker the number of a queue pair plus one, {@link #OWNER} or {@link #UNKNOWN}
     */
    static long taken(int position, int taker) {
        return position + 1L << 32 | (taker * UNMIX ^ (position + 1) * MIX) & 0xffff_ffffL;
    }

    /** Returns who has taken the position that a take word names. */
    static int taker(long take) {
        return ((int) take ^ (int) (take >>> 32) * MIX) * MIX;
    }

    /**
     * Returns whether there can be such a taker. One wrong bit in either half of a take word changes what is decoded by a
     * multiple of {@link #MIX} by a power of two, to a number that no taker has.
     */
    private static boolean isTaker(int taker) {
        return taker > 0 && taker <= MAX_ATTACHED || taker == OWNER || taker == UNKNOWN;
    }

    /** Returns whether a take word says that this position has been taken. */
    static boolean isTaken(long take, int position) {
        return (int) (take >>> 32) == position + 1 && isTaker(taker(take));
    }

    /** Returns whether a take word says that this position can be taken, if it is posted. */
    static boolean isFree(long take, int position, int capacity) {
        return isTaken(take, position - capacity);
    }

    int id() {
        return id;
    }

    int capacity() {
        return capacity;
    }

    /** Counts one more connection; under the lock of the process that it belongs to. */
    void addUser() {
        users++;
    }

    /** Gives up one connection; under the same lock. Returns whether it was the last one. */
    boolean removeUser() {
        return --users == 0;
    }

    void close() {
        posted.release();
        memory.release();
        if (event != null) {
            event.release();
        }
    }

    /** Returns the doorbell of its completion queue, or {@code null} if it has none. */
    Doorbell doorbell() {
        return doorbell;
    }

    /**
     * Finds the posted receive that is next.
     *
     * @return where it is, for {@link #entry} and {@link #take}; 0 if none is posted, or the hint at where to look is wrong
     */
    long find() {
        // Starts where some taker left off; that may lag by any distance, if that taker was held up before it said so, and never
        // leads. The bound keeps a queue that another process scribbles over from holding us here.
        int position = Memory.getIntAcquire(base + HEAD);
        for (int i = 0; i <= 2 * capacity; i++) {
            int ahead = postedAt(position) - position;
            if (ahead < 0) {
                return 0;
            }
            if (ahead == 0 && isFree(Memory.getLongAcquire(takeWord(base, capacity, position)), position, capacity)) {
                return FOUND | position & 0xffff_ffffL;
            }
            // A later use of the entry was posted: then all positions that lie a whole ring before it have been taken.
            position += Math.max(1, ahead - capacity + 1);
        }
        return 0;
    }

    /**
     * Finds the posted receive that is next by looking at all entries, without the hint: for whoever is about to wait. Another
     * process may have overwritten the hint so that {@link #find} passes over what is posted.
     *
     * @return as {@link #find} does; 0 if none is posted
     */
    long search() {
        boolean any = false;
        int first = 0;
        for (int i = 0; i < capacity; i++) {
            int position = postedAt(i);
            if ((!any || position - first < 0)
                && isFree(Memory.getLongAcquire(takeWord(base, capacity, i)), position, capacity)) {
                any = true;
                first = position;
            }
        }
        if (!any) {
            return 0;
        }
        return FOUND | first & 0xffff_ffffL;
    }

    private int postedAt(int position) {
        return (int) Memory.getLongAcquire(entry(ring, capacity, position) + ReceiveEntry.STATE) - 1;
    }

    /** Returns the address of the {@link ReceiveEntry} of a receive that was found; it is whatever is posted there now. */
    long entry(long found) {
        return entry(ring, capacity, (int) found);
    }

    /**
     * Takes a receive that was found, and not one that has been posted in its entry since: those before that are not taken yet.
     *
     * @param index of the queue pair that takes it
     * @return whether it was still there; then so was what has been read of its entry
     */
    boolean take(long found, int index) {
        int position = (int) found;
        long word = takeWord(base, capacity, position);
        long take = Memory.getLongAcquire(word);
        if (!isFree(take, position, capacity) || !Memory.casLong(word, take, taken(position, index + 1))) {
            return false;
        }
        Memory.putIntRelease(base + HEAD, position + 1);
        return true;
    }

    /** Tells the owner that the ring of a queue pair has something, unless it knows. */
    void markReady(int index) {
        long word = base + READY + (index >>> 6) * 8L;
        long bit = 1L << index;
        if ((Memory.getLongAcquire(word) & bit) != 0) {
            return;
        }
        Memory.getAndBitwiseOrLong(word, bit);
        // All levels, whoever else has set a bit beside ours: it may be killed before it comes to the level above.
        Memory.getAndBitwiseOrLong(base + READY_MIDDLE + (index >>> 12) * 8L, 1L << (index >>> 6));
        Memory.getAndBitwiseOrLong(base + READY_TOP, 1L << (index >>> 12));
    }

    /** Returns whether the owner has posted no receive since it was last asked to ring. */
    boolean isWaiting(int index) {
        return (Memory.getLongAcquire(base + WAITERS + (index >>> 6) * 8L) & 1L << index) != 0;
    }

    /** Asks the owner to ring when it posts a receive. The caller looks once more behind it. */
    void announceWaiting(int index) {
        Memory.getAndBitwiseOrLong(base + WAITERS + (index >>> 6) * 8L, 1L << index);
        Memory.putIntVolatile(base + WAITING, 1);
    }
}
