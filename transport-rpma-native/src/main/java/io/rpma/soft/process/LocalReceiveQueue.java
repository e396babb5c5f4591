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

import io.rpma.soft.shared.EventPipe;
import io.rpma.soft.shared.SharedMemory;
import io.rpma.soft.shared.SharedReceives;

/** A shared receive queue of this process, as far as it is shared with other processes. */
public interface LocalReceiveQueue {
    /** Returns the number of the queue within this process. */
    int id();

    /** Returns the file that initiators write. */
    SharedMemory memory();

    /** Returns the file of posted receives, which initiators only read. */
    SharedMemory posted();

    /** Returns the doorbell of the completion queue, {@code null} if the queue has no completion queue of its own. */
    EventPipe event();

    /** Returns a view for an initiator in this process, {@code null} if the queue has been closed. */
    SharedReceives view();
}
