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
import java.nio.ByteOrder;

/**
 * A batch of work completions ({@code struct ibv_wc}), filled by {@link CompletionQueue#poll(WorkCompletions)}
 * ({@code rpma_cq_get_wc}) and read by index. Reading allocates nothing.
 *
 * <p>Of an entry whose status is not zero only {@link #context}, {@link #status}, {@link #queuePairNumber} and
 * {@link #vendorError} are valid; devices leave arbitrary values in the other fields.
 *
 * <p>The object belongs to one thread at a time. Its memory is freed when the object is no longer reachable.
 */
public final class WorkCompletions {
    /** Size of {@code struct ibv_wc} in bytes. */
    public static final long SIZEOF = 48;

    /** {@code IBV_WC_WITH_IMM}: the completion carries immediate data. */
    public static final int FLAG_WITH_IMMEDIATE = 2;

    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    // Offsets within struct ibv_wc, in words of 4 bytes; the same on all 64-bit Linux ABIs.
    private static final int WORDS = (int) SIZEOF / Integer.BYTES;
    private static final int WR_ID = 0;
    private static final int STATUS = 2;
    private static final int OPCODE = 3;
    private static final int VENDOR_ERR = 4;
    private static final int BYTE_LEN = 5;
    private static final int IMM_DATA = 6;
    private static final int QP_NUM = 7;
    private static final int WC_FLAGS = 9;

    // A Java array instead of native memory: in interpreted code each access to native memory makes a dozen calls.
    private final int[] entries;
    private final int capacity;
    // Null until memory() is called.
    private MemorySegment memory;

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
        entries = new int[Math.multiplyExact(capacity, WORDS)];
    }

    /** Returns the largest number of completions that one poll takes. */
    public int capacity() {
        return capacity;
    }

    /**
     * Returns memory for {@link #capacity()} entries of {@link #SIZEOF} bytes, for providers in C: the device writes the entries
     * there, and {@link #load} copies them to this object.
     */
    public MemorySegment memory() {
        if (memory == null) {
            memory = Arena.ofAuto().allocate(SIZEOF * capacity, Long.BYTES);
        }
        return memory;
    }

    /**
     * Fills the first entries with the content of {@link #memory()}; for providers in C.
     *
     * @param count the number of entries
     */
    public void load(int count) {
        MemorySegment.copy(memory(), ValueLayout.JAVA_INT, 0, entries, 0, count * WORDS);
    }

    /** Returns {@code wr_id}: the {@code op_context} that the work request was posted with. */
    public long context(int index) {
        int at = index * WORDS + WR_ID;
        return LITTLE_ENDIAN ? entries[at] & 0xffff_ffffL | (long) entries[at + 1] << 32
            : entries[at + 1] & 0xffff_ffffL | (long) entries[at] << 32;
    }

    /** Returns the status as a number, 0 for success ({@code enum ibv_wc_status}). */
    public int statusCode(int index) {
        return entries[index * WORDS + STATUS];
    }

    /** Returns the status. */
    public CompletionStatus status(int index) {
        return CompletionStatus.of(statusCode(index));
    }

    /** Returns the opcode as a number ({@code enum ibv_wc_opcode}); valid if the status is success. */
    public int opcodeCode(int index) {
        return entries[index * WORDS + OPCODE];
    }

    /** Returns the opcode; valid if the status is success. */
    public CompletionOpcode opcode(int index) {
        return CompletionOpcode.of(opcodeCode(index));
    }

    /** Returns the device's own error number; valid if the status is not success. */
    public int vendorError(int index) {
        return entries[index * WORDS + VENDOR_ERR];
    }

    /**
     * Returns the number of bytes received or read; valid for receives and reads that succeeded. The number is unsigned: for a
     * message of 2 GiB or more it is negative, and {@link Integer#toUnsignedLong} converts it.
     */
    public int byteLength(int index) {
        return entries[index * WORDS + BYTE_LEN];
    }

    /** Returns whether the completion carries immediate data. */
    public boolean hasImmediate(int index) {
        return (flags(index) & FLAG_WITH_IMMEDIATE) != 0;
    }

    /** Returns the immediate data in host order; valid if {@link #hasImmediate}. */
    public int immediate(int index) {
        int networkOrder = entries[index * WORDS + IMM_DATA];
        return LITTLE_ENDIAN ? Integer.reverseBytes(networkOrder) : networkOrder;
    }

    /** Returns the number of the queue pair that completed, as {@link Connection#queuePairNumber()} gives it. */
    public int queuePairNumber(int index) {
        return entries[index * WORDS + QP_NUM];
    }

    /** Returns the flags ({@code enum ibv_wc_flags}). Test single bits, because devices also set bits of their own. */
    public int flags(int index) {
        return entries[index * WORDS + WC_FLAGS];
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
     * @param byteLength bytes received or read, unsigned
     * @param immediate immediate data in host order
     * @param queuePairNumber the local queue pair
     * @param flags {@code enum ibv_wc_flags}
     */
    public void set(int index, long context, int status, int opcode, int byteLength, int immediate,
            int queuePairNumber, int flags) {
        int at = index * WORDS;
        entries[at + (LITTLE_ENDIAN ? 0 : 1)] = (int) context;
        entries[at + (LITTLE_ENDIAN ? 1 : 0)] = (int) (context >>> 32);
        entries[at + STATUS] = status;
        entries[at + OPCODE] = opcode;
        entries[at + VENDOR_ERR] = 0;
        entries[at + BYTE_LEN] = byteLength;
        entries[at + IMM_DATA] = LITTLE_ENDIAN ? Integer.reverseBytes(immediate) : immediate;
        entries[at + QP_NUM] = queuePairNumber;
        entries[at + WC_FLAGS] = flags;
    }
}
