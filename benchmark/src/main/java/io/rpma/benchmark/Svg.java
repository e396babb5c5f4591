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

/** A drawing that is built from left to right and from top to bottom. Lengths are in pixels. */
final class Svg {
    private final StringBuilder elements = new StringBuilder();
    private final int width;
    private final int height;

    Svg(int width, int height) {
        this.width = width;
        this.height = height;
        rectangle(0, 0, width, height, "#ffffff");
    }

    void rectangle(double x, double y, double w, double h, String colour) {
        add("<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='%s'/>", x, y, w, h, colour);
    }

    void line(double x1, double y1, double x2, double y2, String colour) {
        add("<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s'/>", x1, y1, x2, y2, colour);
    }

    void polyline(String points, String colour) {
        add("<polyline points='%s' fill='none' stroke='%s' stroke-width='2'/>", points, colour);
    }

    /** Draws text whose start, middle or end (anchor {@code start}, {@code middle}, {@code end}) is at a point. */
    void text(double x, double y, String anchor, String weight, String text) {
        add("<text x='%.1f' y='%.1f' text-anchor='%s' font-weight='%s'>%s</text>", x, y, anchor, weight, escape(text));
    }

    @Override
    public String toString() {
        return "<svg xmlns='http://www.w3.org/2000/svg' width='" + width + "' height='" + height + "' viewBox='0 0 " + width + " "
            + height + "' font-family='sans-serif' font-size='12'>\n" + elements + "</svg>\n";
    }

    /** Escapes text for SVG and HTML. */
    static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private void add(String format, Object... values) {
        elements.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
