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

/** What a successful work completion completes ({@code enum ibv_wc_opcode}, the values that librpma produces). */
public enum CompletionOpcode {
    /** A send, with or without immediate data. */
    SEND(0),
    /** A write, with or without immediate data; also an atomic write where the device has no native one. */
    RDMA_WRITE(1),
    /** A read; also a flush where the device has no native one. */
    RDMA_READ(2),
    /** A native flush. */
    FLUSH(8),
    /** A native atomic write. */
    ATOMIC_WRITE(9),
    /** A received message. */
    RECV(128),
    /** The peer's write with immediate data, which took one posted receive. */
    RECV_RDMA_WITH_IMM(129),
    /** Any other value of the C enumeration. */
    OTHER(-1);

    private final int code;

    CompletionOpcode(int code) {
        this.code = code;
    }

    /** Returns the value of the C enumeration; -1 for {@link #OTHER}. */
    public int code() {
        return code;
    }

    /**
     * Returns the opcode of a value of the C enumeration.
     *
     * @param code an opcode of {@code struct ibv_wc}
     * @return the opcode, {@link #OTHER} if it is none that librpma's functions produce
     */
    public static CompletionOpcode of(int code) {
        return switch (code) {
            case 0 -> SEND;
            case 1 -> RDMA_WRITE;
            case 2 -> RDMA_READ;
            case 8 -> FLUSH;
            case 9 -> ATOMIC_WRITE;
            case 128 -> RECV;
            case 129 -> RECV_RDMA_WITH_IMM;
            default -> OTHER;
        };
    }
}
