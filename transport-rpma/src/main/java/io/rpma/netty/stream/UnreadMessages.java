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

package io.rpma.netty.stream;

import io.netty.buffer.ByteBuf;
import io.rpma.netty.receive.StreamArrival;

/**
 * The messages of a stream that have arrived and have not been read, in their order. Each of them lies in the buffer of its
 * receive, in a buffer of its own, or in an area for large data.
 *
 * <p>Used by the thread that uses the queue pair.
 */
final class UnreadMessages {
    /** The slot of a message that no longer holds a receive, because it has a buffer of its own. */
    static final int NO_SLOT = StreamArrival.NO_SLOT;
    /** The slot of a message in an area for large data, which holds no receive either. */
    static final int AREA = -2;

    /** How many messages there is room for at first. The room grows, up to the number of receives of the connection. */
    private static final int FEW = 4;

    // Rings, whose lengths are the same power of two.
    private ByteBuf[] buffers = new ByteBuf[FEW];
    private int[] slots = new int[FEW];
    private int[] lengths = new int[FEW];
    private int head;
    private int count;

    int count() {
        return count;
    }

    /**
     * Appends a message.
     *
     * @param slot the slot of the receive that it holds, or one of the constants
     * @param bytes the length of its payload
     */
    void add(ByteBuf buf, int slot, int bytes) {
        if (count == buffers.length) {
            makeRoom();
        }
        int tail = head + count++ & buffers.length - 1;
        buffers[tail] = buf;
        slots[tail] = slot;
        lengths[tail] = bytes;
    }

    private void makeRoom() {
        ByteBuf[] moreBuffers = new ByteBuf[2 * count];
        int[] moreSlots = new int[2 * count];
        int[] moreLengths = new int[2 * count];
        for (int i = 0; i < count; i++) {
            int from = head + i & count - 1;
            moreBuffers[i] = buffers[from];
            moreSlots[i] = slots[from];
            moreLengths[i] = lengths[from];
        }
        buffers = moreBuffers;
        slots = moreSlots;
        lengths = moreLengths;
        head = 0;
    }

    /** Returns the slot of the oldest message. */
    int slot() {
        return slots[head];
    }

    /** Returns the length of the payload of the oldest message. */
    int bytes() {
        return lengths[head];
    }

    /** Returns the buffer of the oldest message, or {@code null} if it has been taken. */
    ByteBuf buffer() {
        return buffers[head];
    }

    /** Takes the buffer of the oldest message, which remains in the queue without it. */
    ByteBuf takeBuffer() {
        ByteBuf buf = buffers[head];
        buffers[head] = null;
        return buf;
    }

    /** Records that the oldest message no longer holds its receive. */
    void releaseSlot() {
        slots[head] = NO_SLOT;
    }

    /** Removes the oldest message, whose buffer has been taken. */
    void remove() {
        head = head + 1 & buffers.length - 1;
        count--;
    }
}
