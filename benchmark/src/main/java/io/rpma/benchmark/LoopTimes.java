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
package io.rpma.benchmark;

import io.netty.util.concurrent.EventExecutor;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.HdrHistogram.Histogram;

/**
 * The durations of the operations of all connections, in one histogram for each event loop. A histogram has 200 KiB, so a
 * histogram for each of 256 connections would not fit into the caches, and the first garbage collection would have to copy all of
 * them within the measured time.
 */
final class LoopTimes {
    private final Map<EventExecutor, Histogram> times = new ConcurrentHashMap<>();

    /** Returns the histogram of an event loop, in nanoseconds. Only the thread of the loop uses it. Any thread may call this. */
    Histogram of(EventExecutor loop) {
        return times.computeIfAbsent(loop, key -> Outcome.newTimes());
    }

    /** Returns the sum of the histograms. Called when all operations are done. */
    Histogram sum() {
        Histogram sum = Outcome.newTimes();
        times.values().forEach(sum::add);
        return sum;
    }
}
