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

package io.rpma.chaos;

import io.rpma.chaos.cases.ChaosCase;
import io.rpma.chaos.cases.ChaosCases;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests that the same seed leads to the same schedule, and that every case is run. */
class ScheduleTest {
    private static final List<ChaosCase> CASES = ChaosCases.all();

    @Test
    void followsFromTheSeed() {
        assertEquals(Schedule.of(7, 1_800_000, CASES).toString(), Schedule.of(7, 1_800_000, CASES).toString());
        assertNotEquals(Schedule.of(7, 1_800_000, CASES).toString(), Schedule.of(8, 1_800_000, CASES).toString());
    }

    @Test
    void everyCaseHasItsTurnInEachRound() {
        List<Schedule.Turn> turns = Schedule.of(1, 600_000, CASES).turns();
        assertEquals(0, turns.size() % CASES.size());
        Set<Long> seeds = new HashSet<>();
        turns.forEach(turn -> seeds.add(turn.seed()));
        assertEquals(turns.size(), seeds.size());
        for (int from = 0; from < turns.size(); from += CASES.size()) {
            assertEquals(CASES.size(), turns.subList(from, from + CASES.size()).stream().map(Schedule.Turn::chaosCase).distinct()
                .count());
        }
        long sum = turns.stream().mapToLong(Schedule.Turn::millis).sum();
        assertTrue(sum <= 600_000 && sum > 590_000, () -> "in all " + sum + " ms");
    }
}
