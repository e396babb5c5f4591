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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The memory regions of this process as peers see them: a table in shared memory, which they cannot write to. The initiator of
 * a one-sided operation checks the region there, as an adapter checks its own tables, without asking this process.
 *
 * <p>A region's key is its place in the table and the generation of that place. Each entry starts with a stamp, the key and a
 * number that no other registration has: a region that a peer remembers is the one in the table while the stamps are equal.
 * The fields are written before the stamp, and the stamp is cleared before the place is used anew: a reader takes the stamp,
 * the fields and the stamp once more.
 */
final class RegionTable {
    /** Regions that a process can have registered at a time. */
    static final int CAPACITY = 1 << 16;
    /** The size of the table in bytes. */
    static final long SIZE = CAPACITY * 64L;
    /** Marks memory that peers cannot map: they copy by system call. */
    static final int FOREIGN = 0;
    /** No region has this key: it marks a receive that cannot succeed. */
    static final int BAD_KEY = 1;
    /** No region has this key: it stands for "no region" where an empty message is received. */
    static final int NO_REGION = 0;

    private static final int STAMP = 0;
    private static final int ADDRESS = 8;
    private static final int LENGTH = 16;
    private static final int RANGE_OFFSET = 24;
    private static final int USAGES = 32;
    private static final int RANGE = 36;
    private static final int DOMAIN = 40;

    private final SharedMemory memory;
    private final short[] generations = new short[CAPACITY];
    private final int[] free = new int[CAPACITY];
    private int freeCount;
    private int used;
    private long registrations;

    RegionTable() throws RpmaException {
        memory = SharedMemory.create("rpma-regions", SIZE, true);
    }

    SharedMemory memory() {
        return memory;
    }

    /**
     * Enters a region.
     *
     * @return its key
     */
    synchronized int enter(int usages, long address, long length, int range, long rangeOffset, int domain)
            throws RpmaException {
        int index;
        if (freeCount > 0) {
            index = free[--freeCount];
        } else if (used < CAPACITY) {
            index = used++;
            generations[index] = (short) ThreadLocalRandom.current().nextInt();
        } else {
            throw SoftLog.failure(RpmaError.PROVIDER, Posix.ENOMEM, CAPACITY + " memory regions are registered, which is the"
                + " limit of the software provider: register fewer, larger ones", null);
        }
        short generation = ++generations[index];
        if (generation == 0) {
            generation = ++generations[index];
        }
        int key = (generation & 0xffff) << 16 | index;
        long entry = entryAddress(memory.address(), key);
        Memory.putLong(entry + ADDRESS, address);
        Memory.putLong(entry + LENGTH, length);
        Memory.putLong(entry + RANGE_OFFSET, rangeOffset);
        Memory.putInt(entry + USAGES, usages);
        Memory.putInt(entry + RANGE, range);
        Memory.putInt(entry + DOMAIN, domain);
        Memory.putLongRelease(entry + STAMP, ++registrations << 32 | key & 0xffffffffL);
        return key;
    }

    /** Makes a key invalid for whoever looks from now on; operations that have looked already may still be under way. */
    void invalidate(int key) {
        Memory.putLongRelease(entryAddress(memory.address(), key) + STAMP, 0);
        Memory.fullFence();
    }

    /** Lets the place of an invalid key be used anew, after the operations under way have ended. */
    synchronized void remove(int key) {
        free[freeCount++] = key & CAPACITY - 1;
    }

    /** Returns where the entry of a key lies, in a table at this address; its first word is the stamp. */
    static long entryAddress(long table, int key) {
        return table + (key & CAPACITY - 1) * 64L;
    }

    /**
     * Reads a region out of a table.
     *
     * @return the region as it stands there, unchecked, or {@code null} if there is none of this key
     */
    static Entry read(long table, int key) {
        long entry = entryAddress(table, key);
        long stamp = Memory.getLongAcquire(entry + STAMP);
        if (key == NO_REGION || key == BAD_KEY || (int) stamp != key) {
            return null;
        }
        Entry result = new Entry(stamp, Memory.getInt(entry + USAGES), Memory.getLong(entry + ADDRESS),
            Memory.getLong(entry + LENGTH), Memory.getInt(entry + RANGE), Memory.getLong(entry + RANGE_OFFSET),
            Memory.getInt(entry + DOMAIN));
        Memory.acquireFence();
        return Memory.getLong(entry + STAMP) == stamp ? result : null;
    }

    /**
     * A region as it stands in a table.
     *
     * @param stamp tells this registration from all others
     * @param usages {@code RPMA_MR_USAGE_*}
     * @param address in its own process
     * @param length in bytes
     * @param range the range, or {@link #FOREIGN}
     * @param rangeOffset where in the range it starts
     * @param domain the protection domain
     */
    record Entry(long stamp, int usages, long address, long length, int range, long rangeOffset, int domain) {
    }
}
