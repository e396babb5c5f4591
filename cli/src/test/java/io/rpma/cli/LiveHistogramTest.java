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
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

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

    @Test
    void aTerminalIsDrawnOver() {
        LiveHistogram live = new LiveHistogram(new PrintWriter(text), true);
        live.show(times, 1);
        assertEquals(4, text.toString().lines().count());
        live.show(times, 2);
        assertTrue(text.toString().contains("\033[4A\033[J    < 5 us"), text::toString);
        live.wipe();
        assertTrue(text.toString().endsWith("\033[4A\033[J"), text::toString);
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
