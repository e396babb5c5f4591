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

/**
 * A work completion in the form of librpma up to 0.11 ({@code struct rpma_completion} of {@code rpma_cq_get_completion}), for
 * code that was written for it. It is a copy, with the old names; {@link WorkCompletions} has more fields and copies nothing.
 *
 * <p>The mapping is the one of the old manual page: {@code op_context} is {@code wr_id}, {@code op_status} is {@code status},
 * {@code byte_len} and {@code flags} have kept their names, {@code op} stands for an {@code opcode}, and {@code imm} is
 * {@code imm_data} in host order, which only a receive has. If the status is not success, only the context and the status are
 * valid.
 *
 * @param opContext what the operation was posted with
 * @param op the kind of operation; {@code null} if the status is not success
 * @param byteLen the number of bytes transferred, unsigned (see {@link WorkCompletions#byteLength}); 0 if the status is not
 *     success
 * @param opStatus how the operation ended
 * @param flags {@code enum ibv_wc_flags}; 0 if the status is not success
 * @param imm the immediate data in host order; 0 unless a receive succeeded with {@link WorkCompletions#FLAG_WITH_IMMEDIATE}
 */
public record RpmaCompletion(long opContext, Operation op, int byteLen, CompletionStatus opStatus, int flags, int imm) {
    /** The kind of operation ({@code enum rpma_op}). */
    public enum Operation {
        /** {@code RPMA_OP_READ}: a read; also a flush where the device has no native one. */
        READ,
        /** {@code RPMA_OP_WRITE}: a write; also an atomic write. */
        WRITE,
        /** {@code RPMA_OP_FLUSH}: a native flush; the library defined the name before any device supported it. */
        FLUSH,
        /** {@code RPMA_OP_SEND}: a sent message. */
        SEND,
        /** {@code RPMA_OP_RECV}: a received message. */
        RECV,
        /** {@code RPMA_OP_RECV_RDMA_WITH_IMM}: the peer's write with immediate data, which took one posted receive. */
        RECV_RDMA_WITH_IMM
    }

    /**
     * Copies one entry of a batch.
     *
     * @param completions the batch
     * @param index the entry
     * @throws RpmaException {@link RpmaError#NOT_SUPPORTED} if the operation succeeded and is none that librpma posts
     */
    static RpmaCompletion of(WorkCompletions completions, int index) throws RpmaException {
        long context = completions.context(index);
        CompletionStatus status = completions.status(index);
        if (status != CompletionStatus.SUCCESS) {
            return new RpmaCompletion(context, null, 0, status, 0, 0);
        }
        Operation operation = switch (completions.opcode(index)) {
            case RDMA_READ -> Operation.READ;
            case RDMA_WRITE, ATOMIC_WRITE -> Operation.WRITE;
            case FLUSH -> Operation.FLUSH;
            case SEND -> Operation.SEND;
            case RECV -> Operation.RECV;
            case RECV_RDMA_WITH_IMM -> Operation.RECV_RDMA_WITH_IMM;
            case OTHER -> throw new RpmaException(RpmaError.NOT_SUPPORTED, "the work completion has the opcode "
                + completions.opcodeCode(index) + ", which no function of librpma posts");
        };
        boolean received = operation == Operation.RECV || operation == Operation.RECV_RDMA_WITH_IMM;
        return new RpmaCompletion(context, operation, completions.byteLength(index), status, completions.flags(index),
            received && completions.hasImmediate(index) ? completions.immediate(index) : 0);
    }
}
