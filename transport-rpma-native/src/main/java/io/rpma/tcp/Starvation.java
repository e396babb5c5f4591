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

/**
 * Whether a queue pair waits for a receive, because its peer has sent a message for which there was none. A queue pair with a
 * shared receive queue is on the list of that queue meanwhile.
 *
 * <p>Used by the thread that holds the queue pair, unless stated otherwise.
 */
final class Starvation {
    private final TcpSharedReceiveQueue.Member pair;
    private final TcpSharedReceiveQueue shared;
    private volatile boolean starved;
    // The last entry on the list, null if the queue pair has needed no receive since.
    private TcpSharedReceiveQueue.Waiter waiter;

    /**
     * Creates the state of a queue pair that does not wait.
     *
     * @param shared its shared receive queue, {@code null} if it has receives of its own
     */
    Starvation(TcpSharedReceiveQueue.Member pair, TcpSharedReceiveQueue shared) {
        this.pair = pair;
        this.shared = shared;
    }

    /** Returns whether the queue pair waits for a receive. Any thread may call this method. */
    boolean isStarved() {
        return starved;
    }

    /** Lets the peer resume if there is a receive for its message; otherwise registers the queue pair for the next receive. */
    void resumeIfPossible(Receiver receiver) {
        receiver.resumeIfPossible();
        if (receiver.isStarved()) {
            starved = true;
            if (shared != null && (waiter == null || waiter.isTaken())) {
                waiter = shared.starve(pair);
            }
            // Check again: a receive may have been posted before "starved" was set, or before the queue pair was entered into the
            // list. A posting thread adds the receive first and then reads "starved" or the list.
            receiver.resumeIfPossible();
        }
        if (!receiver.isStarved()) {
            end();
        }
    }

    /** Called when the queue pair needs no receive any more. */
    void end() {
        starved = false;
        if (waiter != null && !waiter.isTaken()) {
            // If another thread has taken the queue pair from the list meanwhile, it wakes it, which has no effect.
            shared.forget(waiter);
        }
        waiter = null;
    }
}
