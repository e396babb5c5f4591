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
import io.rpma.SharedReceiveQueue;
import io.rpma.posix.Memory;
import io.rpma.soft.shared.SharedReceives;

/** Two connected ends in this process. The server has a shared receive queue that no other connection uses. */
final class SharedPair extends Pair {
    final SoftSharedReceiveQueue shared;
    final SharedReceiveAttachment attachment;

    private SharedPair(SoftSharedReceiveQueue shared, int slots) throws RpmaException {
        super(shared, slots);
        this.shared = shared;
        attachment = server.responder().attachment();
    }

    /**
     * Connects two ends.
     *
     * @param slots the number of slots of the shared receive queue and of the other queues
     * @param completions the size of the completion queue of the shared receive queue, or 0 if it has none
     */
    static SharedPair connect(int slots, int completions) throws RpmaException {
        SharedReceiveQueue queue = PEER.newSharedReceiveQueue(PROVIDER.newSharedReceiveQueueConfig().receiveQueueSize(slots)
            .receiveCompletionQueueSize(completions));
        return new SharedPair((SoftSharedReceiveQueue) queue, slots);
    }

    /** The server posts a receive for an empty message to the shared receive queue. */
    void receiveShared() {
        try {
            shared.receive(null, 0, 0, 2);
        } catch (RpmaException e) {
            throw unexpected(e);
        }
    }

    /** Polls all completions, and leaves the ring of the server in the list of those that are polled. */
    void settleShared() {
        while (poll(clientQueue) > 0) {
            Thread.onSpinWait();
        }
        if (!attachment.isActive()) {
            announce();
        }
        do {
            poll(shared.completions());
        } while (!attachment.isEmpty() || !attachment.isActive());
    }

    /** Sets the ready bits of all levels, as an initiator does, so that the next poll enters the ring into the list. */
    private void announce() {
        long base = shared.memory().address();
        int index = attachment.index();
        setReady();
        Memory.getAndBitwiseOrLong(base + SharedReceives.READY_MIDDLE + (index >>> 12) * 8L, 1L << (index >>> 6));
        Memory.getAndBitwiseOrLong(base + SharedReceives.READY_TOP, 1L << (index >>> 12));
    }

    /** Returns whether the ready bit of the server is set. */
    boolean isReady() {
        return (Memory.getLongVolatile(readyWord()) & readyBit()) != 0;
    }

    /** Sets the ready bit of the server, which is set as long as its ring is polled. */
    void setReady() {
        Memory.getAndBitwiseOrLong(readyWord(), readyBit());
    }

    private long readyWord() {
        return shared.memory().address() + SharedReceives.READY + (attachment.index() >>> 6) * 8L;
    }

    private long readyBit() {
        return 1L << attachment.index();
    }
}
