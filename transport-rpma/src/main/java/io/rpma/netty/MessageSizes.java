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

import io.rpma.ConnectionConfig;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;

/**
 * The queues of a message channel and their sizes.
 *
 * @param receiveBytes the longest message that this end receives
 * @param receives the slots of the receive queue, each with a buffer
 * @param sendQueue the slots of the send queue
 * @param shared the queue that the receives come from, or {@code null} for a receive queue of its own
 * @param receiveCompletionQueue whether receives have a completion queue of their own
 * @param peerReceiveBytes the longest message that the peer receives, as far as it is known
 */
record MessageSizes(int receiveBytes, int receives, int sendQueue, RpmaSharedReceiveQueue shared,
        boolean receiveCompletionQueue, long peerReceiveBytes) {
    /**
     * Returns how many receives can complete before one of them has been handled: one connection may take all that are shared.
     */
    int receivable() {
        return shared != null ? shared.slots() : receives;
    }

    /** Returns the same queues for a connection that is only refused, for which no receives of its own are posted. */
    MessageSizes withoutReceives() {
        return shared != null ? this : new MessageSizes(receiveBytes, 0, sendQueue, null, receiveCompletionQueue,
            peerReceiveBytes);
    }

    /** Creates the configuration; the caller must close it. */
    ConnectionConfig newConfig(Fabric fabric, int timeoutMillis) throws RpmaException {
        ConnectionConfig config = fabric.provider().newConnectionConfig();
        try {
            int most = fabric.limits().maxCompletionQueueSize();
            config.timeoutMillis(timeoutMillis)
                .sendQueueSize(sendQueue)
                .completionQueueSize(receiveCompletionQueue ? sendQueue : Math.min(sendQueue + receivable(), most));
            if (receiveCompletionQueue) {
                // A shared completion channel gives one descriptor to watch instead of two.
                config.receiveCompletionQueueSize(Math.min(receivable(), most)).sharedCompletionChannel(true);
            }
            // One connection may take all receives of a shared receive queue.
            config.receiveQueueSize(Math.min(receivable(), fabric.limits().maxQueuePairWorkRequests()));
            return shared != null ? config.sharedReceiveQueue(shared.on(fabric)) : config;
        } catch (RpmaException | RuntimeException e) {
            config.close();
            throw e;
        }
    }
}
