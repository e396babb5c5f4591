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
import io.rpma.soft.host.FaultPoints;
import io.rpma.soft.shared.SharedReceives;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The initiators that wait for a receive of a shared receive queue, on the owner's side. They have set their bits in the words at
 * {@link SharedReceives#WAITERS}. One of them is woken for each receive that is posted. They are woken in the order of their
 * bits, beginning each time after the one that was woken last. If all were woken for each receive, the time for a message would
 * grow with their number.
 *
 * <p>An initiator that has been woken may take no receive, for example because its process is stopped. Others are then woken
 * before the owner waits for completions, as many as there are receives that have not been taken. Any process that shares the
 * queue can overwrite the bits, so each initiator also looks for a receive from time to time ({@link StarvationTimer}).
 *
 * <p>Any thread may call any method. Nothing is guarded by a lock: of the threads that call {@link #wake} at the same time, one
 * wakes on behalf of all.
 */
final class ReceiveWaiters {
    private final long base;
    private final AttachmentTable attachments;
    // The number of initiators that still have to be woken. The thread that increases it from 0 wakes them.
    private final AtomicInteger owed = new AtomicInteger();
    // The index from which the next one is looked for. Used by the thread that wakes.
    private int next;

    /**
     * Creates the owner's view of the initiators.
     *
     * @param base the address of the file that initiators write
     */
    ReceiveWaiters(long base, AttachmentTable attachments) {
        this.base = base;
        this.attachments = attachments;
    }

    /** Returns whether some initiator waits. A thread that has posted a receive executes a full fence before it calls this. */
    boolean areThere() {
        return Memory.getInt(base + SharedReceives.WAITING) != 0;
    }

    /**
     * Wakes initiators that wait.
     *
     * @param receives the number of receives for which initiators are woken, one for each
     */
    void wake(int receives) {
        if (receives <= 0 || owed.getAndAdd(receives) != 0) {
            return;
        }
        int count = receives;
        try {
            while (count != 0) {
                wakeUpTo(count);
                count = owed.addAndGet(-count);
            }
        } finally {
            if (count != 0) {
                // A send that was continued here has failed with an error. Later calls must still wake.
                owed.set(0);
            }
        }
    }

    private void wakeUpTo(int count) {
        for (int i = 0; i < count; i++) {
            SharedReceiveAttachment attachment = takeNext();
            if (attachment == null) {
                reset();
                return;
            }
            attachment.wakePeer();
        }
    }

    /**
     * Resets {@link SharedReceives#WAITING}, because no bit has been found. An initiator sets its bit before it stores WAITING
     * (row M24 of docs/memory-order.md). If it has done both since the bits were checked, its bit is found now. Another thread
     * may have posted a receive and found WAITING reset meanwhile, so all whose bits are set are woken.
     */
    private void reset() {
        Memory.getAndSetInt(base + SharedReceives.WAITING, 0);
        SharedReceiveAttachment attachment = takeNext();
        if (attachment == null) {
            return;
        }
        Memory.getAndSetInt(base + SharedReceives.WAITING, 1);
        // The bound ends the loop although another process keeps setting bits.
        for (int i = attachments.count(); attachment != null && i > 0; i--) {
            attachment.wakePeer();
            attachment = takeNext();
        }
    }

    /**
     * Clears the bit of the next initiator that waits.
     *
     * @return the attachment of its connection, or {@code null} if no bit is set
     */
    private SharedReceiveAttachment takeNext() {
        int count = attachments.count();
        int words = count + 63 >>> 6;
        int start = next < count ? next : 0;
        // The first word is visited twice: from the start, and at the end as a whole.
        for (int i = 0; i < words + 1 && count > 0; i++) {
            int word = ((start >>> 6) + i) % words;
            long address = base + SharedReceives.WAITERS + word * 8L;
            long bits = Memory.getLongAcquire(address) & (i == 0 ? -1L << start : -1L);
            while (bits != 0) {
                long bit = bits & -bits;
                bits ^= bit;
                if (FaultPoints.ENABLED) {
                    FaultPoints.at("wakingWaiter");
                }
                if ((Memory.getAndBitwiseAndLong(address, ~bit) & bit) != 0) {
                    // Look the index up after its bit has been cleared. It may belong to another queue pair by now, which was
                    // published before its peer set the bit (rows M31 and M51 of docs/memory-order.md).
                    int index = (word << 6) + Long.numberOfTrailingZeros(bit);
                    SharedReceiveAttachment attachment = attachments.get(index);
                    if (attachment != null) {
                        next = index + 1;
                        return attachment;
                    }
                }
            }
        }
        return null;
    }
}
