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
package io.rpma.soft;

import io.rpma.software.LogLimit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests how much a peer can write to the log. */
class LogLimitTest {
    private final List<String> lines = new ArrayList<>();
    private final Queue<Runnable> later = new ArrayDeque<>();
    private long now = Long.MAX_VALUE - 10;
    private final LogLimit limit = new LogLimit(() -> now, later::add, lines::add);

    private void pass(long nanos) {
        now += nanos;
    }

    @Test
    void aFloodIsAFewLinesAndOneThatCountsTheRest() {
        for (int i = 0; i < 320_472; i++) {
            limit.log("Attacked", "violation " + i);
        }
        assertEquals(List.of("violation 0", "violation 1", "violation 2", "violation 3", "violation 4"), lines);
        assertEquals(1, later.size(), "one task, however many lines were left out");
        pass(LogLimit.WINDOW_NANOS);
        later.remove().run();
        assertEquals(6, lines.size());
        assertEquals("320467 further lines of Attacked were suppressed: the limit is 5 lines per second", lines.getLast());
    }

    @Test
    void afterASecondThereAreLinesAgain() {
        for (int i = 0; i < 7; i++) {
            limit.log("Attacked", "before");
        }
        pass(LogLimit.WINDOW_NANOS - 1);
        limit.log("Attacked", "too early");
        assertEquals(5, lines.size());
        pass(1);
        later.remove().run();
        assertTrue(lines.getLast().startsWith("3 further lines"), lines.getLast());
        limit.log("Attacked", "after");
        assertEquals("after", lines.getLast());
        assertTrue(later.isEmpty());
    }

    @Test
    void aSourceDoesNotSilenceAnother() {
        for (int i = 0; i < 100; i++) {
            limit.log("Attacked", "flood");
        }
        limit.log("Other", "line");
        assertEquals("line", lines.getLast());
    }

    @Test
    void fewLinesAreLeftAlone() {
        for (int i = 0; i < 50; i++) {
            limit.log("Ordinary", "line " + i);
            pass(LogLimit.WINDOW_NANOS / 4);
        }
        assertEquals(50, lines.size());
        assertTrue(later.isEmpty());
    }
}
