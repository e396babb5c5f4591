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

/**
 * An initiator's view of a shared receive queue: the ring of posted receives, from which any initiator takes, and the words by
 * which initiators signal to the owner that there is something to poll, or that they wait for a receive.
 *
 * <p>There are two files. The <i>posted</i> file is the ring of {@link ReceiveEntry}, followed by the number by which the owner
 * arms its completion queue: only the owner writes it, and the kernel prevents every other process from mapping it writable. The
 * owner posts at consecutive positions; the state word of an entry is the position that is posted there, plus one. The
 * <i>shared</i> file holds the words that initiators write. Each entry of the ring has a take word there: its upper half is the
 * last position of that entry that was taken, plus one; its lower half is a code of the taker and the position. A posted receive
 * can be taken while its take word names the position one ring before it. Taking is one compare-and-set: a process that dies has
 * either not taken the receive, or has taken it and the take word identifies the taker. Receives are taken in the order of
 * positions. The owner posts at an entry again only when the take word names the previous position of that entry, and does not
 * write a take word that is valid.
 *
 * <p>All processes that share a queue can write the shared file, so its content is not trusted; {@code SoftSharedReceiveQueue}
 * describes the owner's checks. {@link #HEAD} is only a hint: an initiator that finds no receive from there searches the whole
 * ring before it waits. A take word is used only if its code is valid: a word in which a single bit is wrong, or that is slightly
 * larger or smaller than it was, is neither free nor taken. The first position is a random number, so that an arbitrary number is
 * unlikely to be a valid take word.
 *
 * <p>There is one ready bit for each queue pair, in three levels. A set bit at the lowest level means that the owner polls the
 * ring of the queue pair, or is about to, so an initiator that finds its bit set writes nothing.
 */
public final class SharedReceives {
    /** Queue pairs that can be attached to one shared receive queue. */
    public static final int MAX_ATTACHED = 1 << 16;

    /** The position from which to look for a posted receive, or one before it. */
    public static final int HEAD = 0;
    /** Not 0 if some initiator waits for a receive. */
    public static final int WAITING = Memory.APART;
    /** The uppermost level of the ready bits: one word, a bit for each word of the middle level. */
    public static final int READY_TOP = 2 * Memory.APART;
    /** The middle level: a bit for each word of the lowest level. */
    public static final int READY_MIDDLE = 3 * Memory.APART;
    /** The lowest level: a bit for each queue pair. */
    public static final int READY = 5 * Memory.APART;
    /** A bit for each queue pair that waits for a receive. */
    public static final int WAITERS = READY + MAX_ATTACHED / 8;
    /** The take words. */
    public static final int TAKES = WAITERS + MAX_ATTACHED / 8;

    /** The owner as a taker; no queue pair has this number. */
    public static final int OWNER = Integer.MAX_VALUE;
    /** No taker: a take word with this number is neither free nor taken. */
    static final int NOBODY = 0;
    /** The unknown taker of a receive whose take word has been overwritten. */
    static final int UNKNOWN = Integer.MAX_VALUE - 1;

    private static final long FOUND = 1L << 32;
    // 2^32 divided by the golden ratio, whose multiples by powers of two and by small numbers are far from 0, and its inverse.
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
     * @param posted the ring of posted receives; this object takes ownership
     * @param memory the file that initiators write; this object takes ownership
     * @param capacity the positions of the ring, a power of two
     * @param event the descriptor that wakes the owner of the completion queue, or {@code null} if there is no such queue; this
     *     object takes ownership
     */
    public SharedReceives(int id, SharedMemory posted, SharedMemory memory, int capacity, EventPipe event) {
        this.id = id;
        this.posted = posted;
        this.memory = memory;
        this.ring = posted.address();
        this.base = memory.address();
        this.capacity = capacity;
        this.event = event;
        doorbell = event == null ? null : new SharedDoorbell(posted, arming(ring, capacity), event);
    }

    /** Returns the size of the file that initiators write. */
    public static long size(int capacity) {
        return SharedMemory.roundUp(TAKES + (long) capacity * Long.BYTES);
    }

    /** Returns the size of the file that only the owner writes. */
    public static long postedSize(int capacity) {
        return SharedMemory.roundUp(arming(0, capacity) + Memory.APART);
    }

    /**
     * Returns the address of the number by which the owner arms its completion queue ({@link SharedDoorbell}). It follows the
     * ring, on a cache line of its own.
     *
     * @param ring the address of the posted file
     */
    public static long arming(long ring, int capacity) {
        return ring + ((long) capacity * ReceiveEntry.SIZE + Memory.APART - 1) / Memory.APART * Memory.APART;
    }

    /** Returns the address of the entry of a position in a ring. */
    public static long entry(long ring, int capacity, int position) {
        return ring + (position & capacity - 1L) * ReceiveEntry.SIZE;
    }

    /** Returns the address of the take word of a position. */
    static long takeWord(long base, int capacity, int position) {
        return base + TAKES + (position & capacity - 1L) * Long.BYTES;
    }

    /**
     * Returns the take word of a position that has been taken.
     *
     * @param taker the number of a queue pair plus one, {@link #OWNER} or {@link #UNKNOWN}; the word is not valid with
     *     {@link #NOBODY}
     */
    public static long taken(int position, int taker) {
        return position + 1L << 32 | (taker * UNMIX ^ (position + 1) * MIX) & 0xffff_ffffL;
    }

