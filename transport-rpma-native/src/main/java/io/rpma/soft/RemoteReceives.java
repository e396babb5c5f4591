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
import io.rpma.soft.process.RemoteEnd;
import io.rpma.soft.shared.CompletionRing;
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.ReceiveEntry;
import io.rpma.soft.shared.SharedReceives;

/**
 * The receives of a connected peer, as the sender uses them: finds posted receives, takes them, and publishes their completions
 * in the peer's ring. The receives are those of the peer's queue pair, or those of a receive queue that several processes share
 * ({@link SharedReceives}).
 *
 * <p>Used by the thread that executes work requests; see {@link QueuePair}.
 */
final class RemoteReceives {
    /** How a shared receive is looked for. Other processes can overwrite {@link SharedReceives#HEAD}. */
    enum Search {
        /** From HEAD on. */
        BRIEF,
        /** From HEAD on, and everywhere if HEAD is visibly wrong: before a request waits. */
        CAREFUL,
        /** Everywhere: when a request has been waiting for a long time. */
        THOROUGH
    }

    // The half of this end.
    private final long base;
    private final long remoteBase;
    private final long entries;
    private final int entryMask;
    private final long ring;
    private final int ringMask;
    private final SharedReceives shared;
    private final int sharedIndex;
    private final boolean sharesQueue;
    private long found;
    private long ahead;
    // The position of the last shared receive that was taken.
    private int taken;
    private long position;
    private long consumed;

    /**
     * Creates the view of the receives of a peer.
     *
     * @param base the address of the half of this end
     * @param end the other end
     */
    RemoteReceives(long base, RemoteEnd end) {
        this.base = base;
        remoteBase = end.base();
        entries = end.base() + Half.RECEIVES;
        entryMask = end.receiveCapacity() - 1;
        ring = end.ring();
        ringMask = end.ringCapacity() - 1;
        shared = end.shared();
        sharedIndex = end.sharedIndex();
        sharesQueue = end.receivesShareQueue();
    }

    /** Returns whether several connections take these receives. */
    boolean areShared() {
        return shared != null;
    }

    /** Returns whether their completions are polled from a queue that several connections share. */
    boolean shareQueue() {
        return sharesQueue;
    }

    /**
     * Loads the entry of the receive for the next message, after the current message has been signalled, so that it is in this
     * processor's cache when it is needed. The result is only a hint; {@link SharedReceives#take} fails if the receive has been
     * taken meanwhile.
     */
    void lookAhead() {
        if (shared != null) {
            ahead = shared.find();
        } else {
            ahead = Memory.getLongAcquire(
                entries + (position & entryMask) * ReceiveEntry.SIZE + ReceiveEntry.STATE);
        }
    }

    /**
     * Returns the address of a posted receive, 0 if there is none.
     *
     * @param search how shared receives are looked for
     */
    long find(Search search) {
        if (shared != null) {
            found = ahead;
            ahead = 0;
            if (found == 0) {
                found = switch (search) {
                    case BRIEF -> shared.find();
                    case CAREFUL -> shared.findOrSearch();
                    case THOROUGH -> shared.search();
                };
            }
            return found == 0 ? 0 : shared.entry(found);
        }
        long entry = entries + (position & entryMask) * ReceiveEntry.SIZE;
        return Memory.getLongAcquire(entry + ReceiveEntry.STATE) == position + 1 ? entry : 0;
    }

    /**
     * Takes the shared receive that was found, unless another sender has taken it. The position is stored in
     * {@link Half#BUSY_RECEIVE} first, and remains there until the next receive is taken, so that the peer can identify the
     * receive even if a process that shares the queue overwrites the take word.
     */
    boolean take() {
        Memory.putInt(base + Half.BUSY_RECEIVE, (int) found);
        if (shared.take(found, sharedIndex)) {
            taken = (int) found;
            return true;
        }
        Memory.putInt(base + Half.BUSY_RECEIVE, taken);
        return false;
    }

    /**
     * Returns whether the peer's ring of completions is full. That is possible only with a shared receive queue: otherwise no
     * more receives are posted than the ring has entries.
     */
    boolean isRingFull() {
        if (shared == null || position - consumed <= ringMask) {
            return false;
        }
        consumed = Memory.getLongAcquire(remoteBase + Half.CONSUMED);
        return position - consumed > ringMask;
    }

    /** Publishes the completion of a receive that has been taken. */
    void publish(int slot, long length, int immediate, int flags, int status) {
        CompletionRing.publish(ring, ringMask, position, slot, length, immediate, flags, status);
        position++;
    }

    // ---- receives and queues that are shared; called while this end is busy and the peer's state was READY after that

    /** Sets the ready bit of the peer's queue pair in the shared completion queue. */
    void markReady() {
        shared.markReady(sharedIndex);
    }

    /** Announces in the shared queue that this end waits for a receive. */
    void announceWaiting() {
        shared.announceWaiting(sharedIndex);
    }

    /** Takes the announcement back, because this end has found a receive. */
    void withdrawWaiting() {
        shared.withdrawWaiting(sharedIndex);
    }

    /** Returns whether the announcement stands: no receive has been posted since. */
    boolean isWaiting() {
        return shared.isWaiting(sharedIndex);
    }
}
