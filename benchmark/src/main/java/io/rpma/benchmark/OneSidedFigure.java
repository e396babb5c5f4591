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

import java.util.Locale;

/**
 * The result of one run.
 *
 * @param name the name of the operation
 * @param bytes the bytes that each operation transfers
 * @param depth the maximum number of outstanding operations
 * @param p50 the median duration in microseconds
 * @param p99 the 99th percentile of the durations in microseconds
 * @param rate operations per second
 * @param clientCpu the processor time per operation in microseconds, of the process that starts the operations; 0 if it was not
 *     measured
 * @param serverCpu the processor time per operation in microseconds, of the process that owns the memory; 0 if it was not
 *     measured
 */
record OneSidedFigure(String name, int bytes, int depth, double p50, double p99, double rate, double clientCpu,
        double serverCpu) {
    private static final double BYTES_PER_MEGABYTE = 1e6;

    /** Returns the megabytes (of 1,000,000 bytes) per second. */
    double megabytes() {
        return rate * bytes / BYTES_PER_MEGABYTE;
    }

    /** Formats this figure as one line. */
    String toLine() {
        return String.format(Locale.ROOT, "%s %d %d %.4f %.4f %.4f %.4f %.4f", name, bytes, depth, p50, p99, rate, clientCpu,
            serverCpu);
    }

    /** Parses the result of {@link #toLine}. */
    static OneSidedFigure parse(String line) {
        String[] words = line.split(" ");
        return new OneSidedFigure(words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]), Double.parseDouble(words[3]),
            Double.parseDouble(words[4]), Double.parseDouble(words[5]), Double.parseDouble(words[6]),
            Double.parseDouble(words[7]));
    }
}
