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
package io.rpma.contract;

import io.rpma.AddressRange;
import io.rpma.CompletionFlag;
import io.rpma.LocalMemoryRegion;
import io.rpma.posix.Posix;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

import static io.rpma.RpmaError.INVALID;
import static io.rpma.contract.Contract.PROVIDER;
import static io.rpma.contract.Contract.refused;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests reserved address ranges and the memory that is committed in them. */
class AddressRangeContractTest extends ContractCase {
    private static final long PAGE = Posix.PAGE_SIZE;

    @Test
    void sizeIsRoundedUpToWholePages() throws Exception {
        AddressRange range = scope.own(PROVIDER.reserve(PAGE + 1));
        assertEquals(2 * PAGE, range.size());
        assertEquals(0, range.address() % PAGE);
    }

    @Test
    void addressesCostNoMemory() throws Exception {
        AddressRange range = scope.own(PROVIDER.reserve(1L << 36));
        assertEquals(1L << 36, range.size());
        MemorySegment end = range.commit((1L << 36) - PAGE, PAGE);
        end.set(JAVA_BYTE, PAGE - 1, (byte) 1);
    }

    @Test
    void emptyOrNegativeRangeIsRefused() {
        refused(INVALID, () -> PROVIDER.reserve(0));
        refused(INVALID, () -> PROVIDER.reserve(-1));
    }

    @Test
    void memoryIsZeroedAndAtItsPlace() throws Exception {
        AddressRange range = scope.own(PROVIDER.reserve(16 * PAGE));
        MemorySegment memory = range.commit(4 * PAGE, 2 * PAGE);
        assertEquals(range.address() + 4 * PAGE, memory.address());
        assertEquals(2 * PAGE, memory.byteSize());
        for (long i = 0; i < memory.byteSize(); i++) {
            assertEquals(0, memory.get(JAVA_BYTE, i));
        }
        memory.fill((byte) 1);
    }

    @Test
    void memoryOutsideTheRangeIsRefused() throws Exception {
        AddressRange range = scope.own(PROVIDER.reserve(4 * PAGE));
        refused(INVALID, () -> range.commit(4 * PAGE, PAGE));
        refused(INVALID, () -> range.commit(3 * PAGE, 2 * PAGE));
        refused(INVALID, () -> range.commit(-PAGE, PAGE));
        refused(INVALID, () -> range.commit(PAGE, Long.MAX_VALUE / PAGE * PAGE));
    }

    @Test
    void memoryComesInWholePages() throws Exception {
        AddressRange range = scope.own(PROVIDER.reserve(4 * PAGE));
        refused(INVALID, () -> range.commit(1, PAGE));
        refused(INVALID, () -> range.commit(0, PAGE + 1));
        refused(INVALID, () -> range.commit(0, 0));
        refused(INVALID, () -> range.commit(0, -PAGE));
    }

    @Test
    void placeThatHasMemoryIsRefused() throws Exception {
        AddressRange range = scope.own(PROVIDER.reserve(8 * PAGE));
        MemorySegment memory = range.commit(2 * PAGE, 2 * PAGE);
        memory.fill((byte) 5);
        refused(INVALID, () -> range.commit(2 * PAGE, 2 * PAGE));
        refused(INVALID, () -> range.commit(PAGE, 2 * PAGE));
        refused(INVALID, () -> range.commit(3 * PAGE, 2 * PAGE));
        assertEquals(5, memory.get(JAVA_BYTE, 0));
        range.commit(4 * PAGE, PAGE);
        range.commit(PAGE, PAGE);
    }

