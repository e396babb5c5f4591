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
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.shared.CompletionRing;
import io.rpma.soft.shared.ReceiveEntry;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The owner's side of the receive queue of one connection. The peer takes the receives in the order in which they were posted;
 * entry {@code n} is posted by the state word {@code n + 1}. One thread posts and one thread, which may be another, polls.
 */
final class ReceiveQueue {
    private static final VarHandle POSTED;
    private static final VarHandle CONSUMED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            POSTED = lookup.findVarHandle(ReceiveQueue.class, "posted", long.class);
            CONSUMED = lookup.findVarHandle(ReceiveQueue.class, "consumed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int slots;
    private final int mask;
    private final long entries;
    private final long ring;
    private final long[] contexts;
    private final int[] lengths;
    private long posted;
    private long consumed;
    private long consumedKnown;

    /**
     * Creates an empty queue.
     *
     * @param slots receives that can be posted at a time
     * @param capacity positions of both rings, a power of two, at least {@code slots}
     * @param entries the address of the ring of posted receives
     * @param ring the address of the ring of completions
     */
    ReceiveQueue(int slots, int capacity, long entries, long ring) {
        this.slots = slots;
        this.mask = capacity - 1;
        this.entries = entries;
        this.ring = ring;
        contexts = new long[capacity];
        lengths = new int[capacity];
    }

    /** Posts a receive. The caller then checks whether a sender waits. */
    void post(int key, long offset, int length, long context) throws RpmaException {
        long position = posted;
        if (position - consumedKnown >= slots) {
            consumedKnown = (long) CONSUMED.getAcquire(this);
            if (position - consumedKnown >= slots) {
                throw Receives.full(slots);
            }
        }
        int index = (int) position & mask;
        contexts[index] = context;
        lengths[index] = length;
        long entry = entries + (long) index * ReceiveEntry.SIZE;
        ReceiveEntry.write(entry, key, offset, length, index);
        POSTED.setRelease(this, position + 1);
        Memory.putLongRelease(entry + ReceiveEntry.STATE, position + 1);
    }

    /** Returns the number of receives posted and not yet polled. */
    int outstanding() {
        return (int) ((long) POSTED.getAcquire(this) - (long) CONSUMED.getAcquire(this));
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
     * @return the number of entries now in the batch, or its complement if a completion has failed or is not valid: then the
     *     queue pair enters the error state
     */
    int poll(WorkCompletions completions, int count, int queuePair) {
        long position = consumed;
        int limit = completions.capacity();
        boolean failed = false;
        while (count < limit && !failed) {
            long control = CompletionRing.control(ring, mask, position);
            if (control == 0) {
                break;
            }
            long data = CompletionRing.data(ring, mask, position);
            int index = (int) position & mask;
            int length = (int) data;
            int status = CompletionRing.status(control);
            int flags = CompletionRing.flags(control);
            if (position >= (long) POSTED.getAcquire(this) || CompletionRing.slot(control) != index
                || (flags & CompletionRing.WRITE) == 0 && Integer.compareUnsigned(length, lengths[index]) > 0 && status == 0) {
                SoftLog.violation("queue pair " + queuePair + " received a completion of " + Integer.toUnsignedString(length)
                    + " bytes for entry " + CompletionRing.slot(control) + ", expected entry " + index + " of at most "
                    + lengths[index] + " bytes: the peer breaks the protocol");
                failed = true;
                break;
            }
            completions.set(count++, contexts[index], status, Receives.opcode(flags), length, (int) (data >>> 32), queuePair,
                Receives.completionFlags(flags));
            position++;
            failed = status != 0;
        }
        if (position != consumed) {
            CONSUMED.setRelease(this, position);
        }
        return failed ? ~count : count;
    }

    /** Flushes the posted receives, once the peer can take no more. Returns the number of entries now in the batch. */
    int flush(WorkCompletions completions, int count, int queuePair) {
        long position = consumed;
        long end = (long) POSTED.getAcquire(this);
        int limit = completions.capacity();
        while (count < limit && position < end) {
            completions.set(count++, contexts[(int) position & mask], CompletionStatus.WR_FLUSH_ERR.code(), 0, 0, 0,
                queuePair, 0);
            position++;
        }
        CONSUMED.setRelease(this, position);
        return count;
    }
}
