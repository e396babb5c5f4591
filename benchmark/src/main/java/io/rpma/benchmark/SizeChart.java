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

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

/** Draws a quantity by size, with a line for each operation. Both axes are logarithmic. */
final class SizeChart {
    private static final String[] COLOURS = {"#c1272d", "#1f77b4", "#e58e26", "#2ca02c", "#9467bd", "#17a2b8", "#202020",
        "#7f7f7f", "#8c564b", "#b5a000", "#f06bb5", "#6b9ff0"};
    private static final String GREY = "#d0d0d0";
    private static final int WIDTH = 820;
    private static final int LEFT = 90;
    private static final int RIGHT = 190;
    private static final int TOP = 40;
    private static final int HEIGHT = 380;
    private static final int BOTTOM = 40;

    private final OneSidedFigures figures;
    private final boolean isAlone;
    private final ToDoubleFunction<OneSidedFigure> quantity;
    private final List<Integer> sizes;
    private final double lowest;
    private final double highest;

    /**
     * Creates a chart.
     *
     * @param isAlone whether to draw the figures of single operations, rather than those of many outstanding operations
     */
    SizeChart(OneSidedFigures figures, boolean isAlone, ToDoubleFunction<OneSidedFigure> quantity) {
        this.figures = figures;
        this.isAlone = isAlone;
        this.quantity = quantity;
        sizes = figures.sizes();
        double[] values = figures.names(isAlone).stream().flatMapToDouble(name -> sizes.stream()
            .flatMapToDouble(bytes -> value(name, bytes).stream())).filter(value -> value > 0).toArray();
        lowest = Math.floor(Math.log10(Arrays.stream(values).min().orElse(1)));
        highest = Math.max(lowest + 1, Math.ceil(Math.log10(Arrays.stream(values).max().orElse(1))));
    }

    private OptionalDouble value(String name, int bytes) {
        return figures.median(name, bytes, isAlone, quantity);
    }

    /** Returns the chart; {@code null} if there is nothing to draw. */
    String draw(String title) {
        List<String> names = figures.names(isAlone);
        if (names.isEmpty()) {
            return null;
        }
        Svg svg = new Svg(WIDTH, TOP + HEIGHT + BOTTOM);
        svg.text(10, 22, "start", "bold", title);
        for (double power = lowest; power <= highest; power++) {
            svg.line(LEFT, y(power), WIDTH - RIGHT, y(power), GREY);
            svg.text(LEFT - 6, y(power) + 4, "end", "normal", label(Math.pow(10, power)));
        }
        for (int bytes : sizes) {
            svg.line(x(bytes), TOP, x(bytes), TOP + HEIGHT, GREY);
            svg.text(x(bytes), TOP + HEIGHT + 18, "middle", "normal", new OneSidedSize(bytes, 1).title());
        }
        int legend = TOP + 10;
        for (int i = 0; i < names.size(); i++) {
            String colour = COLOURS[i % COLOURS.length];
            line(svg, names.get(i), colour);
            svg.rectangle(WIDTH - RIGHT + 12, legend - 9, 10, 10, colour);
            svg.text(WIDTH - RIGHT + 28, legend, "start", "normal", names.get(i));
            legend += 20;
        }
        return svg.toString();
    }

    private void line(Svg svg, String name, String colour) {
        StringBuilder points = new StringBuilder();
        for (int bytes : sizes) {
            OptionalDouble value = value(name, bytes);
            if (value.isPresent() && value.getAsDouble() > 0) {
                double x = x(bytes);
                double y = y(Math.log10(value.getAsDouble()));
                points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
                svg.rectangle(x - 2.5, y - 2.5, 5, 5, colour);
            }
        }
        svg.polyline(points.toString().trim(), colour);
    }

    private double x(int bytes) {
        double first = Math.log(sizes.getFirst());
        double width = Math.max(1, Math.log(sizes.getLast()) - first);
        return LEFT + 20 + (WIDTH - LEFT - RIGHT - 40) * (Math.log(bytes) - first) / width;
    }

    private double y(double power) {
        return TOP + HEIGHT * (highest - power) / (highest - lowest);
    }

    private static String label(double value) {
        return value >= 1 ? String.format(Locale.ROOT, "%,.0f", value) : Double.toString(value);
    }
}