    /** Returns the taker of the position that a take word names. */
    static int taker(long take) {
        return ((int) take ^ (int) (take >>> 32) * MIX) * MIX;
    }

    /**
     * Returns whether a decoded number can be a taker. One wrong bit in either half of a take word changes the decoded number by
     * {@link #MIX} times a power of two, to a number that no taker has.
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

    public int id() {
        return id;
    }

    public int capacity() {
        return capacity;
    }

    /** Adds a connection to the use count. Guarded by the lock of the {@code RemoteProcess} that holds this view. */
    public void addUser() {
        users++;
    }

    /** Removes a connection from the use count, guarded by the same lock. Returns whether it was the last one. */
    public boolean removeUser() {
        return --users == 0;
    }

    public void close() {
        posted.release();
        memory.release();
        if (event != null) {
            event.release();
        }
    }

    /** Returns the doorbell of its completion queue, or {@code null} if it has none. */
    public Doorbell doorbell() {
        return doorbell;
    }

    /**
     * Finds the next posted receive.
     *
     * @return its position, encoded for {@link #entry} and {@link #take}; 0 if none is posted, or if {@link #HEAD} is wrong
     */
    public long find() {
        // Start at HEAD. It may lag by any distance, if a taker was delayed before it stored HEAD, but does not lead unless it
        // has been overwritten. The bound ends the loop in a queue that another process keeps overwriting.
        int position = Memory.getIntAcquire(base + HEAD);
        for (int i = 0; i <= 2 * capacity; i++) {
            int ahead = postedAt(position) - position;
            if (ahead < 0) {
                return 0;
            }
            if (ahead == 0 && isFree(Memory.getLongAcquire(takeWord(base, capacity, position)), position, capacity)) {
                return FOUND | position & 0xffff_ffffL;
            }
            // A later position has been posted at this entry: then all positions up to one whole ring before it have been taken.
            position += Math.max(1, ahead - capacity + 1);
        }
        return 0;
    }

    /**
     * Finds the next posted receive, for an initiator that is about to wait. If there is none at {@link #HEAD}, the receive
     * before it must have been posted and taken; otherwise another process has overwritten HEAD, and all entries are searched.
     *
     * @return the result as {@link #find} encodes it; 0 if none was found
     */
    public long findOrSearch() {
        long found = find();
        if (found != 0) {
            return found;
        }
        int last = Memory.getIntAcquire(base + HEAD) - 1;
        int ahead = postedAt(last) - last;
        boolean plausible = ahead > 0
            || ahead == 0 && isTaken(Memory.getLongAcquire(takeWord(base, capacity, last)), last);
        return plausible ? 0 : search();
    }

    /**
     * Finds the next posted receive by searching all entries, for an initiator that has been waiting for a long time. Another
     * process may have overwritten {@link #HEAD} so that {@link #find} skips receives that are posted.
     *
     * @return the result as {@link #find} encodes it; 0 if none is posted
     */
    public long search() {
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

    /** Returns the address of the {@link ReceiveEntry} of a receive that was found; a later one may have been posted there. */
    public long entry(long found) {
        return entry(ring, capacity, (int) found);
    }

    /**
     * Takes a receive that was found. It fails if another initiator has taken the receive, also if a later one has been posted in
     * its entry meanwhile: the take word then names a later position.
     *
     * @param index the index of the queue pair that takes it
     * @return whether the receive was still there; then the fields read from its entry before this call are valid as well
     */
    public boolean take(long found, int index) {
        int position = (int) found;
        long word = takeWord(base, capacity, position);
        long take = Memory.getLongAcquire(word);
        if (!isFree(take, position, capacity) || !Memory.casLong(word, take, taken(position, index + 1))) {
            return false;
        }
        Memory.putIntRelease(base + HEAD, position + 1);
        return true;
    }

    /**
     * Sets the ready bit of a queue pair unless it is set. A caller that has published a completion or a fault has executed a
     * full fence since, against the owner's fence between clearing the bit and checking both
     * ({@code SharedReceiveCompletionQueue}).
     */
    public void markReady(int index) {
        long word = base + READY + (index >>> 6) * 8L;
        long bit = 1L << index;
        if ((Memory.getLongAcquire(word) & bit) != 0) {
            return;
        }
        Memory.getAndBitwiseOrLong(word, bit);
        // Set the bits of the upper levels even if another initiator has set a bit in the same word: it may have been killed
        // before it set those.
        Memory.getAndBitwiseOrLong(base + READY_MIDDLE + (index >>> 12) * 8L, 1L << (index >>> 6));
        Memory.getAndBitwiseOrLong(base + READY_TOP, 1L << (index >>> 12));
    }

    /** Returns whether the owner has posted no receive since it was last asked to ring. */
    public boolean isWaiting(int index) {
        return (Memory.getLongAcquire(base + WAITERS + (index >>> 6) * 8L) & 1L << index) != 0;
    }

    /** Takes back that an initiator waits. Otherwise the owner would wake it for a receive, and nobody else. */
    public void withdrawWaiting(int index) {
        if (isWaiting(index)) {
            Memory.getAndBitwiseAndLong(base + WAITERS + (index >>> 6) * 8L, ~(1L << index));
        }
    }

    /** Asks the owner to signal when it posts a receive. The caller then executes a full fence and searches once more. */
    public void announceWaiting(int index) {
        Memory.getAndBitwiseOrLong(base + WAITERS + (index >>> 6) * 8L, 1L << index);
        Memory.putIntVolatile(base + WAITING, 1);
    }
}
