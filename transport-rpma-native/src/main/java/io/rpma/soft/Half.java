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
 * One end's half of the memory that the two ends of a connection share: the words by which its owner and the other end tell
 * each other how they are, the ring of posted receives, and the ring of their completions. Words that different processes
 * write lie apart.
 */
final class Half {
    /** The owner's queue pair: {@link #INITIAL}, {@link #READY} or {@link #ERROR}. Written by the owner. */
    static final int STATE = 0;
    /** Who uses this memory (long): see {@link HalfMemory}. Written by both, when a connection begins and when it ends. */
    static final int USE = 8;
    /**
     * Not 0 if something is wrong. Written by the peer: {@link #STARVED}, or {@link #BROKEN}, which anything else is taken for as
     * well.
     */
    static final int FAULT = Memory.APART;
    /** Not 0 if the peer waits to send: for a receive, for room in the ring, or for the owner to be ready. */
    static final int STALLED = Memory.APART + 4;
    /**
     * Odd while the owner executes an operation in the peer's memory, or tells the peer of it. Whoever takes memory away makes
     * that known first (the state, a region's stamp), and uses it for something else once this word is even or has changed: what
     * is executed from then on has seen it.
     */
    static final int BUSY = 2 * Memory.APART;
    /**
     * Where in the peer's memory the operation is that the owner executes: the key of a region, {@link #POSTED_RECEIVES}, or
     * {@link RegionTable#NO_REGION}. Written before {@link #BUSY} becomes odd.
     */
    static final int BUSY_REGION = BUSY + 4;
    /**
     * Which receive of the peer's shared receive queue the operation takes, by its position (int). Written before the receive is
     * taken, and meaningful while {@link #BUSY} is odd.
     */
    static final int BUSY_RECEIVE = BUSY + 8;
    /** The armed word of the owner's completion queue. */
    static final int ARMED = 3 * Memory.APART;
    /** The armed word of the owner's receive completion queue. */
    static final int RECEIVE_ARMED = 4 * Memory.APART;
    /** With a shared receive queue: how many completions the owner has taken out of the ring (long). */
    static final int CONSUMED = 5 * Memory.APART;
    /** The ring of posted receives; empty with a shared receive queue. Behind it the ring of completions. */
    static final int RECEIVES = 6 * Memory.APART;

    /** The peer's operation failed in a way that breaks this queue pair. */
    static final int BROKEN = 1;
    /** The peer has been waiting for a shared receive for a while. The owner takes it back. */
    static final int STARVED = 2;
    /** No region has this key: it stands for the buffers of posted receives. */
    static final int POSTED_RECEIVES = RegionTable.BAD_KEY;

    /** Not connected yet: what is sent to it waits. */
    static final int INITIAL = 0;
    /** Receives. */
    static final int READY = 1;
    /** Receives no more. */
    static final int ERROR = 2;

    private Half() {
    }

    /** Returns the offset of the ring of completions. */
    static long ring(int receiveCapacity) {
        return RECEIVES + (long) receiveCapacity * ReceiveEntry.SIZE;
    }

    /** Returns the bytes of a half, a multiple of {@link Memory#APART}. */
    static long size(int receiveCapacity, int ringCapacity) {
        long size = ring(receiveCapacity) + (long) ringCapacity * CompletionRing.ENTRY;
        return (size + Memory.APART - 1) / Memory.APART * Memory.APART;
    }

    /** Returns the smallest power of two that is at least as large. */
    static int powerOfTwo(int atLeast) {
        return atLeast <= 1 ? 1 : Integer.highestOneBit(atLeast - 1) << 1;
    }
}
