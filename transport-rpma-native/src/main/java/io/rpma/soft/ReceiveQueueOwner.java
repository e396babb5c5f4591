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

import io.rpma.soft.process.LocalReceiveQueue;

/**
 * What the parts of a shared receive queue need of it: an attachment, which has to find the queue pair that has an index
 * now, and the repair of overwritten take words. {@link SoftSharedReceiveQueue} is the one implementation.
 *
 * <p>Any thread may call any method.
 */
interface ReceiveQueueOwner extends LocalReceiveQueue {
    /** Returns the end of the queue pair that is attached with an index, or {@code null} if none is. */
    LocalEnd attachedEnd(int index);

    /**
     * Returns whether the peer of another queue pair than the one with this index names the receive that is posted at a position
     * as its own. This loads two words for each attached queue pair.
     */
    boolean isClaimed(int slot, int position, int except);

    /** Schedules a search for lost receives, because a take word that a process has overwritten has been found. */
    void scheduleRepair();

    boolean isClosed();

    /** Retains the shared memory unless the queue is closed; {@link #releaseMemory()} follows. Returns whether it did. */
    boolean retainMemory();

    /** Undoes {@link #retainMemory()}. */
    void releaseMemory();
}
