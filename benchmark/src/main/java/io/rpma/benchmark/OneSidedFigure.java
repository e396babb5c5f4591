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
 * What one run has measured.
 *
 * @param name of the operation
 * @param bytes that each moves
 * @param depth how many were under way at once
 * @param p50 microseconds that half of them took at most
 * @param p99 microseconds that 99 of 100 took at most
 * @param rate operations per second
 * @param clientCpu microseconds of processor time for each, of the process that asks; 0 if that was not measured
 * @param serverCpu microseconds of processor time for each, of the process whose memory it is; 0 if that was not measured
 */
record OneSidedFigure(String name, int bytes, int depth, double p50, double p99, double rate, double clientCpu,
        double serverCpu) {
    private static final double BYTES_PER_MEGABYTE = 1e6;

    /** Returns megabytes, of 1,000,000 bytes, per second. */
    double megabytes() {
        return rate * bytes / BYTES_PER_MEGABYTE;
    }

    /** Writes it down in one line. */
    String toLine() {
        return String.format(Locale.ROOT, "%s %d %d %.4f %.4f %.4f %.4f %.4f", name, bytes, depth, p50, p99, rate, clientCpu,
            serverCpu);
    }

    /** Reads what {@link #toLine} has written. */
    static OneSidedFigure parse(String line) {
        String[] words = line.split(" ");
        return new OneSidedFigure(words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]), Double.parseDouble(words[3]),
            Double.parseDouble(words[4]), Double.parseDouble(words[5]), Double.parseDouble(words[6]),
            Double.parseDouble(words[7]));
    }
}
