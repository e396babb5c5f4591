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
package io.rpma;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.assertThrows;

class RpmaCompletionTest {
    private static final int GRH = 1;

    private final WorkCompletions completions = new WorkCompletions(2);

    @ParameterizedTest
    @CsvSource({
        "0, SEND", "1, WRITE", "2, READ", "8, FLUSH", "9, WRITE", "128, RECV", "129, RECV_RDMA_WITH_IMM",
    })
    void mapsOpcodes(int opcode, RpmaCompletion.Operation expected) throws Exception {
        completions.set(1, -2L, 0, opcode, 4711, 0, 17, 0);
        RpmaCompletion completion = completions.completion(1);
        assertEquals(expected, completion.op());
        assertEquals(-2L, completion.opContext());
        assertEquals(4711, completion.byteLen());
        assertEquals(CompletionStatus.SUCCESS, completion.opStatus());
        assertEquals(0, completion.flags());
    }

    @Test
    void immediateDataIsInHostOrder() throws Exception {
        int flags = GRH | WorkCompletions.FLAG_WITH_IMMEDIATE;
        completions.set(0, 1, 0, 128, 64, 0x01020304, 17, flags);
        RpmaCompletion completion = completions.completion(0);
        assertEquals(0x01020304, completion.imm());
        assertEquals(flags, completion.flags());
    }

    /** A device writes {@code struct ibv_wc}, in which immediate data is in network order. */
    @Test
    void entriesOfADevice() throws Exception {
        WorkCompletions batch = new WorkCompletions(2);
        MemorySegment second = batch.memory().asSlice(WorkCompletions.SIZEOF);
        second.set(ValueLayout.JAVA_LONG, 0, 0x8877_6655_4433_2211L);
        second.set(ValueLayout.JAVA_INT, 8, CompletionStatus.SUCCESS.code());
        second.set(ValueLayout.JAVA_INT, 12, CompletionOpcode.RECV.code());
        second.set(ValueLayout.JAVA_INT, 16, 7);
        second.set(ValueLayout.JAVA_INT, 20, 64);
        for (int i = 0; i < 4; i++) {
            second.set(ValueLayout.JAVA_BYTE, 24 + i, (byte) (i + 1));
        }
        second.set(ValueLayout.JAVA_INT, 28, 17);
        second.set(ValueLayout.JAVA_INT, 36, GRH | WorkCompletions.FLAG_WITH_IMMEDIATE);
        batch.load(2);
        assertEquals(0x8877_6655_4433_2211L, batch.context(1));
        assertEquals(CompletionStatus.SUCCESS, batch.status(1));
        assertEquals(CompletionOpcode.RECV, batch.opcode(1));
        assertEquals(7, batch.vendorError(1));
        assertEquals(64, batch.byteLength(1));
        assertTrue(batch.hasImmediate(1));
        assertEquals(0x01020304, batch.immediate(1));
        assertEquals(17, batch.queuePairNumber(1));
    }

    @Test
    void onlyReceivesHaveImmediateData() throws Exception {
        completions.set(0, 1, 0, 0, 64, 99, 17, WorkCompletions.FLAG_WITH_IMMEDIATE);
        assertEquals(0, completions.completion(0).imm());
        completions.set(0, 1, 0, 128, 64, 99, 17, GRH);
        assertEquals(0, completions.completion(0).imm());
        completions.set(0, 1, 0, 129, 64, 99, 17, WorkCompletions.FLAG_WITH_IMMEDIATE);
        assertEquals(99, completions.completion(0).imm());
    }

    @Test
    void ofAFailureOnlyContextAndStatusCount() throws Exception {
        // Devices leave arbitrary values in the other fields. None of them may be returned, and an unknown opcode must not cause
        // an exception.
        completions.set(0, 42, CompletionStatus.WR_FLUSH_ERR.code(), 77, 4711, 99, 17, WorkCompletions.FLAG_WITH_IMMEDIATE);
        RpmaCompletion completion = completions.completion(0);
        assertEquals(42, completion.opContext());
        assertEquals(CompletionStatus.WR_FLUSH_ERR, completion.opStatus());
        assertNull(completion.op());
        assertEquals(0, completion.byteLen());
        assertEquals(0, completion.flags());
        assertEquals(0, completion.imm());
    }

    @Test
    void anOpcodeThatLibrpmaNeverPostsIsNotSupported() {
        completions.set(0, 1, 0, 3, 0, 0, 17, 0);
        RpmaException e = assertThrows(RpmaException.class, () -> completions.completion(0));
        assertEquals(RpmaError.NOT_SUPPORTED, e.error());
        assertEquals("the work completion has the opcode 3, which no function of librpma posts", e.getMessage());
    }

    @Test
    void anEntryBeyondTheBatchIsRefused() {
        assertThrows(IndexOutOfBoundsException.class, () -> completions.completion(2));
    }
}
