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

import io.rpma.CompletionStatus;
import io.rpma.RpmaException;

/**
 * The receive queue of a queue pair: its own receives or those of a shared receive queue, and the completion queue that they
 * complete in.
 *
 * <p>Used by the thread that holds the queue pair, unless stated otherwise.
 */
final class ReceiveQueue {
    private final ErrorState pair;
    private final int number;
    // Null if there is a shared receive queue.
    private final Receives own;
    private final TcpSharedReceiveQueue shared;
    private TcpCompletionQueue completions;
    private final Receives.Taken flushed = new Receives.Taken();

    /**
     * Creates the receive queue of a queue pair.
     *
     * @param number the number of the queue pair
     * @param own its own receives, {@code null} if it has a shared receive queue
     * @param shared the shared receive queue, or {@code null}
     */
    ReceiveQueue(ErrorState pair, int number, Receives own, TcpSharedReceiveQueue shared) {
        this.pair = pair;
        this.number = number;
        this.own = own;
        this.shared = shared;
    }

    /** Sets the queue that receives complete in. */
    void completeIn(TcpCompletionQueue queue) {
        completions = queue;
    }

    /** Posts a receive. Any thread. */
    void post(TcpLocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        Receives.check(target, offset, length);
        if (own == null) {
            throw Receives.shared();
        }
        own.post(target, offset, length, context);
    }

    /** Takes a receive, the oldest one if they are the queue pair's own; returns whether there was one. */
    boolean take(Receives.Taken taken) {
        return shared != null ? shared.receives().take(taken) : own.take(taken);
    }

    boolean isEmpty() {
        return shared != null ? shared.receives().isEmpty() : own.isEmpty();
    }

    /** Completes a receive that was taken. */
    void complete(long context, CompletionStatus status, int opcode, int flags, long length, int immediate) {
        if (!completions.add(context, status.code(), opcode, flags, length, immediate, number, 0)) {
            pair.fail(0, CompletionStatus.WR_FLUSH_ERR);
        }
    }

    /** Gives back a receive that was taken and not used, or completes it as flushed. */
    void abandon(Receives.Taken taken) {
        if (shared != null && !shared.hasCompletions() && shared.giveBack(taken)) {
            return;
        }
        complete(taken.context, CompletionStatus.WR_FLUSH_ERR, 0, 0, 0, 0);
    }

    /** Flushes the queue pair's own receives. */
    void flush() {
        while (own != null && own.take(flushed)) {
            complete(flushed.context, CompletionStatus.WR_FLUSH_ERR, 0, 0, 0, 0);
        }
    }
}
