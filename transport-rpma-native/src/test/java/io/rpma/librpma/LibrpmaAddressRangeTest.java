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
package io.rpma.librpma;

import io.rpma.AddressRange;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.AnonymousRange;
import io.rpma.posix.Posix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static io.rpma.librpma.LibrpmaConfigTest.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** This test does not need the library, but only system calls. */
class LibrpmaAddressRangeTest {
    private static final long PAGE = Posix.PAGE_SIZE;

    private AddressRange range;

    @BeforeEach
    void reserve() throws Exception {
        range = AnonymousRange.reserve(16 * PAGE);
    }

    @AfterEach
    void close() {
        range.close();
        range.close();
    }

    @Test
    void sizesAreWholePages() throws Exception {
        assertEquals(16 * PAGE, range.size());
        assertEquals(0, range.address() % PAGE);
        try (AddressRange odd = AnonymousRange.reserve(PAGE + 1)) {
            assertEquals(2 * PAGE, odd.size());
        }
        assertRefused(RpmaError.INVALID, "the size is 0 bytes", () -> AnonymousRange.reserve(0));
        assertRefused(RpmaError.INVALID, "the size is -1 bytes", () -> AnonymousRange.reserve(-1));
    }

    @Test
    void aRangeCanBeFarLargerThanTheMemory() throws Exception {
        try (AddressRange large = AnonymousRange.reserve(1L << 36)) {
            MemorySegment memory = large.commit((1L << 36) - PAGE, PAGE);
            memory.set(ValueLayout.JAVA_LONG, PAGE - 8, 7);
            assertEquals(large.address() + (1L << 36) - PAGE, memory.address());
        }
        RpmaException e = assertRefused(RpmaError.NO_MEMORY, "bytes of address space cannot be reserved",
            () -> AnonymousRange.reserve(1L << 60));
        assertEquals(Posix.ENOMEM, e.errno());
    }

    @Test
    void committedMemoryIsZeroAgainAfterDecommit() throws Exception {
        MemorySegment memory = range.commit(2 * PAGE, 3 * PAGE);
        assertEquals(range.address() + 2 * PAGE, memory.address());
        assertEquals(3 * PAGE, memory.byteSize());
        memory.fill((byte) 5);
        range.decommit(2 * PAGE, 3 * PAGE);
        assertThrows(IllegalStateException.class, () -> memory.get(ValueLayout.JAVA_BYTE, 0));
        MemorySegment again = range.commit(2 * PAGE, 3 * PAGE);
        for (long i = 0; i < again.byteSize(); i += 8) {
            assertEquals(0, again.get(ValueLayout.JAVA_LONG, i));
        }
    }

    @Test
    void partsThatOverlapAreRefused() throws Exception {
        range.commit(4 * PAGE, 2 * PAGE);
        assertRefused(RpmaError.INVALID, "already has memory: " + 2 * PAGE, () -> range.commit(4 * PAGE, 2 * PAGE));
        assertRefused(RpmaError.INVALID, "already has memory", () -> range.commit(5 * PAGE, PAGE));
        assertRefused(RpmaError.INVALID, "already has memory", () -> range.commit(3 * PAGE, 2 * PAGE));
        assertRefused(RpmaError.INVALID, "already has memory", () -> range.commit(0, 16 * PAGE));
        range.commit(6 * PAGE, PAGE);
        range.commit(3 * PAGE, PAGE);
    }

    @Test
    void partsThatAreNoneAreRefused() throws Exception {
        assertRefused(RpmaError.INVALID, "whole pages", () -> range.commit(1, PAGE));
        assertRefused(RpmaError.INVALID, "whole pages", () -> range.commit(0, PAGE - 1));
        assertRefused(RpmaError.INVALID, "whole pages", () -> range.commit(0, 0));
        assertRefused(RpmaError.INVALID, "whole pages", () -> range.commit(-PAGE, PAGE));
        assertRefused(RpmaError.INVALID, "whole pages", () -> range.commit(0, -PAGE));
        assertRefused(RpmaError.INVALID, "whole pages", () -> range.commit(16 * PAGE, PAGE));
        assertRefused(RpmaError.INVALID, "whole pages", () -> range.commit(PAGE, 16 * PAGE));
        assertRefused(RpmaError.INVALID, "whole pages", () -> range.commit(PAGE, Long.MAX_VALUE - PAGE + 1));
        range.commit(0, 2 * PAGE);
        assertRefused(RpmaError.INVALID, "no part of " + PAGE + " bytes", () -> range.decommit(0, PAGE));
        assertRefused(RpmaError.INVALID, "no part", () -> range.decommit(PAGE, PAGE));
        assertRefused(RpmaError.INVALID, "no part", () -> range.decommit(8 * PAGE, PAGE));
    }

    @Test
    void buffersLieOverCommittedMemory() throws Exception {
        MemorySegment first = range.commit(0, PAGE);
        range.commit(PAGE, PAGE);
        ByteBuffer buffer = range.buffer(PAGE - 8, 16);
        assertTrue(buffer.isDirect());
        assertEquals(ByteOrder.nativeOrder(), buffer.order());
        assertEquals(16, buffer.remaining());
        buffer.putLong(0, 0x0102030405060708L);
        assertEquals(0x0102030405060708L, first.get(ValueLayout.JAVA_LONG, PAGE - 8));
        assertEquals(0, range.buffer(5, 0).remaining());
        assertThrows(IndexOutOfBoundsException.class, () -> range.buffer(2 * PAGE - 8, 16));
        assertThrows(IndexOutOfBoundsException.class, () -> range.buffer(3 * PAGE, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> range.buffer(-1, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> range.buffer(0, -1));
        assertThrows(IndexOutOfBoundsException.class, () -> range.buffer(16 * PAGE, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> range.buffer(Long.MAX_VALUE, 1));
    }

    @Test
    void aClosedRangeGivesNothing() throws Exception {
        MemorySegment memory = range.commit(0, PAGE);
        range.close();
        assertThrows(IllegalStateException.class, () -> memory.get(ValueLayout.JAVA_BYTE, 0));
        assertRefused(RpmaError.INVALID, "the address range is closed", () -> range.commit(0, PAGE));
        assertRefused(RpmaError.INVALID, "the address range is closed", () -> range.decommit(0, PAGE));
        assertThrows(IndexOutOfBoundsException.class, () -> range.buffer(0, 1));
    }
}
