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
package io.rpma.tcp;

import io.rpma.WorkCompletions;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The entries of a completion queue: any thread adds, one thread at a time takes. Bounded; it neither blocks nor allocates. */
final class CompletionRing {
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle TAIL;
    private static final VarHandle HEAD;
    private static final int WORDS = 4;

    static {
        try {
            TAIL = MethodHandles.lookup().findVarHandle(CompletionRing.class, "tail", long.class);
            HEAD = MethodHandles.lookup().findVarHandle(CompletionRing.class, "head", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int size;
    private final int mask;
    // For each entry its place plus one, stored after its words (volatile) and loaded before them (acquire).
    private final long[] written;
    // For each entry: context; status, opcode, flags and length; immediate data and queue pair; number of the work request.
    private final long[] words;
    private long tail;
    private long head;

    CompletionRing(int size) {
        this.size = size;
        int capacity = powerOfTwo(size);
        mask = capacity - 1;
        written = new long[capacity];
        words = new long[capacity * WORDS];
    }

    static int powerOfTwo(int least) {
        return least <= 1 ? 1 : Integer.highestOneBit(least - 1) << 1;
    }

    /** Adds an entry; returns whether there was room. */
    boolean add(long context, int status, int opcode, int flags, long length, int immediate, int queuePair, long number) {
        long place;
        do {
            place = (long) TAIL.getVolatile(this);
            if (place - (long) HEAD.getVolatile(this) >= size) {
                return false;
            }
        } while (!TAIL.compareAndSet(this, place, place + 1));
        int index = (int) place & mask;
        int word = index * WORDS;
        words[word] = context;
        words[word + 1] = length << 32 | flags << 16 | opcode << 8 | status;
        words[word + 2] = (long) immediate << 32 | queuePair & 0xffff_ffffL;
        words[word + 3] = number;
        LONGS.setVolatile(written, index, place + 1);
        return true;
    }

    boolean isEmpty() {
        long place = head;
        return (long) LONGS.getVolatile(written, (int) place & mask) != place + 1;
    }

    /**
     * Takes entries.
     *
     * @param retired receives the greatest number of a work request among them
     * @return the number taken
     */
    int take(WorkCompletions completions, SendQueue retired) {
        int count = 0;
        int limit = completions.capacity();
        long place = head;
        long number = 0;
        while (count < limit) {
            int index = (int) place & mask;
            if ((long) LONGS.getAcquire(written, index) != place + 1) {
                break;
            }
            int word = index * WORDS;
            long detail = words[word + 1];
            long more = words[word + 2];
            completions.set(count++, words[word], (int) detail & 0xff, (int) detail >>> 8 & 0xff, (int) (detail >>> 32),
                (int) (more >>> 32), (int) more, (int) detail >>> 16 & 0xff);
            number = Math.max(number, words[word + 3]);
            place++;
        }
        if (count > 0) {
            HEAD.setVolatile(this, place);
            if (number != 0 && retired != null) {
                retired.retire(number);
            }
        }
        return count;
    }
}
