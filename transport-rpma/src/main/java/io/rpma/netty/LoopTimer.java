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
 * A timer that runs one task at a time on an event loop: while a task waits for its time, further ones are not started. Used by
 * one event loop at a time, which stops it before another one uses it.
 */
final class LoopTimer {
    // Null while no task waits.
    private Future<?> waiting;

    /**
     * Starts the timer, unless a task waits already. A loop that shuts down cannot start timers: it then closes the channels that
     * are registered with it.
     *
     * @param nanos the time after which the task runs
     */
    void start(EventLoop loop, long nanos, Runnable task) {
        if (waiting == null && !loop.isShuttingDown()) {
            waiting = loop.schedule(() -> {
                waiting = null;
                task.run();
            }, nanos, TimeUnit.NANOSECONDS);
        }
    }

    /** Returns whether a task waits. */
    boolean isRunning() {
        return waiting != null;
    }

    /** Stops the timer: the task that waits does not run. */
    void stop() {
        if (waiting != null) {
            waiting.cancel(false);
            waiting = null;
        }
    }
}
