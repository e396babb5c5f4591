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
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.PostedReceives;
import java.util.BitSet;

/**
 * One search for the receives of a shared receive queue that are lost because a process has overwritten their take words. Such a
 * receive is posted according to this process's record, but cannot be taken. That is also true of a receive that a queue pair has
 * taken and is about to complete; but the queue pair names the receive in {@link Half#BUSY_RECEIVE} before it takes it, and
 * publishes its completion before it names another one. So receives that are named, or completed in a ring, are left alone; if
 * the take word of a named receive is not valid, another search has to follow. A queue pair that never ends its operation keeps
 * the one receive that it names.
 *
 * <p>Used by the one thread that runs the repair ({@link ReceiveReclaimer}), so that nothing guards its fields. It takes no lock,
 * and has to be used while the memory of the queue is retained.
 */
final class LostReceives {
    private final PostedReceives receives;
    private final AttachmentTable attachments;
    // The observed state of each slot, FREE if it is not suspected.
    private final long[] suspects;
    // The observed take word of each suspected slot.
    private final long[] takes;
    private final BitSet lost;
    private boolean leftAny;

    /** Searches for lost receives. */
    LostReceives(PostedReceives receives, AttachmentTable attachments) {
        this.receives = receives;
        this.attachments = attachments;
        suspects = new long[receives.slots()];
        takes = new long[suspects.length];
        lost = new BitSet(suspects.length);
        for (int slot = 0; slot < suspects.length; slot++) {
            long state = receives.state(slot);
            if (state != PostedReceives.FREE) {
                int position = PostedReceives.position(state);
                long take = receives.takeOf(position);
                if (!receives.isFree(take, position)) {
                    suspects[slot] = state;
                    takes[slot] = take;
                    lost.set(slot);
                }
            }
        }
        // Orders the loads of the take words above before the loads of BUSY and BUSY_RECEIVE in exclude(). An initiator stores
        // these two before it takes a receive. If its take has been observed above, the later loads observe that it is busy with
        // the receive, or its completion is in the ring (row M34 of docs/memory-order.md).
        Memory.fullFence();
        for (SharedReceiveAttachment attachment : attachments.all()) {
            if (attachment != null && !lost.isEmpty()) {
                exclude(attachment);
            }
        }
    }

    private void exclude(SharedReceiveAttachment attachment) {
        long named = attachment.namedByPeer();
        if (named == SharedReceiveAttachment.NOTHING) {
            return;
        }
        int position = (int) named;
        int slot = suspectAt(position);
        if (slot != PostedReceives.NONE) {
            lost.clear(slot);
            // If the take word names this queue pair as the taker, the receive is given back when the queue pair ends.
            leftAny |= receives.takerOf(slot, position) != attachment.index() + 1;
        }
    }

    private int suspectAt(int position) {
        for (int slot = lost.nextSetBit(0); slot >= 0; slot = lost.nextSetBit(slot + 1)) {
            if (suspects[slot] == PostedReceives.posted(position)) {
                return slot;
            }
        }
        return PostedReceives.NONE;
    }

    /** Returns whether there is a receive that only a later search can find. */
    boolean hasLeftAny() {
        return leftAny;
    }

    /** Posts the lost receives again. Returns their number. */
    int giveBack() {
        for (int slot = lost.nextSetBit(0); slot >= 0; slot = lost.nextSetBit(slot + 1)) {
            if (receives.state(slot) != suspects[slot]) {
                lost.clear(slot);
            }
        }
        if (lost.isEmpty()) {
            return 0;
        }
        for (SharedReceiveAttachment attachment : attachments.all()) {
            if (attachment != null) {
                attachment.clearCompleted(lost);
            }
        }
        int count = 0;
        for (int slot = lost.nextSetBit(0); slot >= 0; slot = lost.nextSetBit(slot + 1)) {
            if (receives.endTakes(PostedReceives.position(suspects[slot]), takes[slot])) {
                count += receives.postAgain(slot, suspects[slot]) ? 1 : 0;
            } else {
                // The take word has changed since. A process may have made it valid again, and another one may have taken the
                // receive.
                leftAny = true;
            }
        }
        return count;
    }
}
