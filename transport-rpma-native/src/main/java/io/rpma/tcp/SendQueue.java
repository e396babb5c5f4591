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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The work requests of a connection, numbered from 1: one thread posts them, the thread that drives the connection executes them.
 * As on a device, polling a completion frees its slot and all earlier ones.
 */
final class SendQueue {
    private static final VarHandle POSTED;
    private static final VarHandle RETIRED;

    static {
        try {
            POSTED = MethodHandles.lookup().findVarHandle(SendQueue.class, "posted", long.class);
            RETIRED = MethodHandles.lookup().findVarHandle(SendQueue.class, "retired", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int slots;
    private final int mask;
    // For each slot: the type and the flags of the frame.
    private final int[] kinds;
    private final boolean[] bad;
    private final boolean[] signalled;
    private final int[] lengths;
    private final int[] immediates;
    private final long[] sources;
    private final TcpLocalMemoryRegion[] regions;
    private final long[] addresses;
    private final long[] keys;
    private final long[] values;
    private final long[] contexts;
    private long posted;
    private long retired;
    // Whether a request has been posted that completes when it is acknowledged, and since then none that the peer acknowledges
    // without delay. Used by the posting thread.
    private boolean unasked;

    SendQueue(int slots) {
        this.slots = slots;
        int capacity = CompletionRing.powerOfTwo(slots);
        mask = capacity - 1;
        kinds = new int[capacity];
        bad = new boolean[capacity];
        signalled = new boolean[capacity];
        lengths = new int[capacity];
        immediates = new int[capacity];
        sources = new long[capacity];
        regions = new TcpLocalMemoryRegion[capacity];
        addresses = new long[capacity];
        keys = new long[capacity];
        values = new long[capacity];
        contexts = new long[capacity];
    }

    /**
     * Posts a work request.
     *
     * @param type the type of the frame
     * @param source the address of the local memory
     * @param isOnce whether the request completes as soon as the socket has taken it
     * @param isBad whether the request fails once all earlier ones have completed
     */
    void post(int type, boolean withImmediate, boolean isOnce, boolean isBad, boolean isSignalled, TcpLocalMemoryRegion region,
            long source, long length, int immediate, long address, long key, long value, long context) throws RpmaException {
        long last = posted;
        if (last - (long) RETIRED.getAcquire(this) >= slots) {
            throw TcpLog.failure(RpmaError.PROVIDER, Posix.ENOMEM, "send queue full: " + slots + " of " + slots
                + " slots are in use; a slot becomes free when its completion, or that of a later work request, is polled:"
                + " request completions often enough, or configure a larger queue (ConnectionConfig.sendQueueSize)", null);
        }
        int index = (int) (last + 1) & mask;
        // A request that is not sent again completes after all earlier ones, and so may need their acknowledgement.
        boolean isWanted = isSignalled && (!isOnce || unasked);
        unasked = !isWanted && !isAnswered(type) && (!isOnce || unasked);
        kinds[index] = type | ((withImmediate ? Wire.WITH_IMMEDIATE : 0) | (isOnce ? Wire.ONCE : 0)
            | (isWanted ? Wire.WANTED : 0)) << 8;
        bad[index] = isBad;
        signalled[index] = isSignalled;
        lengths[index] = (int) length;
        immediates[index] = immediate;
        sources[index] = source;
        regions[index] = region;
        addresses[index] = address;
        keys[index] = key;
        values[index] = value;
        contexts[index] = context;
        POSTED.setRelease(this, last + 1);
    }

    /** Returns the number of the last work request. */
    long posted() {
        return (long) POSTED.getAcquire(this);
    }

    /** Frees the slots up to a number. Called by the polling thread. */
    void retire(long number) {
        RETIRED.setRelease(this, number);
    }

    int type(long number) {
        return kinds[(int) number & mask] & 0xff;
    }

    int flags(long number) {
        return kinds[(int) number & mask] >>> 8;
    }

    boolean isBad(long number) {
        return bad[(int) number & mask];
    }

    boolean isSignalled(long number) {
        return signalled[(int) number & mask];
    }

    int length(long number) {
        return lengths[(int) number & mask];
    }

    int immediate(long number) {
        return immediates[(int) number & mask];
    }

    long source(long number) {
        return sources[(int) number & mask];
    }

    TcpLocalMemoryRegion region(long number) {
        return regions[(int) number & mask];
    }

    long address(long number) {
        return addresses[(int) number & mask];
    }

    long key(long number) {
        return keys[(int) number & mask];
    }

    /** Returns the value of an atomic write. */
    long value(long number) {
        return values[(int) number & mask];
    }

    long context(long number) {
        return contexts[(int) number & mask];
    }

    /** Clears the region of a work request that has completed. */
    void done(long number) {
        regions[(int) number & mask] = null;
    }

    /** Returns whether a work request completes as soon as the socket has taken it. */
    boolean isOnce(long number) {
        return (flags(number) & Wire.ONCE) != 0;
    }

    private static boolean isAnswered(int type) {
        return type == Wire.READ || type == Wire.FLUSH_PERSISTENT;
    }

    /** Returns whether a work request is answered by a frame of its own, and not by an acknowledgement. */
    boolean isAnswered(long number) {
        return isAnswered(type(number));
    }
}
