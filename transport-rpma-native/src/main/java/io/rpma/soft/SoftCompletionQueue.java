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

import io.rpma.CompletionQueue;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.WorkCompletions;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.shared.CompletionChannel;

/** The common part of the completion queues: the descriptor and the overflow. */
abstract class SoftCompletionQueue implements CompletionQueue {
    private final CompletionChannel channel;
    private final int size;
    private boolean overflowed;
    private volatile boolean closed;

    /**
     * Creates a queue.
     *
     * @param size the requested number of entries
     */
    SoftCompletionQueue(CompletionChannel channel, int size) {
        this.channel = channel;
        this.size = size;
    }

    CompletionChannel channel() {
        return channel;
    }

    int size() {
        return size;
    }

    @Override
    public int fd() {
        return channel.fd();
    }

    @Override
    public final boolean consumeEvent() throws RpmaException {
        checkOpen();
        return consume();
    }

    /** Consumes an event if there is one, and leaves the queue armed. Returns whether there was one. */
    abstract boolean consume() throws RpmaException;

    @Override
    public final int poll(WorkCompletions completions) throws RpmaException {
        if (closed || overflowed || completions == null) {
            checkOpen();
            if (completions == null) {
                throw SoftLog.failure(RpmaError.INVALID, "poll: the batch that receives the completions is null");
            }
            throw overflow();
        }
        return take(completions);
    }

    /** Takes completions out of the queue. */
    abstract int take(WorkCompletions completions) throws RpmaException;

    /** Marks the queue as overflowed: it held more completions than a device would have kept. */
    final RpmaException overflow() {
        if (!overflowed) {
            overflowed = true;
            SoftLog.log(RpmaLog.Level.ERROR, "a completion queue of " + size + " entries has overflowed");
        }
        return SoftLog.failure(RpmaError.PROVIDER, "completion queue overflow: more than " + size + " completions were not"
            + " polled; a device would have lost the rest silently. Configure as many entries as the send and the receive queue"
            + " have together (ConnectionConfig.completionQueueSize, SharedReceiveQueueConfig.receiveCompletionQueueSize), or"
            + " poll earlier");
    }

    final void checkOpen() throws RpmaException {
        if (closed) {
            throw SoftLog.failure(RpmaError.INVALID, "the completion queue is closed");
        }
    }

    /** Marks the queue as closed. The owner of the channel closes the channel. */
    final void markClosed() {
        closed = true;
    }
}
