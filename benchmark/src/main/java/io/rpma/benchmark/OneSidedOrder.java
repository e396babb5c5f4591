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
package io.rpma.benchmark;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * A message between runs with which the client orders the server to do something that one-sided operations cannot do.
 *
 * @param task the task
 * @param bytes the size of the memory, or of each message
 * @param seed the seed of the content
 */
record OneSidedOrder(Task task, int bytes, long seed) {
    /** The tasks of a server. */
    enum Task {
        /** Fills the start of its memory. */
        FILL,
        /** Returns the checksum of the start of its memory. */
        SUM,
        /** Receives numbered messages, or notifications of numbered writes, until the end message arrives. */
        COUNT,
        /** Sends numbered messages back until the end message arrives. */
        ECHO
    }

    /** The size of an order in bytes. */
    static final int BYTES = 16;
    /** The size of an answer in bytes: the number of messages, and a checksum. */
    static final int ANSWER_BYTES = 12;
    /** The number of the end message of a run. */
    static final long END = -1;

    ByteBuf toMessage(ByteBufAllocator allocator) {
        return allocator.directBuffer(BYTES).writeInt(task.ordinal()).writeInt(bytes).writeLong(seed);
    }

    static OneSidedOrder read(ByteBuf message) {
        if (message.readableBytes() != BYTES) {
            throw new IllegalStateException("an order has " + BYTES + " bytes, not " + message.readableBytes());
        }
        return new OneSidedOrder(Task.values()[message.readInt()], message.readInt(), message.readLong());
    }
}
