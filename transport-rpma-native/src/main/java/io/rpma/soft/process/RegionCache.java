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
package io.rpma.soft.process;

import io.rpma.posix.Memory;
import io.rpma.soft.shared.RegionTable;
import io.rpma.soft.shared.RemoteRegion;
import io.rpma.soft.shared.SharedMemory;
import java.util.Arrays;

/**
 * The memory regions of one other process that have been found in its table, by key. Any thread that executes work requests may
 * look a region up; this allocates and locks nothing. The lock of the {@link RemoteProcess} guards all stores.
 */
public final class RegionCache {
    private static final RemoteRegion[] NO_REGIONS = new RemoteRegion[0];

    // Grows by replacement. The elements are immutable (final fields) and are checked by their key, so a reader needs no fence.
    private volatile RemoteRegion[] regions = NO_REGIONS;

    /** Returns the region of a key if it was found before, or {@code null}. For the data path: allocates and locks nothing. */
    public RemoteRegion known(int key) {
        RemoteRegion[] all = regions;
        int index = key & RegionTable.CAPACITY - 1;
        if (index >= all.length) {
            return null;
        }
        RemoteRegion region = all[index];
        return region != null && region.key() == key && region.isLive() ? region : null;
    }

    /** Adds a region, in place of an earlier one with the same index in the table. */
    void add(RemoteRegion region) {
        int index = region.key() & RegionTable.CAPACITY - 1;
        RemoteRegion[] all = regions;
        if (index >= all.length) {
            all = Arrays.copyOf(all, Math.max(16, Integer.highestOneBit(index) << 1));
        }
        all[index] = region;
        regions = all;
    }

    /**
     * Removes the regions that lie in memory that is about to be unmapped. The caller then waits for the operations of this
     * process that may have found them before ({@code LocalProcess.awaitOwn}).
     */
    void removeIn(SharedMemory memory) {
        RemoteRegion[] all = regions;
        for (int i = 0; i < all.length; i++) {
            RemoteRegion region = all[i];
            if (region != null && region.local() >= memory.address() && region.local() - memory.address() < memory.size()) {
                all[i] = null;
            }
        }
        // Orders the removal of the regions before the loads of Requester.busy in awaitOwn(). Requester.enter() stores "busy",
        // executes a fence and looks up the region: either it does not find the region, or it is waited for (row M38 of
        // docs/memory-order.md).
        Memory.fullFence();
    }

    /** Removes all regions. */
    void clear() {
        regions = NO_REGIONS;
    }
}
