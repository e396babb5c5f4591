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

package io.rpma.netty;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;

/**
 * The messages of a message channel that have arrived and have not been read, in their order. Each of them lies in the buffer of
 * its receive, or has been set aside in a buffer of its own. Messages are set aside all at once, so those come first.
 *
 * <p>Used by the thread that uses the queue pair.
 */
final class ArrivedMessages {
    /** How many messages have a place from the beginning. The number of places doubles if more messages arrive. */
    private static final int FEW = 16;

    private int[] slots = new int[FEW];
    private int[] lengths = new int[FEW];
    private int[] immediates = new int[FEW];
    private byte[] kinds = new byte[FEW];
    private ByteBuf[] contents = new ByteBuf[FEW];
    private int head;
    private int count;
    private int aside;

    /** Returns the number of messages. */
    int count() {
        return count;
    }

    /** Returns how many of the messages have been set aside. */
    int aside() {
        return aside;
    }

    /**
     * Appends a message.
     *
     * @param slot the slot of its receive
     * @param bytes its length
     * @param immediate its immediate data, or 0
     * @param kind what kind of message it is; the caller defines the kinds
     */
    void add(int slot, int bytes, int immediate, byte kind) {
        if (count == slots.length) {
            grow();
        }
        int tail = at(count++);
        slots[tail] = slot;
        lengths[tail] = bytes;
        immediates[tail] = immediate;
        kinds[tail] = kind;
    }

    private int at(int index) {
        // The number of places is a power of two.
        return head + index & slots.length - 1;
    }

    private void grow() {
        int places = slots.length;
        slots = unrolled(slots);
        lengths = unrolled(lengths);
        immediates = unrolled(immediates);
        byte[] newKinds = Arrays.copyOfRange(kinds, head, head + 2 * places);
        System.arraycopy(kinds, 0, newKinds, places - head, head);
        kinds = newKinds;
        ByteBuf[] newContents = Arrays.copyOfRange(contents, head, head + 2 * places);
        System.arraycopy(contents, 0, newContents, places - head, head);
        contents = newContents;
        head = 0;
    }

    /** Returns a copy of twice the length that begins with the oldest message. */
    private int[] unrolled(int[] values) {
        int[] copy = Arrays.copyOfRange(values, head, head + 2 * values.length);
        System.arraycopy(values, 0, copy, values.length - head, head);
        return copy;
    }

    /** Returns the slot of the receive of a message that has not been set aside; 0 is the oldest message. */
    int slot(int index) {
        return slots[at(index)];
    }

    /** Returns the length of a message in bytes; 0 is the oldest message. */
    int bytes(int index) {
        return lengths[at(index)];
    }

    /** Returns what kind of message it is; 0 is the oldest message. */
    byte kind(int index) {
        return kinds[at(index)];
    }

    /** Returns the immediate data of the oldest message. */
    int immediate() {
        return immediates[head];
    }

    /**
     * Sets the first message aside that has not been set aside yet. It no longer needs its receive.
     *
     * @param content its content, which now belongs to this queue, or {@code null} if this kind has none
     */
    void setAside(ByteBuf content) {
        contents[at(aside++)] = content;
    }

    /** Removes the oldest message. Returns its content if it has been set aside, which then belongs to the caller. */
    ByteBuf remove() {
        ByteBuf content = contents[head];
        contents[head] = null;
        head = at(1);
        count--;
        if (aside > 0) {
            aside--;
        }
        return content;
    }
}
