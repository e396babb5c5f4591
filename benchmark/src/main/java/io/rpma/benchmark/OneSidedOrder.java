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
 * What the client asks the server to do beside being read and written: a message between runs.
 *
 * @param task what
 * @param bytes of memory, or of each message
 * @param seed of the content
 */
record OneSidedOrder(Task task, int bytes, long seed) {
    /** What a server does. */
    enum Task {
        /** Fills the beginning of its memory. */
        FILL,
        /** Returns the checksum of the beginning of its memory. */
        SUM,
        /** Takes numbered messages, or is told of numbered writes, until the one that ends that. */
        COUNT,
        /** Returns numbered messages until the one that ends that. */
        ECHO
    }

    /** How long an order is. */
    static final int BYTES = 16;
    /** How long the answer is: how many there were, and a checksum. */
    static final int ANSWER_BYTES = 12;
    /** The number of the message that ends a run. */
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
