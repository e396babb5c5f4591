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
package io.rpma.netty.receive;

import io.netty.buffer.ByteBuf;
import io.rpma.WorkCompletions;

/**
 * A completion of a receive that is kept for the thread that uses its queue pair.
 *
 * @param queuePair the number of the queue pair
 * @param slot the slot of the receive buffer, or {@link #NO_SLOT} if the receive has been posted again already
 * @param status the code of the status, 0 for success
 * @param bytes the length of the message
 * @param opcode the code of the opcode
 * @param hasImmediate whether the message has immediate data
 * @param immediate the immediate data
 * @param moved the message itself, which belongs to this object, if there is no slot; {@code null} if it is empty or was written
 *     into an area
 */
public record StreamArrival(int queuePair, int slot, int status, int bytes, int opcode, boolean hasImmediate, int immediate,
        ByteBuf moved) {
    /** The slot of a message that does not hold a receive any more. */
    public static final int NO_SLOT = -1;

    static StreamArrival of(WorkCompletions batch, int index) {
        return new StreamArrival(batch.queuePairNumber(index), (int) batch.context(index), batch.statusCode(index),
            batch.byteLength(index), batch.opcodeCode(index), batch.hasImmediate(index), batch.immediate(index), null);
    }

    /** Returns the same message after it has been moved out of its receive. */
    StreamArrival withoutReceive(ByteBuf message) {
        return new StreamArrival(queuePair, NO_SLOT, status, bytes, opcode, hasImmediate, immediate, message);
    }
}
