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

import io.rpma.posix.Posix;
import io.rpma.soft.host.Libc;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the allocation of memory while signals arrive, and while there is too little memory. */
class AllocationTest {
    private static final long OFFSET = Posix.PAGE_SIZE;
    private static final long LENGTH = 3 * Allocation.PIECE + Posix.PAGE_SIZE;
    private static final int PUNCH = Libc.FALLOC_FL_PUNCH_HOLE | Libc.FALLOC_FL_KEEP_SIZE;

    private record Part(int mode, long offset, long length) {
    }

    private final int fd = Libc.memfdCreate("rpma-test");
    private final List<Part> calls = new ArrayList<>();

    AllocationTest() {
        assertEquals(0, Libc.ftruncate(fd, OFFSET + LENGTH));
    }

    @AfterEach
    void close() {
        Posix.close(fd);
    }

    /** Checks that the parts that were allocated are the whole, without gaps. */
    private void assertWhole() {
        long at = OFFSET;
        for (Part part : calls) {
            assertEquals(0, part.mode);
            assertEquals(at, part.offset);
            assertTrue(part.length > 0 && part.length <= Allocation.PIECE, "a signal undoes a long call: " + part);
            at += part.length;
        }
        assertEquals(OFFSET + LENGTH, at);
    }

    private int allocate(int file, int mode, long offset, long length) {
        calls.add(new Part(mode, offset, length));
        return Libc.fallocate(file, mode, offset, length);
    }

    @Test
    void allPagesAreAllocatedInPieces() {
        assertEquals(0, Allocation.allocate(this::allocate, fd, OFFSET, LENGTH));
        assertWhole();
    }

    /** The kernel undoes an allocation when a signal arrives, and does not repeat it. A profiler sends a signal all the time. */
    @Test
    void aSignalDoesNotEndTheAllocation() {
        int[] attempts = new int[1];
        assertEquals(0, Allocation.allocate((file, mode, offset, length) -> ++attempts[0] % 3 != 0 ? -Posix.EINTR
            : allocate(file, mode, offset, length), fd, OFFSET, LENGTH));
        assertWhole();
    }

    @Test
    void whatWasAllocatedIsFreedIfThereIsTooLittle() {
        assertEquals(-Posix.ENOMEM, Allocation.allocate((file, mode, offset, length) -> mode == 0 && calls.size() == 2
            ? -Posix.ENOMEM : allocate(file, mode, offset, length), fd, OFFSET, LENGTH));
        assertEquals(new Part(PUNCH, OFFSET, 2 * Allocation.PIECE), calls.getLast());
        assertEquals(3, calls.size());
    }

    @Test
    void nothingIsFreedIfNothingWasAllocated() {
        assertEquals(-Posix.ENOMEM, Allocation.allocate((file, mode, offset, length) -> {
            calls.add(new Part(mode, offset, length));
            return -Posix.ENOMEM;
        }, fd, OFFSET, LENGTH));
        assertEquals(1, calls.size());
    }
}
