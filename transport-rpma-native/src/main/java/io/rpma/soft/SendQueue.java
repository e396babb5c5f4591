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

import io.rpma.CompletionStatus;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.shared.Half;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The slots and the completions of a send queue. Every work request takes a slot. As on a device, polling a completion frees its
 * slot and all earlier ones. The thread that executes work requests writes the completions, one thread at a time; the polling
 * thread reads them.
 */
final class SendQueue {
    private static final VarHandle TAIL;
    private static final VarHandle HEAD;
    private static final VarHandle RETIRED;
    private static final VarHandle ENTRIES;
    // The words of an entry: the context; the number of the work request; status, opcode and length; and one that is not used, so
    // that the number of entries follows from the length of the array by a shift.
    private static final int WORDS = 4;
    private static final int WORDS_SHIFT = 2;
    /** How many entries there is room for when there is one. */
    private static final int FEW = 4;
    private static final long[] NONE = {};

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            TAIL = lookup.findVarHandle(SendQueue.class, "tail", long.class);
            HEAD = lookup.findVarHandle(SendQueue.class, "head", long.class);
            RETIRED = lookup.findVarHandle(SendQueue.class, "retired", long.class);
            ENTRIES = lookup.findVarHandle(SendQueue.class, "entries", long[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int slots;
    // A ring with room for a power of two of completions. The executing thread replaces it by a larger one when it is full: few
    // connections ever have more than two completions that have not been polled. The polling thread loads this field after the
    // tail, and so finds a ring that has all completions before that tail.
    private long[] entries = NONE;
    private long posted;
    private long retiredKnown;
    private long retired;
    private long tail;
    // The head when the executing thread last looked.
    private long headKnown;
    private long head;

    SendQueue(int slots) {
        this.slots = slots;
    }

    int slots() {
        return slots;
    }

    /** Returns the largest number of work requests and of completions, rounded up to a power of two. */
    int capacity() {
        return Half.powerOfTwo(slots);
    }

    /**
     * Takes a slot. Called by the posting thread.
     *
     * @return the number of the work request, from 1
     */
    long take() throws RpmaException {
        if (posted - retiredKnown >= slots) {
            retiredKnown = (long) RETIRED.getAcquire(this);
            if (posted - retiredKnown >= slots) {
                throw SoftLog.failure(RpmaError.PROVIDER, 12, "send queue full: " + slots + " of " + slots
                    + " slots are in use; a slot becomes free when its completion, or that of a later work request, is polled:"
                    + " request completions often enough, or configure a larger queue (ConnectionConfig.sendQueueSize)", null);
            }
        }
        return ++posted;
    }

    /** Adds a completion. Called by the executing thread. There is always room, because each completion has a slot. */
    void complete(long number, long context, int status, int opcode, long length) {
        long position = tail;
        long[] ring = entries;
        if (position - headKnown == ring.length >>> WORDS_SHIFT) {
            ring = makeRoom(position);
        }
        int index = index(ring, position);
        ring[index] = context;
        ring[index + 1] = number;
        ring[index + 2] = length << 32 | opcode << 8 | status;
        TAIL.setRelease(this, position + 1);
    }

    private static int index(long[] ring, long position) {
        return (int) (position << WORDS_SHIFT) & ring.length - 1;
    }

    /** Returns a ring with room for one more completion. Called by the executing thread. */
    private long[] makeRoom(long position) {
        headKnown = (long) HEAD.getAcquire(this);
        long[] ring = entries;
        if (position - headKnown < ring.length >>> WORDS_SHIFT) {
            return ring;
        }
        long[] larger = new long[Math.max(FEW * WORDS, 2 * ring.length)];
        for (long each = headKnown; each < position; each++) {
            System.arraycopy(ring, index(ring, each), larger, index(larger, each), WORDS);
        }
        ENTRIES.setRelease(this, larger);
        return larger;
    }

    /** Returns the number of completions that have not been polled. */
    int ready() {
        return (int) ((long) TAIL.getAcquire(this) - (long) HEAD.getAcquire(this));
    }

    /** Takes completions. Called by the polling thread. Returns the number of entries now in the batch. */
    int poll(WorkCompletions completions, int count, int queuePair) {
        long position = head;
        long available = (long) TAIL.getAcquire(this);
        if (position == available) {
            return count;
        }
        // Not before the tail: see above.
        long[] ring = (long[]) ENTRIES.getAcquire(this);
        int limit = completions.capacity();
        long number = 0;
        while (count < limit && position < available) {
            int index = index(ring, position);
            long detail = ring[index + 2];
            int status = (int) detail & 0xff;
            number = ring[index + 1];
            completions.set(count++, ring[index], status, status == CompletionStatus.SUCCESS.code()
                ? (int) (detail >>> 8) & 0xff : 0, (int) (detail >>> 32), 0, queuePair, 0);
            position++;
        }
        if (number != 0) {
            HEAD.setRelease(this, position);
            RETIRED.setRelease(this, number);
        }
        return count;
    }
}
