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
package io.rpma.soft.host;

import io.rpma.posix.Posix;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits the memory that other processes make this one map, in bytes of address space and in mappings, both of which are limited
 * per process: one other process gets a quarter of the addresses and a sixteenth of the mappings, all together a half of each.
 */
public final class MappingLimit {
    private static final Path MAX_MAP_COUNT = Path.of("/proc/sys/vm/max_map_count");
    private static final int USUAL_MAX_MAP_COUNT = 65_530;
    // The highest bit of an address: 46 on x86-64. Other processors may have more, which is not used.
    private static final int LARGEST_ADDRESS_BIT = 46;
    private static final int SMALLEST_ADDRESS_BIT = 32;

    private final long mostBytes;
    private final long mostBytesEach;
    private final int mostMappings;
    private final int mostMappingsEach;
    private final Map<Integer, Sum> sums = new HashMap<>();
    private long bytes;
    private int mappings;

    /**
     * Creates the limit.
     *
     * @param addressSpace the addresses that a process has, in bytes
     * @param maxMappings the mappings that a process may have
     */
    MappingLimit(long addressSpace, int maxMappings) {
        mostBytes = addressSpace / 2;
        mostBytesEach = addressSpace / 4;
        mostMappings = maxMappings / 2;
        mostMappingsEach = maxMappings / 16;
    }

    /** Creates the limit that fits this kernel. */
    public static MappingLimit ofKernel() {
        return new MappingLimit(addressSpace(), maxMapCount());
    }

    /**
     * Returns the size of the address space of this process, a power of two. The addresses that the kernel chooses for mappings
     * do not show it, because some kernels start at the lower end. But the kernel honours a requested address if it exists.
     */
    private static long addressSpace() {
        for (int bit = LARGEST_ADDRESS_BIT; bit > SMALLEST_ADDRESS_BIT; bit--) {
            long wanted = 1L << bit;
            long address = Posix.mmap(wanted, Posix.PAGE_SIZE, 0, Posix.MAP_PRIVATE | Posix.MAP_ANONYMOUS, -1, 0);
            if (address < 0) {
                throw new OutOfMemoryError("mmap failed for a page: " + Posix.strerror((int) -address));
            }
            Posix.munmap(address, Posix.PAGE_SIZE);
            // An existing mapping at that address may shift it a little.
            if (Long.highestOneBit(address) >= wanted) {
                return wanted << 1;
            }
        }
        return 1L << SMALLEST_ADDRESS_BIT + 1;
    }

    static int maxMapCount() {
        // The file is read by a single call of read(2), because the second call returns the end of the file. Files.readString
        // reads one byte first, and would return only the first digit.
        byte[] digits = new byte[32];
        try (InputStream file = Files.newInputStream(MAX_MAP_COUNT)) {
            int length = Math.max(0, file.read(digits));
            String number = new String(digits, 0, length, StandardCharsets.US_ASCII).trim();
            return Math.clamp(Long.parseLong(number), 1024, Integer.MAX_VALUE);
        } catch (IOException | NumberFormatException e) {
            // No /proc.
            return USUAL_MAX_MAP_COUNT;
        }
    }

    /** Returns an account of a process. All accounts of the same process share one limit. */
    public Account account(int pid) {
        return new Account(pid);
    }

    /** The memory that one process makes this one map. Thread-safe. */
    public final class Account {
        private final int pid;

        private Account(int pid) {
            this.pid = pid;
        }

        /**
         * Counts memory that is about to be mapped.
         *
         * @return whether it is within the limits; if not, nothing is counted, and the reason is logged
         */
        public boolean add(long size) {
            return MappingLimit.this.add(pid, size);
        }

        /** Called when memory that was counted is not mapped any more. */
        public void remove(long size) {
            MappingLimit.this.remove(pid, size);
        }
    }

    /** The bytes and mappings of one process. */
    private static final class Sum {
        private long bytes;
        private int mappings;
    }

    private synchronized boolean add(int pid, long size) {
        Sum sum = sums.get(pid);
        long bytesBefore = sum == null ? 0 : sum.bytes;
        int mappingsBefore = sum == null ? 0 : sum.mappings;
        if (size > mostBytesEach - bytesBefore || mappingsBefore >= mostMappingsEach) {
            SoftLog.violation(User.process(pid) + " wants " + size + " bytes mapped in addition to " + bytesBefore + " in "
                + mappingsBefore + " mappings; the limit for one process is " + mostBytesEach + " bytes and " + mostMappingsEach
                + " mappings: it must reserve less memory, or use fewer shared receive queues");
            return false;
        }
        if (size > mostBytes - bytes || mappings >= mostMappings) {
            SoftLog.violation(User.process(pid) + " wants " + size + " bytes mapped in addition to " + bytes + " in " + mappings
                + " mappings of all processes together; the limit is " + mostBytes + " bytes and " + mostMappings
                + " mappings: fewer processes must be connected, or they must reserve less memory");
            return false;
        }
        if (sum == null) {
            sum = new Sum();
            sums.put(pid, sum);
        }
        sum.bytes += size;
        sum.mappings++;
        bytes += size;
        mappings++;
        return true;
    }

    private synchronized void remove(int pid, long size) {
        Sum sum = sums.get(pid);
        sum.bytes -= size;
        bytes -= size;
        mappings--;
        if (--sum.mappings == 0) {
            sums.remove(pid);
        }
    }

    // ---- for tests

    /** Returns how many bytes may be mapped of one process. */
    public long mostBytesEach() {
        return mostBytesEach;
    }

    /** Returns how many bytes are mapped of all processes. */
    public synchronized long bytes() {
        return bytes;
    }
}
