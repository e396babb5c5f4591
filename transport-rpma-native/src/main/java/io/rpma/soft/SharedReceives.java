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

/**
 * A shared receive queue as its initiators see it: the ring of posted receives, which any of them takes from, and the words by
 * which they tell its owner that there is something to poll, or that they wait.
 *
 * <p>The ring: the owner posts at consecutive positions. The state word of a position holds the position plus one in its upper
 * half and, in its lower half, 0 while posted, or the number (plus one) of the queue pair that has taken it. Taking is one
 * compare-and-set, so that whoever dies has either taken a receive, and the state word says who, or has not. A position is
 * used anew only after it has been taken; receives are taken in the order of positions.
 *
 * <p>The ready bits: one for each queue pair, in three levels. A set bit at the lowest level means that the owner knows of the
 * queue pair and polls its ring; so an initiator that finds its bit set writes nothing.
 */
final class SharedReceives {
    /** Queue pairs that can be attached to one shared receive queue. */
    static final int MAX_ATTACHED = 1 << 16;

    /** The doorbell's armed word of the receive completion queue. */
    static final int ARMED = 0;
    /** The position from which to look for a posted receive, or one before it. */
    static final int HEAD = Memory.APART;
    /** Not 0 if some initiator waits for a receive. */
    static final int WAITING = 2 * Memory.APART;
    /** The uppermost level of the ready bits: one word, a bit for each word of the middle level. */
    static final int READY_TOP = 3 * Memory.APART;
    /** The middle level: a bit for each word of the lowest level. */
    static final int READY_MIDDLE = 4 * Memory.APART;
    /** The lowest level: a bit for each queue pair. */
    static final int READY = 6 * Memory.APART;
    /** A bit for each queue pair that waits for a receive. */
    static final int WAITERS = READY + MAX_ATTACHED / 8;
    /** The ring. */
    static final int RING = WAITERS + MAX_ATTACHED / 8;

    private static final long FOUND = 1L << 32;

    private final int id;
    private final SharedMemory memory;
    private final long base;
    private final int capacity;
    private final EventFd event;
    private int users;

    /**
     * Creates a view.
     *
     * @param memory with room for the ring, taken over
     * @param capacity positions of the ring, a power of two
     * @param event the doorbell of its completion queue, or {@code null} if it has none, taken over
     */
    SharedReceives(int id, SharedMemory memory, int capacity, EventFd event) {
        this.id = id;
        this.memory = memory;
        this.base = memory.address();
        this.capacity = capacity;
        this.event = event;
    }

    static long size(int capacity) {
        return SharedMemory.roundUp(RING + (long) capacity * ReceiveEntry.SIZE);
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
        memory.release();
        if (event != null) {
            event.release();
        }
    }

    /** Returns the doorbell of its completion queue, or {@code null} if it has none. */
    Doorbell doorbell() {
        return event == null ? null : new Doorbell(base + ARMED, event);
    }

    /**
     * Finds the posted receive that is next.
     *
     * @return where it is, for {@link #entry} and {@link #take}; 0 if none is posted
     */
    long find() {
        // Starts where some taker left off; that may lag by any distance, if that taker was held up before it said so, and never
        // leads. The bound keeps a queue that another process scribbles over from holding us here.
        int position = Memory.getIntAcquire(base + HEAD);
        for (int i = 0; i <= 2 * capacity; i++) {
            long entry = base + RING + (position & capacity - 1L) * ReceiveEntry.SIZE;
            long state = Memory.getLongAcquire(entry + ReceiveEntry.STATE);
            int ahead = (int) (state >>> 32) - (position + 1);
            if (ahead < 0) {
                return 0;
            }
            if (ahead == 0 && (int) state == 0) {
                return FOUND | position & 0xffff_ffffL;
            }
            // A later use of the entry was posted: then all positions that lie a whole ring before it have been taken.
            position += Math.max(1, ahead - capacity + 1);
        }
        return 0;
    }

    /** Returns the address of the {@link ReceiveEntry} of a receive that was found; it is whatever is posted there now. */
    long entry(long found) {
        return base + RING + (found & capacity - 1L) * ReceiveEntry.SIZE;
    }

    /**
     * Takes a receive that was found, and not one that has been posted in its entry since: those before that are not taken yet.
     *
     * @param index of the queue pair that takes it
     * @return whether it was still there; then so was what has been read of its entry
     */
    boolean take(long found, int index) {
        int next = (int) found + 1;
        long state = (long) next << 32;
        if (!Memory.casLong(entry(found) + ReceiveEntry.STATE, state, state | index + 1)) {
            return false;
        }
        Memory.putIntRelease(base + HEAD, next);
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
