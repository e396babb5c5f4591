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

import io.rpma.MemoryUsage;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The posted receives of a connection that has its own ones. They are taken in the order in which they were posted. Any thread
 * posts and takes. Bounded; it allocates nothing.
 */
final class Receives {
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle TAIL;
    private static final VarHandle HEAD;
    private static final int WORDS = 3;

    static {
        try {
            TAIL = MethodHandles.lookup().findVarHandle(Receives.class, "tail", long.class);
            HEAD = MethodHandles.lookup().findVarHandle(Receives.class, "head", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int size;
    private final int mask;
    // For each slot: its place while it is free, its place plus one once it is posted, and its place in the next round once it
    // has been taken. Stored after the other fields of the slot and loaded before them, both volatile.
    private final long[] turns;
    private final long[] words;
    private final TcpLocalMemoryRegion[] regions;
    private long tail;
    private long head;

    /** A receive that has been taken. */
    static final class Taken {
        TcpLocalMemoryRegion region;
        long offset;
        long length;
        long context;

        void clear() {
            region = null;
        }
    }

    Receives(int size) {
        this.size = size;
        int capacity = CompletionRing.powerOfTwo(Math.max(2, size));
        mask = capacity - 1;
        turns = new long[capacity];
        for (int i = 0; i < capacity; i++) {
            turns[i] = i;
        }
        words = new long[capacity * WORDS];
        regions = new TcpLocalMemoryRegion[capacity];
    }

    int size() {
        return size;
    }

    /** Refuses arguments that librpma refuses. */
    static void check(TcpLocalMemoryRegion target, long offset, long length) throws RpmaException {
        if (target == null && (offset != 0 || length != 0)) {
            throw TcpLog.failure(RpmaError.INVALID, "receive: without a region, offset and length must be 0; they are "
                + offset + " and " + length);
        }
        if (offset < 0 || length < 0 || length > Limits.MAX_MESSAGE) {
            throw TcpLog.failure(RpmaError.INVALID, "receive: offset " + offset + " and length " + length
                + " must not be negative, and the length at most " + Limits.MAX_MESSAGE);
        }
    }

    /** Posts a receive whose arguments have been checked. */
    void post(TcpLocalMemoryRegion region, long offset, long length, long context) throws RpmaException {
        if (!tryPost(region, offset, length, context)) {
            throw TcpLog.failure(RpmaError.PROVIDER, Posix.ENOMEM, "receive queue full: " + size + " of " + size
                + " slots are posted; wait for messages first, or configure a larger queue (ConnectionConfig.receiveQueueSize)",
                null);
        }
    }

    private boolean tryPost(TcpLocalMemoryRegion region, long offset, long length, long context) {
        while (true) {
            long place = (long) TAIL.getVolatile(this);
            if (place - (long) HEAD.getVolatile(this) >= size) {
                return false;
            }
            int index = (int) place & mask;
            if ((long) LONGS.getVolatile(turns, index) == place && TAIL.compareAndSet(this, place, place + 1)) {
                int word = index * WORDS;
                words[word] = offset;
                words[word + 1] = length;
                words[word + 2] = context;
                regions[index] = region;
                LONGS.setVolatile(turns, index, place + 1);
                return true;
            }
            Thread.onSpinWait();
        }
    }

    boolean isEmpty() {
        long place = (long) HEAD.getVolatile(this);
        return (long) LONGS.getVolatile(turns, (int) place & mask) - (place + 1) < 0;
    }

    /** Takes the oldest receive; returns whether there was one. */
    boolean take(Taken taken) {
        while (true) {
            long place = (long) HEAD.getVolatile(this);
            int index = (int) place & mask;
            long turn = (long) LONGS.getVolatile(turns, index);
            if (turn - (place + 1) < 0) {
                return false;
            }
            if (turn == place + 1 && HEAD.compareAndSet(this, place, place + 1)) {
                int word = index * WORDS;
                taken.offset = words[word];
                taken.length = words[word + 1];
                taken.context = words[word + 2];
                taken.region = regions[index];
                regions[index] = null;
                LONGS.setVolatile(turns, index, place + mask + 1);
                return true;
            }
            Thread.onSpinWait();
        }
    }

    /** Returns whether a message may be received into the buffer of a receive. */
    static boolean isUsable(Taken taken, ProtectionDomain domain) {
        return taken.region == null || taken.region.domain() == domain && taken.region.allows(MemoryUsage.RECV.bit())
            && taken.region.contains(taken.offset, taken.length);
    }

    /** Returns the exception for a receive posted to a connection that uses a shared receive queue. */
    static RpmaException shared() {
        return TcpLog.failure(RpmaError.PROVIDER, Posix.EINVAL, "receive: this connection takes its receives from a shared"
            + " receive queue; post them there (SharedReceiveQueue.receive)", null);
    }
}
