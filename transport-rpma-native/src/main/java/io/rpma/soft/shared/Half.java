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
 * The layout of one end's half of the memory that the two ends of a connection share: the words by which the owner and the peer
 * publish their state to each other, the ring of posted receives, and the ring of their completions. Words that different
 * processes write lie {@link Memory#APART} bytes apart.
 */
public final class Half {
    /** The owner's queue pair: {@link #INITIAL}, {@link #READY} or {@link #ERROR}. Written by the owner. */
    public static final int STATE = 0;
    /** The users of this memory (long): see {@code HalfMemory}. Written by both ends, when a connection begins and ends. */
    public static final int USE = 8;
    /**
     * Not 0 if the peer reports a fault. Written by the peer: {@link #STARVED} or {@link #BROKEN}; any other value is treated as
     * BROKEN. The owner resets STARVED.
     */
    public static final int FAULT = Memory.APART;
    /**
     * Not 0 if the peer waits to send: for a receive, for room in the ring, or for the owner to be ready. Set by the peer, reset
     * by the owner.
     */
    public static final int STALLED = Memory.APART + 4;
    /**
     * Odd while the owner executes an operation in the peer's memory or publishes its result there. The owner makes it odd,
     * executes a full fence and then loads the state and the stamps of the regions. A peer that takes memory away first stores
     * the new state or stamp, executes a full fence and then loads this word. It reuses the memory once the word is even or has
     * changed: every operation that begins later observes the new state or stamp.
     */
    public static final int BUSY = 2 * Memory.APART;
    /**
     * The part of the peer's memory that the owner's operation accesses: the key of a region, {@link #POSTED_RECEIVES}, or
     * {@link RegionTable#NO_REGION}. Stored before {@link #BUSY} becomes odd (release).
     */
    public static final int BUSY_REGION = BUSY + 4;
    /**
     * The position (int) of the receive of the peer's shared receive queue that the operation takes. Stored before the receive is
     * taken, and meaningful while {@link #BUSY} is odd.
     */
    public static final int BUSY_RECEIVE = BUSY + 8;
    /** The armed word of the owner's completion queue. */
    public static final int ARMED = 3 * Memory.APART;
    /** The armed word of the owner's receive completion queue. */
    public static final int RECEIVE_ARMED = 4 * Memory.APART;
    /** With a shared receive queue: how many completions the owner has taken out of the ring (long). */
    public static final int CONSUMED = 5 * Memory.APART;
    /** The ring of posted receives; empty with a shared receive queue. The ring of completions follows it. */
    public static final int RECEIVES = 6 * Memory.APART;

    /** The peer's operation failed in a way that breaks this queue pair. */
    public static final int BROKEN = 1;
    /** The peer has been waiting for a shared receive for a while. The owner resets the word to 0. */
    public static final int STARVED = 2;
    /** A key that no region has. It stands for the buffers of posted receives. */
    public static final int POSTED_RECEIVES = RegionTable.BAD_KEY;

    /** Not connected yet: a peer that sends to it waits. */
    public static final int INITIAL = 0;
    /** The queue pair receives. */
    public static final int READY = 1;
    /** The queue pair no longer receives. */
    public static final int ERROR = 2;

    /** The largest number of positions of a ring. */
    public static final int MAX_CAPACITY = 1 << 15;

    private Half() {
    }

    /** Returns the offset of the ring of completions. */
    public static long ring(int receiveCapacity) {
        return RECEIVES + (long) receiveCapacity * ReceiveEntry.SIZE;
    }

    /** Returns the bytes of a half, a multiple of {@link Memory#APART}. */
    public static long size(int receiveCapacity, int ringCapacity) {
        long size = ring(receiveCapacity) + (long) ringCapacity * CompletionRing.ENTRY;
        return (size + Memory.APART - 1) / Memory.APART * Memory.APART;
    }

    /** Returns the smallest power of two that is not less than the argument. */
    public static int powerOfTwo(int atLeast) {
        return atLeast <= 1 ? 1 : Integer.highestOneBit(atLeast - 1) << 1;
    }
}
