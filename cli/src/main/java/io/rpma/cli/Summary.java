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

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/** Formats round-trip times as text and bars. */
final class Summary {
    private static final int WIDTH = 50;

    private Summary() {
    }

    static void print(Histogram times, PrintWriter out) {
        bars(times).forEach(out::println);
        out.println(line(times));
        out.flush();
    }

    /** Returns the percentiles in one line. */
    static String line(Histogram times) {
        return String.join(" ", lines(times));
    }

    /** Returns the percentiles in two lines, each of which fits into a terminal of 80 columns. */
    static List<String> lines(Histogram times) {
        return times.getTotalCount() == 0 ? List.of("roundtrips=0") : List.of(
            String.format(Locale.ROOT, "roundtrips=%d min=%.1f us p50=%.1f us p90=%.1f us", times.getTotalCount(),
                micros(times.getMinValue()), micros(times.getValueAtPercentile(50)), micros(times.getValueAtPercentile(90))),
            String.format(Locale.ROOT, "p99=%.1f us p99.9=%.1f us max=%.1f us", micros(times.getValueAtPercentile(99)),
                micros(times.getValueAtPercentile(99.9)), micros(times.getMaxValue())));
    }

    /** Returns a bar for each step of 1, 2, 5, 10 and so on microseconds, from the first to the last step that is not empty. */
    static List<String> bars(Histogram times) {
        List<String> bars = new ArrayList<>();
        if (times.getTotalCount() == 0) {
            return bars;
        }
        // Each recorded value is counted in exactly one step. The counts of the histogram itself between two values would overlap
        // at the ends.
        List<long[]> steps = new ArrayList<>();
        long[] step = {1_000, 0};
        long most = 0;
        for (HistogramIterationValue value : times.recordedValues()) {
            while (times.lowestEquivalentValue(value.getValueIteratedTo()) >= step[0]) {
                if (step[1] > 0 || !steps.isEmpty()) {
                    steps.add(step);
                }
                step = new long[] {next(step[0]), 0};
            }
            step[1] += value.getCountAtValueIteratedTo();
            most = Math.max(most, step[1]);
        }
        steps.add(step);
        for (long[] each : steps) {
            int length = (int) ((WIDTH * each[1] + most - 1) / most);
            bars.add(String.format(Locale.ROOT, "%10s %-" + WIDTH + "s %d", "< " + each[0] / 1_000 + " us", "#".repeat(length),
                each[1]));
        }
        return bars;
    }

    // Returns the next step of the sequence 1, 2, 5, 10, ...
    private static long next(long step) {
        long leading = step;
        while (leading >= 10) {
            leading /= 10;
        }
        return leading == 2 ? step / 2 * 5 : step * 2;
    }

    private static double micros(long nanos) {
        return nanos / 1e3;
    }
}
