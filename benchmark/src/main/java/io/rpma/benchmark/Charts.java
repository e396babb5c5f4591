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
import java.util.function.Predicate;
import org.HdrHistogram.Histogram;

/** Draws the results as charts. */
final class Charts {
    private static final String[] COLOURS =
        {"#c1272d", "#e58e26", "#1f77b4", "#17a2b8", "#2ca02c", "#9467bd", "#7f7f7f", "#a0a0a0", "#c0c0c0"};
    private static final String GREY = "#d0d0d0";
    private static final String BLACK = "#202020";
    private static final int WIDTH = 760;
    private static final int LABELS = 130;
    private static final int VALUES = 110;
    private static final int ROW = 20;
    private static final int TITLE = 34;
    private static final int PLOT_HEIGHT = 340;
    private static final double[] PERCENTILES = {0, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99};
    private static final double LOWEST_TAIL = 0.0001;

    private Charts() {
    }

    /**
     * Draws a bar chart with one panel for each measurement and mode. A panel shows the median of every rival, and a line from
     * the smallest to the largest value of the rounds. Returns {@code null} if there is nothing to draw.
     */
    static String bars(Results results, String title, Metric metric, Predicate<Measurement> measurements) {
        List<List<Results.Key>> panels = new ArrayList<>();
        for (Mode mode : Mode.values()) {
            for (Measurement measurement : Measurement.ALL) {
                List<Results.Key> panel = results.keys().stream()
                    .filter(key -> key.mode() == mode && key.measurement() == measurement && measurements.test(measurement)
                        && results.median(key, metric).isPresent())
                    .toList();
                if (!panel.isEmpty()) {
                    panels.add(panel);
                }
            }
        }
        if (panels.isEmpty()) {
            return null;
        }
        int height = TITLE + panels.stream().mapToInt(panel -> TITLE + ROW * panel.size()).sum() + ROW;
        Svg svg = new Svg(WIDTH, height);
        svg.text(10, 22, "start", "bold", title + ", " + metric.unit() + (metric.isLessBetter() ? ", less is better"
            : ", more is better"));
        int y = TITLE;
        for (List<Results.Key> panel : panels) {
            panel(svg, y, results, metric, panel);
            y += TITLE + ROW * panel.size();
        }
        return svg.toString();
    }

    private static void panel(Svg svg, int top, Results results, Metric metric, List<Results.Key> keys) {
        double largest = 0;
        for (Results.Key key : keys) {
            double[] sorted = results.sorted(key, metric);
            largest = Math.max(largest, sorted[sorted.length - 1]);
        }
        double scale = largest > 0 ? (WIDTH - LABELS - VALUES) / largest : 0;
        Results.Key any = keys.getFirst();
        svg.text(10, top + 22, "start", "normal", any.measurement().title() + ", " + any.mode().title());
        int y = top + TITLE - 4;
        for (Results.Key key : keys) {
            double[] sorted = results.sorted(key, metric);
            double median = results.median(key, metric).orElseThrow();
            svg.text(LABELS - 6, y + 13, "end", "normal", key.rival().title());
            svg.rectangle(LABELS, y + 2, Math.max(1, median * scale), ROW - 5, colour(key.rival()));
            if (sorted.length > 1) {
                double middle = y + (ROW - 1) / 2.0;
                svg.line(LABELS + sorted[0] * scale, middle, LABELS + sorted[sorted.length - 1] * scale, middle, BLACK);
            }
            svg.text(LABELS + Math.max(median, sorted[sorted.length - 1]) * scale + 6, y + 13, "start", "normal",
                Table.format(median));
            y += ROW;
        }
    }

    /**
     * Draws the durations of the operations from the fastest to the slowest: the horizontal axis shows the percentiles, on a
     * scale that widens toward 100, and the vertical axis shows the time. Returns {@code null} if there is nothing to draw.
     */
    static String percentiles(Results results, Mode mode, Measurement measurement) {
        List<Results.Key> keys = results.keys().stream().filter(key -> key.mode() == mode && key.measurement() == measurement
            && results.times(key).getTotalCount() > 0).toList();
        if (keys.isEmpty()) {
            return null;
        }
        double lowest = Double.MAX_VALUE;
        double highest = 0;
        for (Results.Key key : keys) {
            Histogram times = results.times(key);
            lowest = Math.min(lowest, times.getValueAtPercentile(PERCENTILES[0]));
            highest = Math.max(highest, times.getValueAtPercentile(PERCENTILES[PERCENTILES.length - 1]));
        }
        int from = (int) Math.floor(Math.log10(Math.max(1, lowest)));
        int to = Math.max(from + 1, (int) Math.ceil(Math.log10(highest)));
        Svg svg = new Svg(WIDTH, TITLE + PLOT_HEIGHT + 2 * ROW);
        svg.text(10, 22, "start", "bold", measurement.title() + ", " + mode.title() + ": time by percentile, less is better");
        grid(svg, from, to);
        int legend = TITLE + 10;
        for (Results.Key key : keys) {
            svg.polyline(points(results.times(key), from, to), colour(key.rival()));
            svg.rectangle(WIDTH - VALUES + 8, legend - 9, 10, 10, colour(key.rival()));
            svg.text(WIDTH - VALUES + 22, legend, "start", "normal", key.rival().title());
            legend += ROW;
        }
        return svg.toString();
    }

    /** Draws the lines of the powers of ten and of the percentiles, with their labels. */
    private static void grid(Svg svg, int from, int to) {
        for (int power = from; power <= to; power++) {
            double y = y(power, from, to);
            svg.line(LABELS, y, WIDTH - VALUES, y, GREY);
            svg.text(LABELS - 6, y + 4, "end", "normal", time(power));
        }
        for (double percentile : new double[] {0, 90, 99, 99.9, 99.99}) {
            double x = x(percentile);
            svg.line(x, TITLE, x, TITLE + PLOT_HEIGHT, GREY);
            svg.text(x, TITLE + PLOT_HEIGHT + 18, "middle", "normal",
                percentile == Math.rint(percentile) ? Long.toString((long) percentile) : Double.toString(percentile));
        }
    }

    /** Returns the points of the line of one rival. */
    private static String points(Histogram times, int from, int to) {
        StringBuilder points = new StringBuilder();
        for (double percentile : PERCENTILES) {
            double power = Math.log10(Math.max(1, times.getValueAtPercentile(percentile)));
            points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x(percentile), y(power, from, to)));
        }
        return points.toString().trim();
    }

    private static double x(double percentile) {
        double tail = Math.max(LOWEST_TAIL, 1 - percentile / 100);
        return LABELS + (WIDTH - LABELS - VALUES) * Math.log10(tail) / Math.log10(LOWEST_TAIL);
    }

    private static double y(double power, int from, int to) {
        return TITLE + PLOT_HEIGHT * (to - power) / (to - from);
    }

    /** Returns the text for a power of ten of nanoseconds. */
    private static String time(int power) {
        String[] units = {"ns", "us", "ms", "s"};
        int unit = Math.min(power / 3, units.length - 1);
        return (long) Math.pow(10, power - 3 * unit) + " " + units[unit];
    }

    private static String colour(Rival rival) {
        return COLOURS[rival.ordinal() % COLOURS.length];
    }
}
