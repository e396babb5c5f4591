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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LiveHistogramTest {
    private final StringWriter text = new StringWriter();
    private final Histogram times = new Histogram(3);

    LiveHistogramTest() {
        times.recordValueWithCount(3_000, 100);
        times.recordValueWithCount(15_000, 1);
    }

    @Test
    void barsReachFromTheFirstToTheLastStep() {
        assertEquals(List.of(
            "    < 5 us " + "#".repeat(50) + " 100",
            "   < 10 us " + " ".repeat(50) + " 0",
            "   < 20 us #" + " ".repeat(49) + " 1"), Summary.bars(times));
        assertEquals(List.of(), Summary.bars(new Histogram(3)));
    }

    /** A row that is wider than the window must neither be wrapped, nor stay when the histogram is erased. */
    @ParameterizedTest
    @ValueSource(ints = {40, 80, 200})
    void aTerminalIsDrawnOver(int columns) {
        LiveHistogram live = new LiveHistogram(new PrintWriter(text), true);
        live.show(times, 1);
        List<String> picture = rows(columns);
        assertEquals(5, picture.size(), picture::toString);
        assertTrue(picture.getFirst().startsWith("    < 5 us ####"), picture::toString);
        live.show(times, 2);
        assertEquals(picture, rows(columns));
        live.wipe();
        assertEquals(List.of(), rows(columns));
    }

    /** A terminal shows the keys that the user presses, such as ^C, after the last row. */
    @Test
    void aKeyDoesNotMoveTheRows() {
        LiveHistogram live = new LiveHistogram(new PrintWriter(text), true);
        live.show(times, 1);
        List<String> picture = rows(80);
        text.write("^C");
        live.show(times, 2);
        assertEquals(picture, rows(80));
    }

    @Test
    void everythingFitsInto80Columns() {
        new LiveHistogram(new PrintWriter(text), true).show(times, 1);
        List<String> wanted = new ArrayList<>(Summary.bars(times));
        wanted.add("roundtrips=101 min=3.0 us p50=3.0 us p90=3.0 us");
        wanted.add("p99=3.0 us p99.9=15.0 us max=15.0 us");
        assertEquals(wanted, rows(80));
        assertEquals(String.join(" ", wanted.subList(3, 5)), Summary.line(times));
    }

    /** Returns what a terminal shows after it has received the text. Below the last row there is nothing. */
    private List<String> rows(int columns) {
        List<StringBuilder> rows = new ArrayList<>();
        int row = 0;
        int column = 0;
        boolean wraps = true;
        Matcher parts = Pattern.compile("\033\\[(\\??)(\\d*)(.)|\\R|.").matcher(text.toString());
        while (parts.find()) {
            while (rows.size() <= row) {
                rows.add(new StringBuilder());
            }
            if (parts.group().equals(System.lineSeparator())) {
                row++;
                column = 0;
            } else if (parts.group(3) == null) {
                if (column == columns && wraps) {
                    row++;
                    column = 0;
                    rows.add(row, new StringBuilder());
                }
                // Without wrapping, the last column shows the last character.
                column = Math.min(column, columns - 1);
                rows.get(row).setLength(column);
                rows.get(row).append(parts.group());
                column++;
            } else {
                switch (parts.group(1) + parts.group(3)) {
                    case "F" -> {
                        row -= Integer.parseInt(parts.group(2));
                        column = 0;
                    }
                    case "J" -> {
                        rows.get(row).setLength(column);
                        rows.subList(row + 1, rows.size()).clear();
                    }
                    case "?h" -> wraps = true;
                    case "?l" -> wraps = false;
                    default -> throw new AssertionError(parts.group());
                }
            }
        }
        assertTrue(wraps);
        List<String> shown = new ArrayList<>(rows.stream().map(StringBuilder::toString).toList());
        while (!shown.isEmpty() && shown.getLast().isEmpty()) {
            shown.removeLast();
        }
        return shown;
    }

    @Test
    void aFileGetsALineASecond() {
        LiveHistogram live = new LiveHistogram(new PrintWriter(text), false);
        for (int tenths = 0; tenths <= 32; tenths++) {
            live.show(times, tenths * 100_000_000L);
        }
        live.wipe();
        assertEquals(List.of("1", "2", "3"),
            text.toString().lines().map(line -> line.strip().substring(0, 1)).toList());
    }
}
