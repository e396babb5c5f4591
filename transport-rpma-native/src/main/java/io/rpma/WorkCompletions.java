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

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A batch of work completions: a flyweight over an array of {@code struct ibv_wc}, filled by
 * {@link CompletionQueue#poll(WorkCompletions)} ({@code rpma_cq_get_wc}) and read by index. Reading allocates nothing.
 *
 * <p>Of an entry whose status is not zero only {@link #context}, {@link #status}, {@link #queuePairNumber} and
 * {@link #vendorError} mean anything; devices leave whatever they like in the rest.
 *
 * <p>The object belongs to one thread at a time. Its memory is freed when the object is no longer reachable.
 */
public final class WorkCompletions {
    /** Size of {@code struct ibv_wc} in bytes. */
    public static final long SIZEOF = 48;

    /** {@code IBV_WC_WITH_IMM}: the completion carries immediate data. */
    public static final int FLAG_WITH_IMMEDIATE = 2;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final boolean SWAP = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    // Offsets within struct ibv_wc, the same on all 64-bit Linux ABIs.
    private static final long WR_ID = 0;
    private static final long STATUS = 8;
    private static final long OPCODE = 12;
    private static final long VENDOR_ERR = 16;
    private static final long BYTE_LEN = 20;
    private static final long IMM_DATA = 24;
    private static final long QP_NUM = 28;
    private static final long WC_FLAGS = 36;

    private final MemorySegment entries;
    private final int capacity;

    /**
     * Creates a batch.
     *
     * @param capacity the largest number of completions that one poll takes, at least 1
     */
    public WorkCompletions(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity is " + capacity + "; a batch holds at least 1 work completion");
        }
        this.capacity = capacity;
        entries = Arena.ofAuto().allocate(SIZEOF * capacity, 8);
    }

    /** Returns the largest number of completions that one poll takes. */
    public int capacity() {
        return capacity;
    }

    /** Returns the memory behind the batch: {@link #capacity()} entries of {@link #SIZEOF} bytes. */
    public MemorySegment memory() {
        return entries;
    }

    /** Returns {@code wr_id}: the {@code op_context} that the work request was posted with. */
    public long context(int index) {
        return (long) LONG.get(entries, index * SIZEOF + WR_ID);
    }

    /** Returns the status as a number, 0 for success ({@code enum ibv_wc_status}). */
    public int statusCode(int index) {
        return (int) INT.get(entries, index * SIZEOF + STATUS);
    }

    /** Returns the status. */
    public CompletionStatus status(int index) {
        return CompletionStatus.of(statusCode(index));
    }

    /** Returns the opcode as a number ({@code enum ibv_wc_opcode}); valid if the status is success. */
    public int opcodeCode(int index) {
        return (int) INT.get(entries, index * SIZEOF + OPCODE);
    }

    /** Returns the opcode; valid if the status is success. */
    public CompletionOpcode opcode(int index) {
        return CompletionOpcode.of(opcodeCode(index));
    }

    /** Returns the device's own error number; valid if the status is not success. */
    public int vendorError(int index) {
        return (int) INT.get(entries, index * SIZEOF + VENDOR_ERR);
    }

    /** Returns the number of bytes received or read; valid for receives and reads that succeeded. */
    public int byteLength(int index) {
        return (int) INT.get(entries, index * SIZEOF + BYTE_LEN);
    }

    /** Returns whether the completion carries immediate data. */
    public boolean hasImmediate(int index) {
        return (flags(index) & FLAG_WITH_IMMEDIATE) != 0;
    }

    /** Returns the immediate data in host order; valid if {@link #hasImmediate}. */
    public int immediate(int index) {
        int networkOrder = (int) INT.get(entries, index * SIZEOF + IMM_DATA);
        return SWAP ? Integer.reverseBytes(networkOrder) : networkOrder;
    }

    /** Returns the number of the queue pair that completed, as {@link Connection#queuePairNumber()} gives it. */
    public int queuePairNumber(int index) {
        return (int) INT.get(entries, index * SIZEOF + QP_NUM);
    }

    /** Returns the flags ({@code enum ibv_wc_flags}); devices set bits of their own: mask the one that is meant. */
    public int flags(int index) {
        return (int) INT.get(entries, index * SIZEOF + WC_FLAGS);
    }

    /**
     * Returns one entry with the fields of librpma's old {@code rpma_cq_get_completion} (until 0.11).
     *
     * @param index the entry
     * @return a copy
     * @throws RpmaException {@link RpmaError#NOT_SUPPORTED} if the operation succeeded and is none that librpma posts
     */
    public RpmaCompletion completion(int index) throws RpmaException {
        return RpmaCompletion.of(this, index);
    }

    /**
     * Fills one entry; for providers in Java.
     *
     * @param index the entry
     * @param context {@code wr_id}
     * @param status {@code enum ibv_wc_status}
     * @param opcode {@code enum ibv_wc_opcode}
     * @param byteLength bytes received or read
     * @param immediate immediate data in host order
     * @param queuePairNumber the local queue pair
     * @param flags {@code enum ibv_wc_flags}
     */
    public void set(int index, long context, int status, int opcode, int byteLength, int immediate,
            int queuePairNumber, int flags) {
        long base = index * SIZEOF;
        LONG.set(entries, base + WR_ID, context);
        INT.set(entries, base + STATUS, status);
        INT.set(entries, base + OPCODE, opcode);
        INT.set(entries, base + VENDOR_ERR, 0);
        INT.set(entries, base + BYTE_LEN, byteLength);
        INT.set(entries, base + IMM_DATA, SWAP ? Integer.reverseBytes(immediate) : immediate);
        INT.set(entries, base + QP_NUM, queuePairNumber);
        INT.set(entries, base + WC_FLAGS, flags);
    }
}
