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

package io.rpma.netty.stream;

import io.netty.channel.IoEventLoop;
import io.rpma.ConnectionConfig;
import io.rpma.DeviceLimits;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.receive.OwnReceives;
import io.rpma.netty.receive.ReceiveBuffers;
import io.rpma.netty.receive.SharedReceives;

/**
 * The sizes of a stream's queues, derived from the options of the channel and the limits of the device.
 *
 * @param messageBytes the longest message that this end receives
 * @param credits how many messages of data it can receive before it returns credits
 * @param sendQueue the slots of the send queue
 * @param bulkBytes the largest area in bytes that this end grants for large data, 0 for none
 */
public record StreamSizes(int messageBytes, int credits, int sendQueue, int bulkBytes) {
    /**
     * Receives that are not covered by credits, so that messages without data always find one. At most two returns of credits
     * (each for half of all credits), a FIN and a SEEN can be under way at once.
     */
    public static final int CONTROL_RESERVE = 4;

    private static final int MAX_SEND_QUEUE = 64;

    /**
     * Derives the sizes.
     *
     * @throws IllegalArgumentException if the device does not offer enough
     */
    public static StreamSizes of(int messageBytes, int credits, int bulkBytes, DeviceLimits limits) {
        int receives = Math.min(credits + CONTROL_RESERVE, limits.maxQueuePairWorkRequests());
        int send = Math.min(MAX_SEND_QUEUE, limits.maxQueuePairWorkRequests());
        send = Math.min(send, limits.maxCompletionQueueSize() - receives);
        if (receives <= CONTROL_RESERVE || send <= CONTROL_RESERVE) {
            throw new IllegalArgumentException("the device offers " + limits.maxQueuePairWorkRequests()
                + " work requests for each queue and " + limits.maxCompletionQueueSize() + " completions; a stream with "
                + credits + " receive buffers needs more: lower RpmaChannelOption.RPMA_RECEIVE_BUFFERS");
        }
        int bytes = (int) Math.min(messageBytes, limits.maxMessageSize());
        // An area is only useful if it is larger than a message.
        int bulk = bulkBytes > bytes ? bulkBytes >>> Handshake.BULK_UNIT_SHIFT << Handshake.BULK_UNIT_SHIFT : 0;
        return new StreamSizes(bytes, receives - CONTROL_RESERVE, send, bulk);
    }

    public int receiveQueue() {
        return credits + CONTROL_RESERVE;
    }

    /**
     * Returns the receive buffers for one more connection, to be returned by {@link ReceiveBuffers#leave}.
     *
     * @param shared whether they are to be shared with other connections
     * @param loop the loop that the connection will be on, {@code null} if that is not known
     */
    public ReceiveBuffers newReceives(Fabric fabric, boolean shared, IoEventLoop loop) throws RpmaException {
        return shared && SharedReceives.isPossible(fabric) ? SharedReceives.join(fabric, messageBytes, loop)
            : new OwnReceives(fabric, messageBytes, receiveQueue());
    }

    /** Creates the configuration; the caller must close it. */
    public ConnectionConfig newConfig(ReceiveBuffers receives, int timeoutMillis) throws RpmaException {
        ConnectionConfig config = receives.fabric.provider().newConnectionConfig();
        try {
            receives.configure(config);
            // A peer that ignores its credits may take all receives of a shared receive queue. If the completion queue
            // overflowed, these receives would be lost for all connections; it therefore has room for all of them until the
            // violation is detected.
            int completions = receives.completions() != null ? sendQueue
                : Math.min(sendQueue + receives.most(), receives.fabric.limits().maxCompletionQueueSize());
            return config.timeoutMillis(timeoutMillis)
                .sendQueueSize(sendQueue)
                .completionQueueSize(completions);
        } catch (RpmaException | RuntimeException e) {
            config.close();
            throw e;
        }
    }
}
