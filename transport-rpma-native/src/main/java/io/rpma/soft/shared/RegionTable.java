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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.soft.host.SoftLog;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The table of the memory regions of this process, in shared memory that peers can only read. The initiator of a one-sided
 * operation checks the region there, as an adapter checks its own tables, without involving this process.
 *
 * <p>A region's key consists of its index in the table and the generation of that index. Each entry starts with a stamp: the key
 * and a number that is unique to the registration. A region that a peer has cached is valid while its stamp equals the one in the
 * table. The owner stores the fields before the stamp (release), and clears the stamp before it reuses the entry. A reader loads
 * the stamp (acquire), the fields, and, after an acquire fence, the stamp once more: if both stamps are equal, the fields belong
 * to that registration.
 */
public final class RegionTable {
    /** Regions that a process can have registered at a time. */
    public static final int CAPACITY = 1 << 16;
    /** The size of the table in bytes. */
    public static final long SIZE = CAPACITY * 64L;
    /** Marks memory that peers cannot map and therefore copy by system call. */
    public static final int FOREIGN = 0;
    /** A key that no region has. It marks a receive that cannot succeed. */
    public static final int BAD_KEY = 1;
    /** A key that no region has. It marks a receive for empty messages, which has no region. */
    public static final int NO_REGION = 0;

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

    public RegionTable() throws RpmaException {
        memory = SharedMemory.create("rpma-regions", SIZE, true);
    }

    public SharedMemory memory() {
        return memory;
    }

    /**
     * Enters a region.
     *
     * @return its key
     */
    public synchronized int enter(int usages, long address, long length, int range, long rangeOffset, int domain)
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

    /**
     * Makes a key invalid. Operations that have loaded the stamp before may still be in progress. The fence orders the store of
     * the stamp before the caller's loads of {@link Half#BUSY} ({@code LocalEnd.peerOperation}): an initiator stores that word,
     * executes a fence and loads the stamp, so either it finds the key invalid or the caller finds it busy (row M37 of
     * docs/memory-order.md).
     */
    public void invalidate(int key) {
        Memory.putLongRelease(entryAddress(memory.address(), key) + STAMP, 0);
        Memory.fullFence();
    }

    /** Releases the index of an invalid key for reuse, once the operations in progress have ended. */
    public synchronized void remove(int key) {
        free[freeCount++] = key & CAPACITY - 1;
    }

    /** Returns the address of the entry of a key in a table at an address. Its first word is the stamp. */
    public static long entryAddress(long table, int key) {
        return table + (key & CAPACITY - 1) * 64L;
    }

    /**
     * Reads a region out of a table.
     *
     * @return the content of the entry, unchecked, or {@code null} if there is no region with this key
     */
    public static Entry read(long table, int key) {
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
     * The content of an entry of a table.
     *
     * @param stamp identifies this registration
     * @param usages {@code RPMA_MR_USAGE_*}
     * @param address the address in its own process
     * @param length in bytes
     * @param range the range, or {@link #FOREIGN}
     * @param rangeOffset the offset of the region in the range
     * @param domain the protection domain
     */
    public record Entry(long stamp, int usages, long address, long length, int range, long rangeOffset, int domain) {
    }
}
