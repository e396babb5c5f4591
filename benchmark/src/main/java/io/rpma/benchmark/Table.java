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

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.DoubleUnaryOperator;

/** The report as plain text. */
final class Table {
    private static final int NAMES = 3;
    /** If a greater share of the machine was busy with other work, the results are not reliable. */
    private static final double BUSY = 0.05;

    private Table() {
    }

    /** Returns the outcome of one run as one line. */
    static String line(int round, Results.Key key, Results.Run run) {
        StringBuilder line = new StringBuilder(String.format("%d %-13s %-11s %-10s", round, key.mode().title(),
            key.measurement().name(), key.rival().key()));
        run.outcome().values().forEach((metric, value) -> line.append("  ").append(metric.label()).append(' ')
            .append(format(value)).append(' ').append(metric.unit()));
        if (run.distance() != Distance.NONE) {
            line.append("  processors ").append(run.distance() == Distance.CHANGING ? "changing" : format(run.nanos()) + " ns");
        }
        return line.toString();
    }

    /**
     * Returns all medians, and the factor by which the first rival is better than each other one. If there were runs at several
     * distances of the processors, there is a part for each.
     */
    static String of(Results results) {
        List<Rival> rivals = rivals(results);
        Set<Distance> distances = results.distances();
        StringBuilder text = new StringBuilder();
        if (distances.size() <= 1) {
            text.append(medians(results, rivals)).append('\n');
        }
        for (Distance distance : distances) {
            Results part = results.at(distance);
            double[] nanos = part.nanos();
            if (distances.size() > 1) {
                text.append("With ").append(distance.title()).append(":\n\n").append(medians(part, rivals)).append('\n');
            }
            if (distance != Distance.NONE) {
                text.append(String.format(Locale.ROOT, "A cache line took %s ns from one processor to another and back (median of"
                    + " the runs, %s to %s).%n%s", format(Results.median(nanos)), format(nanos[0]),
                    format(nanos[nanos.length - 1]), distances.size() > 1 ? "\n" : ""));
            }
        }
        if (rivals.stream().anyMatch(Rival::isOfPaths)) {
            text.append("Medians of the rounds; in parentheses how many times as much as epoll TCP in the same place.\n");
        } else if (rivals.size() > 1) {
            text.append("Medians of the rounds; in parentheses how many times better ").append(rivals.getFirst().title())
                .append(" is, below 1 how much worse.\n");
        }
        if (results.highestOtherLoad() > BUSY) {
            text.append(String.format(Locale.ROOT, "The machine was not idle: other work took %.0f %% of it (median of the runs),"
                + " up to %.0f %%. Repeat this when it is.%n", 100 * results.otherLoad(), 100 * results.highestOtherLoad()));
        }
        results.skipped().forEach((rival, reason) -> text.append("Left out: ").append(rival.title()).append(", ").append(reason)
            .append('\n'));
        results.failures().forEach((key, reasons) -> reasons.forEach(reason -> text.append("Failed: ").append(key).append(": ")
            .append(reason).append('\n')));
        return text.toString();
    }

    private static List<Rival> rivals(Results results) {
        return results.keys().stream().map(Results.Key::rival).distinct().sorted().toList();
    }

    private static String medians(Results results, List<Rival> rivals) {
        List<String[]> rows = new ArrayList<>();
        List<String> head = new ArrayList<>(List.of("", "", ""));
        rivals.forEach(rival -> head.add(rival.title()));
        rows.add(head.toArray(String[]::new));
        for (Mode mode : Mode.values()) {
            for (Measurement measurement : Measurement.ALL) {
                for (Metric metric : Metric.values()) {
                    List<String> row = row(results, mode, measurement, metric, rivals);
                    if (row != null) {
                        rows.add(row.toArray(String[]::new));
                    }
                }
            }
        }
        return align(rows, NAMES);
    }

    private static List<String> row(Results results, Mode mode, Measurement measurement, Metric metric, List<Rival> rivals) {
        List<String> row = new ArrayList<>(List.of(measurement.title() + (mode == Mode.ONE_PROCESS ? ", one process" : ""),
            metric.label(), metric.unit()));
        boolean any = false;
        OptionalDouble first = results.median(new Results.Key(mode, measurement, rivals.getFirst()), metric);
        for (Rival rival : rivals) {
            Results.Key key = new Results.Key(mode, measurement, rival);
            OptionalDouble value = results.median(key, metric);
            if (value.isEmpty()) {
                row.add(results.failures().containsKey(key) ? "failed" : "-");
                continue;
            }
            any = true;
            OptionalDouble ratio;
            if (rivals.stream().anyMatch(Rival::isOfPaths)) {
                ratio = rival.yardstick() == null ? OptionalDouble.empty() : map(results.median(
                    new Results.Key(mode, measurement, rival.yardstick()), metric), other -> value.getAsDouble() / other);
            } else {
                ratio = rival == rivals.getFirst() ? OptionalDouble.empty()
                    : map(first, better -> metric.advantage(better, value.getAsDouble()));
            }
            row.add(format(value.getAsDouble()) + (ratio.isEmpty() ? ""
                : String.format(Locale.ROOT, " (%.2f)", ratio.getAsDouble())));
        }
        return any ? row : null;
    }

    private static OptionalDouble map(OptionalDouble value, DoubleUnaryOperator by) {
        return value.isEmpty() ? value : OptionalDouble.of(by.applyAsDouble(value.getAsDouble()));
    }

    /** Formats a number with three significant digits. */
    static String format(double value) {
        double size = Math.abs(value);
        return String.format(Locale.ROOT, size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f", value);
    }

    /** Formats rows as aligned columns. The first {@code names} columns contain names and are left-aligned. */
    static String align(List<String[]> rows, int names) {
        int[] widths = new int[rows.getFirst().length];
        for (String[] row : rows) {
            for (int i = 0; i < row.length; i++) {
                widths[i] = Math.max(widths[i], row[i].length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (String[] row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < row.length; i++) {
                String blanks = " ".repeat(widths[i] - row[i].length());
                line.append(i < names ? row[i] + blanks : blanks + row[i]).append("  ");
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
