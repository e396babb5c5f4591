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
package io.rpma.tcp;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;

/**
 * The posted receives of a shared receive queue: any thread posts, any connection takes. The receive that was posted last is
 * taken first, because its buffer is still in the caches of the processor that has read it. Bounded; it allocates nothing.
 */
final class ReceiveStack {
    private static final int WORDS = 3;

    private final int size;
    private final SlotStack posted;
    private final SlotStack free;
    // A thread uses the elements of a slot between removing the slot from one stack and adding it to the other one.
    private final long[] words;
    private final TcpLocalMemoryRegion[] regions;

    ReceiveStack(int size) {
        this.size = size;
        int[] below = new int[size + 1];
        posted = new SlotStack(below);
        free = new SlotStack(below);
        for (int slot = size; slot > 0; slot--) {
            free.push(slot);
        }
        words = new long[(size + 1) * WORDS];
        regions = new TcpLocalMemoryRegion[size + 1];
    }

    /** Posts a receive whose arguments have been checked. */
    void post(TcpLocalMemoryRegion region, long offset, long length, long context) throws RpmaException {
        if (!tryPost(region, offset, length, context)) {
            throw TcpLog.failure(RpmaError.PROVIDER, Posix.ENOMEM, "shared receive queue full: " + size + " of " + size
                + " slots are posted; wait for messages first, or configure a larger queue"
                + " (SharedReceiveQueueConfig.receiveQueueSize)", null);
        }
    }

    private boolean tryPost(TcpLocalMemoryRegion region, long offset, long length, long context) {
        int slot = free.pop();
        if (slot == 0) {
            return false;
        }
        int word = slot * WORDS;
        words[word] = offset;
        words[word + 1] = length;
        words[word + 2] = context;
        regions[slot] = region;
        posted.push(slot);
        return true;
    }

    boolean isEmpty() {
        return posted.isEmpty();
    }

    /** Takes the receive that was posted last; returns whether there was one. */
    boolean take(Receives.Taken taken) {
        int slot = posted.pop();
        if (slot == 0) {
            return false;
        }
        int word = slot * WORDS;
        taken.offset = words[word];
        taken.length = words[word + 1];
        taken.context = words[word + 2];
        taken.region = regions[slot];
        regions[slot] = null;
        free.push(slot);
        return true;
    }

    /** Posts a receive again that was not used. There is no room only if another receive has been posted in its place. */
    boolean giveBack(Receives.Taken taken) {
        return tryPost(taken.region, taken.offset, taken.length, taken.context);
    }
}
