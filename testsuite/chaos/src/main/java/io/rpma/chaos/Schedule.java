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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * The order, duration and seed of the cases, all derived from one seed. The total time is divided into rounds, and each case has
 * one turn in each round.
 */
final class Schedule {
    private static final long ROUND_MILLIS = 150_000;

    private final List<Turn> turns;

    private Schedule(List<Turn> turns) {
        this.turns = turns;
    }

    /**
     * The run of a case within a round.
     *
     * @param chaosCase the case
     * @param seed the seed of the random decisions
     * @param millis the duration in milliseconds
     */
    record Turn(ChaosCase chaosCase, long seed, long millis) {
    }

    static Schedule of(long seed, long millis, List<ChaosCase> cases) {
        Random random = new Random(seed);
        int rounds = (int) Math.max(1, Math.round((double) millis / ROUND_MILLIS));
        int weights = cases.stream().mapToInt(ChaosCase::weight).sum();
        List<Turn> turns = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            List<ChaosCase> order = new ArrayList<>(cases);
            Collections.shuffle(order, random);
            for (ChaosCase each : order) {
                turns.add(new Turn(each, random.nextLong(), millis * each.weight() / weights / rounds));
            }
        }
        return new Schedule(turns);
    }

    List<Turn> turns() {
        return turns;
    }

    void run(Surroundings surroundings) throws Exception {
        for (int i = 0; i < turns.size(); i++) {
            surroundings.run(turns.get(i), i + 1 + "/" + turns.size());
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("schedule:");
        for (Turn turn : turns) {
            text.append(' ').append(turn.chaosCase().name()).append('(').append(turn.millis() / 1000.0).append(" s, ")
                .append(Long.toHexString(turn.seed())).append(')');
        }
        return text.append('\n').toString();
    }
}
