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

package io.rpma.soft;

import io.rpma.CompletionOpcode;

/** The operations of work requests, numbered so that a request holds them in a word. */
final class Operation {
    /** A send. */
    static final int SEND = 0;
    /** A send with immediate data. */
    static final int SEND_IMMEDIATE = 1;
    /** A write. */
    static final int WRITE = 2;
    /** A write with immediate data. */
    static final int WRITE_IMMEDIATE = 3;
    /** A read. */
    static final int READ = 4;
    /** An atomic write. */
    static final int ATOMIC_WRITE = 5;
    /** A flush to visibility. */
    static final int FLUSH_VISIBILITY = 6;
    /** A flush to persistence. */
    static final int FLUSH_PERSISTENT = 7;

    // The opcodes of their completions.
    private static final int[] OPCODES = {
        CompletionOpcode.SEND.code(), CompletionOpcode.SEND.code(), CompletionOpcode.RDMA_WRITE.code(),
        CompletionOpcode.RDMA_WRITE.code(), CompletionOpcode.RDMA_READ.code(), CompletionOpcode.RDMA_WRITE.code(),
        CompletionOpcode.RDMA_READ.code(), CompletionOpcode.RDMA_READ.code(),
    };

    private Operation() {
    }

    /** Returns the opcode of the completion of an operation. */
    static int opcode(int operation) {
        return OPCODES[operation];
    }

    /** Returns whether an operation takes a receive of the peer. */
    static boolean takesReceive(int operation) {
        return operation <= SEND_IMMEDIATE || operation == WRITE_IMMEDIATE;
    }
}
