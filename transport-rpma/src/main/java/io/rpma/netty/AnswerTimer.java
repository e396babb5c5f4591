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

import io.netty.channel.EventLoop;

/**
 * Gives up the clients of a backlog that do not establish their connections in time. One timer serves all of them, because all
 * have the same time. Used by the event loop of the server channel.
 */
final class AnswerTimer {
    private final Backlog backlog;
    private final LoopTimer timer = new LoopTimer();

    /** Creates a timer that does not run. */
    AnswerTimer(Backlog backlog) {
        this.backlog = backlog;
    }

    /** Starts the timer if a client in the backlog has not answered, and the timer does not run. */
    void start(EventLoop loop) {
        if (!timer.isRunning()) {
            long nanos = backlog.nanosUntilOverdue();
            if (nanos != Backlog.NOT_KNOWN) {
                timer.start(loop, nanos, () -> expired(loop));
            }
        }
    }

    private void expired(EventLoop loop) {
        backlog.giveUpOverdueClients();
        start(loop);
    }

    /** Stops the timer, because the channel leaves the event loop or is closed. */
    void stop() {
        timer.stop();
    }
}
