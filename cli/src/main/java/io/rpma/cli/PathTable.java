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
package io.rpma.cli;

import io.rpma.netty.RpmaPath;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Collects the result of each path that was measured, and the reason for each path that was not. */
final class PathTable {
    private static final double[] PERCENTILES = {50, 90, 99, 99.9};

    private final Map<RpmaPath, Histogram> measured = new LinkedHashMap<>();
    private final Map<RpmaPath, String> failed = new LinkedHashMap<>();
    private boolean broken;

    void measured(RpmaPath path, Histogram times) {
        measured.put(path, times);
    }

    void failed(RpmaPath path, String reason) {
        failed.put(path, reason);
    }

    /** Enters a path that failed during its measurement, when it was connected. */
    void broke(RpmaPath path, String reason) {
        failed(path, reason);
        broken = true;
    }

    /** Returns whether a path failed during its measurement. */
    boolean hasBroken() {
        return broken;
    }

    /** Returns the reasons why paths could not be measured, in the order in which they were tried. */
    Map<RpmaPath, String> failures() {
        return failed;
    }

    boolean isEmpty() {
        return measured.isEmpty();
    }

    /** Prints a row for each path; the times are in microseconds. */
    void print(PrintWriter out) {
        out.printf(Locale.ROOT, "%-13s %10s %9s %9s %9s %9s %9s %9s%n", "path", "roundtrips", "min us", "p50 us", "p90 us",
            "p99 us", "p99.9 us", "max us");
        measured.forEach((path, times) -> {
            out.printf(Locale.ROOT, "%-13s %10d", path, times.getTotalCount());
            cell(out, times.getMinValue());
            for (double percentile : PERCENTILES) {
                cell(out, times.getValueAtPercentile(percentile));
            }
            cell(out, times.getMaxValue());
            out.println();
        });
        failed.forEach((path, reason) -> out.printf(Locale.ROOT, "%-13s %s%n", path, reason));
        out.flush();
    }

    private static void cell(PrintWriter out, long nanos) {
        out.printf(Locale.ROOT, " %9.1f", nanos / 1e3);
    }
}
