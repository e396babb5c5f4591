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

import io.netty.channel.ChannelOption;
import io.rpma.DeviceLimits;
import java.nio.ByteBuffer;

/** The options that size the queues of message channels, checked when they are set. */
final class MessageOptions {
    static final ChannelOption<?>[] OPTIONS = {RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES,
        RpmaChannelOption.RPMA_RECEIVE_BUFFERS, RpmaChannelOption.RPMA_SEND_QUEUE_SIZE,
        RpmaChannelOption.RPMA_PEER_RECEIVE_BUFFER_BYTES, RpmaChannelOption.RPMA_PRIVATE_DATA,
        RpmaChannelOption.RPMA_RECEIVE_COMPLETION_QUEUE, RpmaChannelOption.RPMA_RECEIVE_QUEUE};

    private static final int DEFAULT_RECEIVE_BYTES = 16 << 10;
    private static final int DEFAULT_SEND_QUEUE = 64;
    private static final int MAX_QUEUE = 1 << 20;

    private final int maxPrivateData;
    private volatile int receiveBytes = DEFAULT_RECEIVE_BYTES;
    private volatile int receives = StreamOptions.DEFAULT_CREDITS;
    private volatile int sendQueue = DEFAULT_SEND_QUEUE;
    private volatile int peerReceiveBytes;
    private volatile boolean receiveCompletionQueue;
    private volatile RpmaSharedReceiveQueue shared;
    private volatile ByteBuffer privateData = ByteBuffer.allocate(0);

    /**
     * Begins with the defaults.
     *
     * @param maxPrivateData bytes that a connection request, or an acceptance, can carry
     */
    MessageOptions(int maxPrivateData) {
        this.maxPrivateData = maxPrivateData;
    }

    /** A copy, which does not change. */
    MessageOptions snapshot() {
        MessageOptions copy = new MessageOptions(maxPrivateData);
        for (ChannelOption<?> option : OPTIONS) {
            Object value = get(option);
            if (value != null) {
                copy.set(option, value);
            }
        }
        return copy;
    }

    /** The value of an option, or {@code null} if it is none of these. */
    Object get(ChannelOption<?> option) {
        if (option == RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES) {
            return receiveBytes;
        }
        if (option == RpmaChannelOption.RPMA_RECEIVE_BUFFERS) {
            return receives;
        }
        if (option == RpmaChannelOption.RPMA_SEND_QUEUE_SIZE) {
            return sendQueue;
        }
        if (option == RpmaChannelOption.RPMA_PEER_RECEIVE_BUFFER_BYTES) {
            return peerReceiveBytes;
        }
        if (option == RpmaChannelOption.RPMA_RECEIVE_COMPLETION_QUEUE) {
            return receiveCompletionQueue;
        }
        if (option == RpmaChannelOption.RPMA_RECEIVE_QUEUE) {
            return shared;
        }
        return option == RpmaChannelOption.RPMA_PRIVATE_DATA ? privateData() : null;
    }

    /** Sets an option, or returns {@code false} if it is none of these. */
    boolean set(ChannelOption<?> option, Object value) {
        if (option == RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES) {
            receiveBytes = check(option, (Integer) value, 1, Slabs.SLAB_SIZE);
        } else if (option == RpmaChannelOption.RPMA_RECEIVE_BUFFERS) {
            receives = check(option, (Integer) value, 1, MAX_QUEUE);
        } else if (option == RpmaChannelOption.RPMA_SEND_QUEUE_SIZE) {
            sendQueue = check(option, (Integer) value, 1, MAX_QUEUE);
        } else if (option == RpmaChannelOption.RPMA_PEER_RECEIVE_BUFFER_BYTES) {
            peerReceiveBytes = check(option, (Integer) value, 0, Integer.MAX_VALUE);
        } else if (option == RpmaChannelOption.RPMA_PRIVATE_DATA) {
            ByteBuffer data = (ByteBuffer) value;
            check(option, data.remaining(), 0, maxPrivateData);
            privateData = ByteBuffer.allocate(data.remaining()).put(data.duplicate()).flip();
        } else if (option == RpmaChannelOption.RPMA_RECEIVE_COMPLETION_QUEUE) {
            receiveCompletionQueue = (Boolean) value;
        } else if (option == RpmaChannelOption.RPMA_RECEIVE_QUEUE) {
            shared = (RpmaSharedReceiveQueue) value;
        } else {
            return false;
        }
        return true;
    }

    /** A copy of the private data, possibly empty. */
    ByteBuffer privateData() {
        return privateData.asReadOnlyBuffer();
    }

    private static int check(ChannelOption<?> option, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(option.name() + " is " + value + (option == RpmaChannelOption.RPMA_PRIVATE_DATA
                ? " bytes" : "") + "; allowed are " + min + " to " + max);
        }
        return value;
    }

    /** Sizes the queues for a device; what it cannot do is refused. */
    MessageSizes sizes(DeviceLimits limits) {
        RpmaSharedReceiveQueue from = shared;
        int count = from != null ? from.receives() : receives;
        int most = limits.maxQueuePairWorkRequests();
        int completions = receiveCompletionQueue ? Math.max(count, sendQueue) : count + sendQueue;
        if (from == null && count > most || sendQueue > most || completions > limits.maxCompletionQueueSize()) {
            throw new IllegalArgumentException("RPMA_RECEIVE_BUFFERS is " + count + " and RPMA_SEND_QUEUE_SIZE " + sendQueue
                + "; the device offers " + most + " work requests for each queue and " + limits.maxCompletionQueueSize()
                + " completions" + (receiveCompletionQueue ? " for each" : " for both: lower them, or give the receives a"
                    + " completion queue of their own (RPMA_RECEIVE_COMPLETION_QUEUE)"));
        }
        return new MessageSizes((int) Math.min(from != null ? from.receiveBytes() : receiveBytes, limits.maxMessageSize()),
            count, sendQueue, from, receiveCompletionQueue, peerReceiveBytes != 0 ? peerReceiveBytes : limits.maxMessageSize());
    }
}
