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

import io.rpma.ConnectionConfig;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.posix.Posix;
import io.rpma.software.ConnectionSettings;

/**
 * What a connection is created with: a configuration, read once and checked.
 *
 * @param timeoutMillis for reaching the other side
 * @param completions entries of the completion queue
 * @param receiveCompletions entries of the receive completion queue, 0 for none
 * @param sends slots of the send queue
 * @param receives slots of the receive queue
 * @param sharedChannel whether both completion queues share a descriptor
 * @param shared the shared receive queue, or {@code null}
 */
record QueueSizes(int timeoutMillis, int completions, int receiveCompletions, int sends, int receives, boolean sharedChannel,
        TcpSharedReceiveQueue shared) {
    /** Reads a configuration for connections of a protection domain; {@code null} stands for the defaults. */
    static QueueSizes of(ConnectionConfig given, ProtectionDomain domain) throws RpmaException {
        ConnectionConfig config = given != null ? given : new ConnectionSettings(TcpLog.INSTANCE);
        TcpSharedReceiveQueue queue = shared(config.sharedReceiveQueue(), domain);
        boolean elsewhere = queue != null && queue.hasCompletions();
        ConnectionSettings.checkDescriptors(TcpLog.INSTANCE, config, elsewhere);
        QueueSizes sizes = new QueueSizes(config.timeoutMillis(), config.completionQueueSize(),
            elsewhere ? 0 : config.receiveCompletionQueueSize(), config.sendQueueSize(), config.receiveQueueSize(),
            config.isSharedCompletionChannel(), queue);
        check("sendQueueSize", sizes.sends, 0, Limits.MAX_WORK_REQUESTS);
        check("receiveQueueSize", sizes.receives, 0, Limits.MAX_WORK_REQUESTS);
        check("completionQueueSize", sizes.completions, 1, Limits.MAX_COMPLETIONS);
        check("receiveCompletionQueueSize", sizes.receiveCompletions, 0, Limits.MAX_COMPLETIONS);
        return sizes;
    }

    private static TcpSharedReceiveQueue shared(SharedReceiveQueue given, ProtectionDomain domain) throws RpmaException {
        if (given == null) {
            return null;
        }
        if (given instanceof TcpSharedReceiveQueue queue && queue.domain() == domain) {
            return queue;
        }
        throw TcpLog.failure(RpmaError.INVALID, "sharedReceiveQueue: the queue belongs to another peer");
    }

    static void check(String name, int value, int least, int most) throws RpmaException {
        if (value < least || value > most) {
            throw TcpLog.failure(RpmaError.PROVIDER, Posix.EINVAL, name + " is " + value + "; software RDMA over TCP supports "
                + least + " to " + most, null);
        }
    }
}