    @Test
    void memoryIsGivenBackAsItWasPlaced() throws Exception {
        AddressRange range = scope.own(PROVIDER.reserve(8 * PAGE));
        range.commit(0, 2 * PAGE).fill((byte) 5);
        refused(INVALID, () -> range.decommit(4 * PAGE, PAGE));
        refused(INVALID, () -> range.decommit(0, PAGE));
        refused(INVALID, () -> range.decommit(PAGE, PAGE));
        range.decommit(0, 2 * PAGE);
        refused(INVALID, () -> range.decommit(0, 2 * PAGE));
        MemorySegment again = range.commit(0, 2 * PAGE);
        assertEquals(0, again.get(JAVA_BYTE, 0));
        assertEquals(0, again.get(JAVA_BYTE, 2 * PAGE - 1));
    }

    @Test
    void bufferLooksAtTheMemory() throws Exception {
        AddressRange range = scope.own(PROVIDER.reserve(4 * PAGE));
        MemorySegment memory = range.commit(PAGE, PAGE);
        ByteBuffer buffer = range.buffer(PAGE + 16, 32);
        assertEquals(ByteOrder.nativeOrder(), buffer.order());
        assertEquals(32, buffer.remaining());
        assertTrue(buffer.isDirect());
        buffer.put(3, (byte) 42);
        assertEquals(42, memory.get(JAVA_BYTE, 19));
        memory.set(JAVA_BYTE, 47, (byte) 43);
        assertEquals(43, buffer.get(31));
    }

    @Test
    void bufferOutsideTheMemoryIsRefused() throws Exception {
        AddressRange range = scope.own(PROVIDER.reserve(4 * PAGE));
        range.commit(PAGE, PAGE);
        assertNoBuffer(range, PAGE - 1, 2);
        assertNoBuffer(range, 2 * PAGE - 1, 2);
        assertNoBuffer(range, -1, 1);
        assertNoBuffer(range, PAGE, -1);
        assertNoBuffer(range, Long.MAX_VALUE, 1);
        assertNoBuffer(range, Long.MAX_VALUE, Integer.MAX_VALUE);
    }

    private static void assertNoBuffer(AddressRange range, long offset, int length) {
        RuntimeException failure = assertThrows(RuntimeException.class, () -> range.buffer(offset, length));
        assertTrue(failure instanceof IllegalArgumentException || failure instanceof IndexOutOfBoundsException,
            failure.toString());
    }

    /** One region may cover several adjacent pieces. */
    @Test
    void neighbouringPiecesMakeOneRegion() throws Exception {
        Pair pair = pair();
        AddressRange range = pair.own(PROVIDER.reserve(4 * PAGE));
        range.commit(0, PAGE);
        range.commit(PAGE, PAGE);
        MemorySegment both = MemorySegment.ofAddress(range.address()).reinterpret(2 * PAGE);
        LocalMemoryRegion region = pair.own(pair.peer.register(both, Memory.ALL));
        pair.server.receive(region, PAGE - 100, 200, 1);
        Memory.fill(pair.clientMemory, 0, 200, 4);
        pair.client.send(pair.clientMemory, 0, 200, CompletionFlag.ALWAYS, 2);
        Wait.success(pair.server.completionQueue());
        Memory.assertFilled(region, PAGE - 100, 200, 4);
        pair.client.write(pair.own(Pair.remote(region)), PAGE - 10, pair.clientMemory, 0, 20, CompletionFlag.ALWAYS, 3);
        Wait.successes(pair.client.completionQueue(), 2);
        Memory.assertFilled(region, PAGE - 10, 20, 4);
    }

    @Test
    void memoryComesAndGoes() throws Exception {
        AddressRange range = scope.own(PROVIDER.reserve(8 * PAGE));
        for (int i = 0; i < 500; i++) {
            range.commit(PAGE, 4 * PAGE).fill((byte) i);
            range.decommit(PAGE, 4 * PAGE);
        }
    }

    @Test
    void closedRangeIsRefused() throws Exception {
        AddressRange range = PROVIDER.reserve(4 * PAGE);
        range.commit(0, PAGE);
        range.close();
        range.close();
        refused(INVALID, () -> range.commit(PAGE, PAGE));
        refused(INVALID, () -> range.decommit(0, PAGE));
    }
}
