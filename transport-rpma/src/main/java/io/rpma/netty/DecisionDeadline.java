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
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The time until which the application has to decide about a client. Used by the event loop of the server channel, with which it
 * moves to another one.
 */
final class DecisionDeadline {
    private final long nanos;
    private final Runnable overdue;
    // Null while no loop has the channel, and while the loop shuts down.
    private Future<?> timer;

    /**
     * Creates a deadline.
     *
     * @param millis how long the application has from now on
     * @param overdue runs on the event loop when the time is over
     */
    DecisionDeadline(int millis, Runnable overdue) {
        nanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        this.overdue = overdue;
    }

    /** Starts the timer on an event loop. */
    void start(EventLoop loop) {
        if (!loop.isShuttingDown()) {
            // While the loop shuts down no timer can be scheduled. The loop then closes the channel, which ends the wait.
            timer = loop.schedule(overdue, nanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
    }

    /** Stops the timer, because the decision has been made, or the channel leaves the event loop. */
    void stop() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }
}
