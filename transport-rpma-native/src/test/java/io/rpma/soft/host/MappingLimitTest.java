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
import io.rpma.soft.shared.SharedMemory;
import java.io.BufferedReader;
import java.io.FileReader;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests how much address space and how many mappings other processes can make this process use. */
class MappingLimitTest {
    private static final long SPACE = 1L << 47;

    @Test
    void aProcessGetsAQuarterOfTheAddressesHoweverManyLinksItHas() {
        MappingLimit limit = new MappingLimit(SPACE, 65_530);
        assertTrue(limit.account(7).add(SPACE / 8));
        assertTrue(limit.account(7).add(SPACE / 8));
        assertFalse(limit.account(7).add(1));
        assertTrue(limit.account(8).add(1), "another process has a separate share");
        limit.account(7).remove(SPACE / 8);
        assertTrue(limit.account(7).add(1));
    }

    @Test
    void allProcessesTogetherGetAHalf() {
        MappingLimit limit = new MappingLimit(SPACE, 65_530);
        for (int pid = 1; pid <= 4; pid++) {
            assertTrue(limit.account(pid).add(SPACE / 8));
        }
        assertFalse(limit.account(5).add(1));
        assertEquals(SPACE / 2, limit.bytes());
        limit.account(1).remove(SPACE / 8);
        assertTrue(limit.account(5).add(1));
    }

    @Test
    void mappingsAreLimitedTooBecauseAProcessHasOnlySoMany() {
        MappingLimit limit = new MappingLimit(SPACE, 65_536);
        for (int i = 0; i < 4_096; i++) {
            assertTrue(limit.account(7).add(4096));
        }
        assertFalse(limit.account(7).add(4096));
        for (int pid = 8; pid < 15; pid++) {
            for (int i = 0; i < 4_096; i++) {
                assertTrue(limit.account(pid).add(4096));
            }
        }
        assertFalse(limit.account(15).add(4096), "all processes together have one half");
    }

    @Test
    void theLimitsAreThoseOfTheKernel() throws Exception {
        try (BufferedReader file = new BufferedReader(new FileReader("/proc/sys/vm/max_map_count"))) {
            assertEquals(Integer.parseInt(file.readLine()), MappingLimit.maxMapCount());
        }
    }

    /** The limit must also work if the kernel allocates addresses from the lower end, as that of the guest does. */
    @Test
    void aKernelOfSixtyFourBitsHasAddressesForManyLargeFiles() {
        assertTrue(MappingLimit.ofKernel().account(7).add(16L << 30));
    }

    @Test
    void aSumThatOverflowsIsNoWayRound() {
        MappingLimit limit = new MappingLimit(SPACE, 65_530);
        assertTrue(limit.account(7).add(SPACE / 4));
        assertFalse(limit.account(7).add(Long.MAX_VALUE));
    }

    @Test
    void memoryFromAnotherProcessCountsUntilItIsUnmapped() throws Exception {
        MappingLimit limit = new MappingLimit(4 * 4 * Posix.PAGE_SIZE, 65_530);
        long size = 3 * Posix.PAGE_SIZE;
        SharedMemory sent = SharedMemory.create("rpma-test", size);
        SharedMemory first = SharedMemory.open(copy(sent.fd()), size, true, limit.account(7));
        assertNotNull(first);
        assertNull(SharedMemory.open(copy(sent.fd()), size, true, limit.account(7)));
        assertEquals(size, limit.bytes());
        first.release();
        assertEquals(0, limit.bytes());
        first = SharedMemory.open(copy(sent.fd()), size, true, limit.account(7));
        first.release();
        sent.release();
    }

    @Test
    void aFileThatIsNotAsLargeAsAnnouncedIsNeitherMappedNorCounted() throws Exception {
        MappingLimit limit = MappingLimit.ofKernel();
        SharedMemory sent = SharedMemory.create("rpma-test", Posix.PAGE_SIZE);
        for (long announced : new long[] {0, -1, 2 * Posix.PAGE_SIZE, Posix.PAGE_SIZE - 1, 1L << 46, Long.MIN_VALUE}) {
            assertNull(SharedMemory.open(copy(sent.fd()), announced, true, limit.account(7)));
        }
        assertEquals(0, limit.bytes());
        sent.release();
    }

    /** A hole in a file of huge pages cannot be filled if no huge pages are free, and a process that accesses it is killed. */
    @Test
    void aFileThatCouldEndThisProcessIsNotMapped() throws Exception {
        MappingLimit limit = MappingLimit.ofKernel();
        int ordinary = Libc.memfdCreate("rpma-test");
        assertEquals(0, Libc.ftruncate(ordinary, Posix.PAGE_SIZE));
        assertNull(SharedMemory.open(ordinary, Posix.PAGE_SIZE, true, limit.account(7)), "not sealed");
        int[] pipe = new int[2];
        assertEquals(0, Libc.pipe(pipe));
        assertNull(SharedMemory.open(pipe[0], Posix.PAGE_SIZE, true, limit.account(7)), "a pipe is not memory");
        Posix.close(pipe[1]);
        assertEquals(0, limit.bytes());
    }

    private static int copy(int fd) {
        int copy = Posix.duplicate(fd);
        assertEquals(0, Math.min(0, copy));
        return copy;
    }
}
