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
import io.rpma.posix.Posix;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.EndDescription;
import io.rpma.soft.process.HalfMemory;
import io.rpma.soft.process.RemoteProcess;
import io.rpma.soft.shared.CompletionChannel;

/** The objects that a connection request creates and passes to its connection: queue pair, completion queues and channels. */
final class Queues {
    private final QueuePair queuePair;
    private final CompletionChannel channel;
    private final CompletionChannel receiveChannel;
    private final boolean channelShared;
    private final ConnectionCompletionQueue completions;
    private final ConnectionCompletionQueue receiveCompletions;
    private final int completion;
    // Descriptors that are attached to a message, to be closed or released when it has been sent.
    private boolean linked;
    private int lentEvent = -1;
    private int lentReceiveEvent = -1;

    private Queues(QueuePair queuePair, QueueSizes sizes, CompletionChannel channel, CompletionChannel receiveChannel) {
        this.queuePair = queuePair;
        this.channel = channel;
        this.receiveChannel = receiveChannel;
        channelShared = sizes.sharedChannel();
        SoftSharedReceiveQueue queue = sizes.sharedReceiveQueue();
        boolean inQueue = completesElsewhere(sizes);
        boolean own = receiveChannel != null;
        int receives = queue != null ? queue.slots() : sizes.receives();
        completions = new ConnectionCompletionQueue(channel, channelShared, queuePair, true, !own && !inQueue,
            sizes.completions(), sizes.completions() < sizes.sends() + (own || inQueue ? 0 : receives));
        receiveCompletions = own ? new ConnectionCompletionQueue(receiveChannel, channelShared, queuePair, false, true,
            sizes.receiveCompletions(), sizes.receiveCompletions() < receives) : null;
        completion = inQueue ? EndDescription.QUEUE : !own ? EndDescription.MAIN
            : channelShared ? EndDescription.OWN_SHARED_CHANNEL : EndDescription.OWN;
    }

    /**
     * Creates the queues.
     *
     * @param remote the view of the process of the other end
     */
    static Queues create(ProtectionDomain domain, QueueSizes sizes, RemoteProcess remote) throws RpmaException {
        // If receives complete elsewhere, few owners ever wait for this queue: only those whose work requests have to wait.
        CompletionChannel channel = completesElsewhere(sizes) ? CompletionChannel.deferred() : new CompletionChannel();
        CompletionChannel receiveChannel = null;
        HalfMemory half = null;
        boolean done = false;
        try {
            if (sizes.receiveCompletions() > 0) {
                receiveChannel = sizes.sharedChannel() ? channel : new CompletionChannel();
            }
            half = remote.newHalf(QueuePair.halfSize(sizes));
            QueuePair queuePair = QueuePair.create(domain, sizes, half, channel, receiveChannel);
            done = true;
            return new Queues(queuePair, sizes, channel, receiveChannel);
        } finally {
            if (!done) {
                if (half != null) {
                    half.release();
                }
                channel.close();
                if (receiveChannel != null && receiveChannel != channel) {
                    receiveChannel.close();
                }
            }
        }
    }

    /** Returns whether receives complete in the completion queue of a shared receive queue. */
    private static boolean completesElsewhere(QueueSizes sizes) {
        return sizes.sharedReceiveQueue() != null && sizes.sharedReceiveQueue().completions() != null;
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

    /**
     * Adds the data that the other end needs to a message: the description, the doorbells, and the link if it is not known to
     * have arrived. Also sends the shared receive queue on the link if it has not been sent.
     *
     * @return whether the caller has to call {@link #described()} when the message has been sent or discarded
     */
    boolean describe(ControlMessage message) throws RpmaException {
        RemoteProcess remote = queuePair.half().owner();
        description().write(message.body());
        if (remote.isSelf()) {
            if (!channel.isDeferred()) {
                channel.event().closeForPeer();
            }
            if (receiveChannel != null) {
                receiveChannel.event().closeForPeer();
            }
            return false;
        }
        if (queuePair.sharedReceiveQueue() != null) {
            remote.announce(queuePair.sharedReceiveQueue());
        }
        linked = remote.attachLink(message);
        boolean done = false;
        try {
            attachEvents(message);
            done = true;
            return true;
        } finally {
            if (!done) {
                described();
            }
        }
    }

    private EndDescription description() {
        LocalProcess process = queuePair.domain().process();
        SharedReceiveAttachment attachment = queuePair.responder().attachment();
        SoftSharedReceiveQueue queue = queuePair.responder().sharedReceiveQueue();
        HalfMemory half = queuePair.half();
        return new EndDescription(process.identity().high(), process.identity().low(), half.owner().number(), half.slab(),
            half.offset(), half.use(), queuePair.domain().number(), queuePair.number(), queuePair.receiveCapacity(),
            queuePair.ringCapacity(), completion,
            queue == null ? 0 : queue.id(), attachment == null ? 0 : attachment.index(),
            queue == null ? 0 : queue.capacity());
    }

    private void attachEvents(ControlMessage message) throws RpmaException {
        if (!channel.isDeferred()) {
            lentEvent = channel.event().openForPeer();
            message.attach(ControlMessage.EVENT, 0, 0, lentEvent);
        }
        if (completion == EndDescription.OWN) {
            lentReceiveEvent = receiveChannel.event().openForPeer();
            message.attach(ControlMessage.RECEIVE_EVENT, 0, 0, lentReceiveEvent);
        }
    }

    /** Releases the descriptors that were attached to a message, which has been sent or discarded. */
    void described() {
        if (linked) {
            linked = false;
            queuePair.half().owner().linkSent();
        }
        if (lentEvent >= 0) {
            Posix.close(lentEvent);
            lentEvent = -1;
        }
        if (lentReceiveEvent >= 0) {
            Posix.close(lentReceiveEvent);
            lentReceiveEvent = -1;
        }
    }

    /** Closes everything. */
    void close() {
        completions.markClosed();
        if (receiveCompletions != null) {
            receiveCompletions.markClosed();
            receiveChannel.endWait();
        }
        channel.endWait();
        try {
            queuePair.close();
        } finally {
            channel.close();
            if (receiveChannel != null && receiveChannel != channel) {
                receiveChannel.close();
            }
        }
    }
}
