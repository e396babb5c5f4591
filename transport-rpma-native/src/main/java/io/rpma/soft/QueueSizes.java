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

import io.rpma.ConnectionConfig;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.soft.host.SoftLog;
import io.rpma.software.ConnectionSettings;

/**
 * The sizes of the queues of a connection, read once from a configuration and checked.
 *
 * @param timeoutMillis for reaching the other side
 * @param completions entries of the completion queue
 * @param receiveCompletions entries of the receive completion queue, 0 for none
 * @param sends slots of the send queue
 * @param receives slots of the receive queue
 * @param sharedChannel whether both completion queues share a descriptor
 * @param sharedReceiveQueue the shared receive queue, or {@code null}
 */
record QueueSizes(int timeoutMillis, int completions, int receiveCompletions, int sends, int receives,
        boolean sharedChannel, SoftSharedReceiveQueue sharedReceiveQueue) {
    /** Reads a configuration for connections of a peer; {@code null} stands for the defaults. */
    static QueueSizes of(ConnectionConfig given, ProtectionDomain domain) throws RpmaException {
        ConnectionConfig config = given != null ? given : new ConnectionSettings(SoftLog.INSTANCE);
        SharedReceiveQueue shared = config.sharedReceiveQueue();
        SoftSharedReceiveQueue queue = null;
        if (shared != null) {
            if (!(shared instanceof SoftSharedReceiveQueue soft) || soft.domain() != domain) {
                throw SoftLog.failure(RpmaError.INVALID,
                    "the shared receive queue of the configuration belongs to another peer");
            }
            queue = soft;
            ConnectionSettings.checkDescriptors(SoftLog.INSTANCE, config, soft.completions() != null);
        }
        QueueSizes sizes = new QueueSizes(config.timeoutMillis(), config.completionQueueSize(),
            queue != null && queue.completions() != null ? 0 : config.receiveCompletionQueueSize(), config.sendQueueSize(),
            config.receiveQueueSize(), config.isSharedCompletionChannel(), queue);
        Limits.check("sendQueueSize", sizes.sends, 0, Limits.MAX_WORK_REQUESTS);
        Limits.check("receiveQueueSize", sizes.receives, 0, Limits.MAX_WORK_REQUESTS);
        Limits.check("completionQueueSize", sizes.completions, 1, Limits.MAX_COMPLETIONS);
        Limits.check("receiveCompletionQueueSize", sizes.receiveCompletions, 0, Limits.MAX_COMPLETIONS);
        return sizes;
    }
}
