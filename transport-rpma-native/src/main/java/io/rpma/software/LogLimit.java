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
package io.rpma.software;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Prevents a peer from filling the log: each source may log {@value #LINES} lines a second. Further lines are counted, and one
 * line reports their number after that second. Thread-safe.
 */
public final class LogLimit {
    /** Lines of one source in a second. */
    public static final int LINES = 5;
    /** The second, in nanoseconds. */
    public static final long WINDOW_NANOS = 1_000_000_000L;

    private final LongSupplier clock;
    private final Executor later;
    private final Consumer<String> log;
    private final Map<String, Source> sources = new ConcurrentHashMap<>();

    /** The state of one source, guarded by its own lock. */
    private static final class Source {
        private final String name;
        private boolean started;
        private long since;
        private int lines;
        private long suppressed;

        Source(String name) {
            this.name = name;
        }
    }

    /**
     * Creates a limit.
     *
     * @param clock in nanoseconds, as {@link System#nanoTime()}
     * @param later runs a task when {@link #WINDOW_NANOS} have passed
     * @param log takes the lines
     */
    public LogLimit(LongSupplier clock, Executor later, Consumer<String> log) {
        this.clock = clock;
        this.later = later;
        this.log = log;
    }

    /**
     * Logs a line unless its source has exceeded the limit.
     *
     * @param source the source; there must be few of them, independently of the peers
     */
    public void log(String source, String line) {
        Source from = sources.computeIfAbsent(source, Source::new);
        boolean first;
        synchronized (from) {
            long now = clock.getAsLong();
            if (!from.started || now - from.since >= WINDOW_NANOS) {
                from.started = true;
                from.since = now;
                from.lines = 0;
            }
            if (from.lines < LINES) {
                from.lines++;
                first = false;
            } else if (from.suppressed++ == 0) {
                first = true;
            } else {
                return;
            }
        }
        if (first) {
            later.execute(() -> tellSuppressed(from));
        } else {
            log.accept(line);
        }
    }

    private void tellSuppressed(Source from) {
        long count;
        synchronized (from) {
            count = from.suppressed;
            from.suppressed = 0;
        }
        log.accept(count + " further lines of " + from.name + " were suppressed: the limit is " + LINES + " lines per second");
    }
}
