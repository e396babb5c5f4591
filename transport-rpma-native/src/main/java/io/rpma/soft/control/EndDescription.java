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
package io.rpma.soft.control;

import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.SharedReceives;
import java.nio.ByteBuffer;

/**
 * The description of one end of a connection, which it sends to the other when it connects or accepts.
 *
 * @param high the upper half of the process's random identity
 * @param low the lower half of the process's random identity
 * @param link the number of the link between the two processes
 * @param slab the number of the file that contains its half
 * @param offset the offset of the half in that file
 * @param use the generation of the use of that memory
 * @param domain the protection domain
 * @param number the number of the queue pair
 * @param receiveCapacity positions of its ring of posted receives, 0 with a shared receive queue
 * @param ringCapacity positions of its ring of completions
 * @param completion the completion queue for its receives
 * @param queue the number of its shared receive queue, 0 if it has none
 * @param queueIndex its index in the shared receive queue
 * @param queueCapacity the positions of the shared receive queue
 */
public record EndDescription(long high, long low, long link, int slab, long offset, long use, int domain, int number,
        int receiveCapacity, int ringCapacity, int completion, int queue, int queueIndex, int queueCapacity) {
    /** Receives complete in the one completion queue. */
    public static final int MAIN = 0;
    /** Receives complete in a queue of their own. */
    public static final int OWN = 1;
    /** Receives complete in a queue of their own, which shares the descriptor. */
    public static final int OWN_SHARED_CHANNEL = 2;
    /** Receives complete in the completion queue of the shared receive queue. */
    public static final int QUEUE = 3;

    private static final int BYTES = 76;

    public void write(ByteBuffer target) {
        target.putLong(high).putLong(low).putLong(link).putInt(slab).putLong(offset).putLong(use).putInt(domain).putInt(number)
            .putInt(receiveCapacity).putInt(ringCapacity).putInt(completion).putInt(queue).putInt(queueIndex)
            .putInt(queueCapacity);
    }

    /** Reads a description. Returns {@code null} if it is not valid. */
    public static EndDescription read(ByteBuffer source) {
        if (source.remaining() < BYTES) {
            return null;
        }
        EndDescription end = new EndDescription(source.getLong(), source.getLong(), source.getLong(), source.getInt(),
            source.getLong(), source.getLong(), source.getInt(), source.getInt(), source.getInt(), source.getInt(),
            source.getInt(), source.getInt(), source.getInt(), source.getInt());
        return end.isSane() ? end : null;
    }

    private boolean isSane() {
        if (!isCapacity(ringCapacity) || completion < MAIN || completion > QUEUE) {
            return false;
        }
        if (queue == 0) {
            return isCapacity(receiveCapacity) && receiveCapacity == ringCapacity && completion != QUEUE;
        }
        return receiveCapacity == 0 && isCapacity(queueCapacity) && ringCapacity / 2 <= queueCapacity
            && queueIndex >= 0 && queueIndex < SharedReceives.MAX_ATTACHED;
    }

    private static boolean isCapacity(int value) {
        return value > 0 && value <= Half.MAX_CAPACITY && Integer.bitCount(value) == 1;
    }
}
