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
package io.rpma.netty.connect;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests how much clients can make a server write to its log. */
class LogLimitTest {
    private final List<Long> told = new ArrayList<>();
    private final Queue<Runnable> later = new ArrayDeque<>();
    private long now = Long.MAX_VALUE - 10;
    private final LogLimit limit = new LogLimit(() -> now, later::add, told::add);

    private int admitted(int lines) {
        int admitted = 0;
        for (int i = 0; i < lines; i++) {
            admitted += limit.admits() ? 1 : 0;
        }
        return admitted;
    }

    @Test
    void aFloodIsAFewLinesAndTheNumberOfTheRest() {
        assertEquals(LogLimit.LINES, admitted(320_472));
        assertEquals(1, later.size(), "one task, however many lines were left out");
        later.remove().run();
        assertEquals(List.of(320_467L), told);
    }

    @Test
    void afterASecondThereAreLinesAgain() {
        assertEquals(LogLimit.LINES, admitted(7));
        now += LogLimit.WINDOW_NANOS - 1;
        assertFalse(limit.admits());
        now++;
        assertTrue(limit.admits());
        later.remove().run();
        assertEquals(List.of(3L), told);
        assertTrue(later.isEmpty());
    }

    @Test
    void fewLinesAreLeftAlone() {
        for (int i = 0; i < 50; i++) {
            assertTrue(limit.admits());
            now += LogLimit.WINDOW_NANOS / 4;
        }
        assertTrue(later.isEmpty());
    }
}
