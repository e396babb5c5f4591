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

import io.rpma.RpmaException;

/** What a connection request creates and its connection takes over: the queue pair, the completion queues, their channels. */
final class Queues {
    private final QueuePair queuePair;
    private final CompletionChannel channel;
    private final CompletionChannel receiveChannel;
    private final boolean channelShared;
    private final ConnectionCompletionQueue completions;
    private final ConnectionCompletionQueue receiveCompletions;
    private final int completion;

    private Queues(QueuePair queuePair, QueueSizes sizes, CompletionChannel channel, CompletionChannel receiveChannel) {
        this.queuePair = queuePair;
        this.channel = channel;
        this.receiveChannel = receiveChannel;
        channelShared = sizes.sharedChannel();
        SoftSharedReceiveQueue queue = sizes.sharedReceiveQueue();
        boolean inQueue = queue != null && queue.completions() != null;
        boolean own = receiveChannel != null;
        int receives = queue != null ? queue.slots() : sizes.receives();
        completions = new ConnectionCompletionQueue(channel, channelShared, queuePair, true, !own && !inQueue,
            sizes.completions(), sizes.completions() < sizes.sends() + (own || inQueue ? 0 : receives));
        receiveCompletions = own ? new ConnectionCompletionQueue(receiveChannel, channelShared, queuePair, false, true,
            sizes.receiveCompletions(), sizes.receiveCompletions() < receives) : null;
        completion = inQueue ? EndDescription.QUEUE : !own ? EndDescription.MAIN
            : channelShared ? EndDescription.OWN_SHARED_CHANNEL : EndDescription.OWN;
    }

    static Queues create(SoftPeer peer, QueueSizes sizes) throws RpmaException {
        CompletionChannel channel = new CompletionChannel();
        CompletionChannel receiveChannel = null;
        try {
            if (sizes.receiveCompletions() > 0) {
                receiveChannel = sizes.sharedChannel() ? channel : new CompletionChannel();
            }
            QueuePair queuePair = peer.process().newQueuePair(peer, sizes, channel, receiveChannel);
            return new Queues(queuePair, sizes, channel, receiveChannel);
        } catch (RpmaException e) {
            channel.close();
            if (receiveChannel != null && receiveChannel != channel) {
                receiveChannel.close();
            }
            throw e;
        }
    }

    QueuePair queuePair() {
        return queuePair;
    }

    CompletionChannel channel() {
        return channel;
    }

    /** Returns whether both completion queues make one descriptor readable. */
    boolean isChannelShared() {
        return channelShared;
    }

    ConnectionCompletionQueue completions() {
        return completions;
    }

    /** Returns the completion queue of the receives, or {@code null}. */
    ConnectionCompletionQueue receiveCompletions() {
        return receiveCompletions;
    }

    /** Adds to a message what the other end needs: the description, the memory, the doorbells. */
    void describe(ControlMessage message) {
        LocalProcess process = queuePair.peer().process();
        EndDescription.of(process, queuePair, completion).write(message.body());
        SharedMemory half = queuePair.half();
        message.attach(ControlMessage.HALF, 0, half.size(), half.fd());
        SharedMemory table = process.regions().memory();
        message.attach(ControlMessage.TABLE, 0, table.size(), table.fd());
        message.attach(ControlMessage.EVENT, 0, 0, channel.fd());
        if (completion == EndDescription.OWN) {
            message.attach(ControlMessage.RECEIVE_EVENT, 0, 0, receiveChannel.fd());
        }
        if (queuePair.attachment() != null) {
            SoftSharedReceiveQueue queue = queuePair.attachment().queue();
            message.attach(ControlMessage.QUEUE, queue.id(), queue.memory().size(), queue.memory().fd());
            if (completion == EndDescription.QUEUE) {
                message.attach(ControlMessage.QUEUE_EVENT, queue.id(), 0, queue.completions().fd());
            }
        }
    }

    /** Closes everything. */
    void close() throws RpmaException {
        try {
            queuePair.close();
        } finally {
            completions.markClosed();
            if (receiveCompletions != null) {
                receiveCompletions.markClosed();
            }
            channel.close();
            if (receiveChannel != null && receiveChannel != channel) {
                receiveChannel.close();
            }
        }
    }
}
