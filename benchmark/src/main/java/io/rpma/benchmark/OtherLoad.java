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

import java.io.IOException;

/** Measures how busy the machine is with work that does not belong to the benchmark, during an interval. */
final class OtherLoad {
    private final long began = System.nanoTime();
    private final long busyBefore = Processes.machineBusyNanos();
    private final long ownBefore = Processes.ownAndEndedNanos();

    /** Starts the interval. No child process may be running. */
    OtherLoad() throws IOException {
        // The field initializers read the counters in the order of their declaration.
    }

    /**
     * Ends the interval and returns the share of all processors that other work used, from 0 to 1. No child process may be
     * running.
     */
    double part() throws IOException {
        long busy = Processes.machineBusyNanos() - busyBefore;
        long own = Processes.ownAndEndedNanos() - ownBefore;
        double all = (double) (System.nanoTime() - began) * Runtime.getRuntime().availableProcessors();
        return Math.clamp((busy - own) / all, 0, 1);
    }
}
