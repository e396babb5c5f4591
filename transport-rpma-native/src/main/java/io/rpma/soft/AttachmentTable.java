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

import io.rpma.posix.Memory;
import io.rpma.soft.shared.SharedReceives;
import java.util.Arrays;
import java.util.BitSet;

/**
 * The queue pairs that are attached to a shared receive queue, by index. The index of a queue pair is the number of its bits in
 * the words that peers write ({@link SharedReceives}), and is reused after the queue pair has ended.
 *
 * <p>Any thread may look an attachment up, without a lock. The lock of this object guards the allocation of indexes and all
 * stores to the table.
 */
final class AttachmentTable {
    // The address of the file that initiators write.
    private final long base;
    private final BitSet indexes = new BitSet();
    // By index, with null elements. The volatile field is stored again after an element is added, and thereby publishes it. The
    // removal of an element is not published: a reader may find an attachment that has been removed.
    private volatile SharedReceiveAttachment[] attachments = new SharedReceiveAttachment[0];

    /**
     * Creates an empty table.
     *
     * @param base the address of the file that initiators write
     */
    AttachmentTable(long base) {
        this.base = base;
    }

    /** Allocates an index, or returns -1 if all are in use. */
    synchronized int allocate() {
        int index = indexes.nextClearBit(0);
        if (index >= SharedReceives.MAX_ATTACHED) {
            return -1;
        }
        indexes.set(index);
        return index;
    }

    /** Makes an attachment available by its index, whose bits are cleared. */
    synchronized void publish(SharedReceiveAttachment attachment) {
        SharedReceiveAttachment[] all = attachments;
        int index = attachment.index();
        if (index >= all.length) {
            all = Arrays.copyOf(all, Math.max(8, index * 2));
        }
        all[index] = attachment;
        attachments = all;
        clearBit(SharedReceives.READY, index);
        clearBit(SharedReceives.WAITERS, index);
    }

    private void clearBit(int words, int index) {
        Memory.getAndBitwiseAndLong(base + words + (index >>> 6) * 8L, ~(1L << index));
    }

    /** Releases the index of an attachment. A thread that has looked it up before may still use it. */
    synchronized void remove(SharedReceiveAttachment attachment) {
        SharedReceiveAttachment[] all = attachments;
        all[attachment.index()] = null;
        attachments = all;
        indexes.clear(attachment.index());
    }

    /** Returns a number that is larger than the indexes of all attachments. */
    int count() {
        return attachments.length;
    }

    /** Returns the attachment with an index, or {@code null}. */
    SharedReceiveAttachment get(int index) {
        SharedReceiveAttachment[] all = attachments;
        return index < all.length ? all[index] : null;
    }

    /** Returns the attachments by index, with {@code null} elements; the caller must not change the array. */
    SharedReceiveAttachment[] all() {
        return attachments;
    }
}
