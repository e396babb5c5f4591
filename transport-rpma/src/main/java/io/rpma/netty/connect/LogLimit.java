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
package io.rpma.netty.connect;

import java.util.concurrent.Executor;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Prevents clients from flooding the log: {@value #LINES} lines a second are logged, further ones are counted, and their number
 * is logged after the second. Used on one event loop.
 */
public final class LogLimit {
    /** The number of lines in a window. */
    static final int LINES = 5;
    /** The length of a window: one second, in nanoseconds. */
    public static final long WINDOW_NANOS = 1_000_000_000L;

    private final LongSupplier clock;
    private final Executor later;
    private final LongConsumer tellSuppressed;
    private boolean started;
    private long since;
    private int lines;
    private long suppressed;

    /**
     * Creates a limit.
     *
     * @param clock a time in nanoseconds, like {@link System#nanoTime()}
     * @param later runs a task on the event loop when {@link #WINDOW_NANOS} have passed
     * @param tellSuppressed logs how many lines were left out
     */
    public LogLimit(LongSupplier clock, Executor later, LongConsumer tellSuppressed) {
        this.clock = clock;
        this.later = later;
        this.tellSuppressed = tellSuppressed;
    }

    /** Returns whether another line may be logged now; if not, it is counted. */
    public boolean admits() {
        long now = clock.getAsLong();
        if (!started || now - since >= WINDOW_NANOS) {
            started = true;
            since = now;
            lines = 0;
        }
        if (lines < LINES) {
            lines++;
            return true;
        }
        if (suppressed++ == 0) {
            later.execute(() -> {
                long count = suppressed;
                suppressed = 0;
                tellSuppressed.accept(count);
            });
        }
        return false;
    }
}
