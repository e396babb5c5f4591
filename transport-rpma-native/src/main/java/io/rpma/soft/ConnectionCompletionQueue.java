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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.shared.CompletionChannel;
import io.rpma.soft.shared.Half;

/** A completion queue of one connection: for its work requests, its receives, or both. */
final class ConnectionCompletionQueue extends SoftCompletionQueue {
    private final boolean channelShared;
    private final long armed;
    private final QueuePair queuePair;
    private final SendQueue sends;
    private final boolean takesReceives;
    private final boolean mayOverflow;
    private boolean receivesFirst;

    /**
     * Creates a queue.
     *
     * @param channelShared whether another queue makes the same descriptor readable
     * @param takesSends whether work requests complete in this queue
     * @param takesReceives whether receives complete in this queue
     * @param mayOverflow whether it has fewer entries than requests can be posted
     */
    ConnectionCompletionQueue(CompletionChannel channel, boolean channelShared, QueuePair queuePair, boolean takesSends,
            boolean takesReceives, int size, boolean mayOverflow) {
        super(channel, size);
        this.channelShared = channelShared;
        armed = queuePair.base() + (takesSends ? Half.ARMED : Half.RECEIVE_ARMED);
        this.queuePair = queuePair;
        this.sends = takesSends ? queuePair.sends() : null;
        this.takesReceives = takesReceives;
        this.mayOverflow = mayOverflow;
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalStateException if the descriptor did not exist and cannot be created
     */
    @Override
    public int fd() {
        if (!channel().isDeferred()) {
            return super.fd();
        }
        try {
            return queuePair.watch();
        } catch (RpmaException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    @Override
    boolean consume() throws RpmaException {
        if (channelShared) {
            throw SoftLog.failure(RpmaError.SHARED_CHANNEL, "both completion queues of this connection share one descriptor:"
                + " use Connection.consumeCompletionEvent");
        }
        return consume(null);
    }

    /** Consumes an event of the descriptor shared with another queue. Returns whether this queue had fired. */
    boolean consume(ConnectionCompletionQueue other) {
        return channel().consume(armed, other == null ? 0 : other.armed);
    }

    boolean hasFired() {
        return CompletionChannel.hasFired(armed);
    }

    @Override
    int take(WorkCompletions completions) throws RpmaException {
        if (sends == null) {
            checkOverflow();
            return queuePair.responder().poll(completions, 0);
        }
        queuePair.resume();
        checkOverflow();
        if (!takesReceives) {
            return sends.poll(completions, 0, queuePair.number());
        }
        int count;
        if (queuePair.isError()) {
            // As on a device: receives completed before the failure, then work requests, then the receives that it flushed.
            count = queuePair.responder().pollArrived(completions, 0);
            count = sends.poll(completions, count, queuePair.number());
            return queuePair.responder().poll(completions, count);
        }
        if (receivesFirst) {
            count = queuePair.responder().poll(completions, 0);
            count = sends.poll(completions, count, queuePair.number());
        } else {
            count = sends.poll(completions, 0, queuePair.number());
            count = queuePair.responder().poll(completions, count);
        }
        if (count == completions.capacity()) {
            // The batch is full, possibly by one kind alone: poll the other kind first next time.
            receivesFirst = !receivesFirst;
        }
        return count;
    }

    private void checkOverflow() throws RpmaException {
        if (mayOverflow) {
            int limit = size() + 1;
            int ready = sends == null ? 0 : sends.ready();
            if (takesReceives) {
                ready += queuePair.responder().ready(limit);
            }
            if (ready > size()) {
                queuePair.fail();
                throw overflow();
            }
        }
    }
}
