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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import org.HdrHistogram.Histogram;

/** All that the runs have yielded so far. */
final class Results {
    private final Map<Key, List<Outcome>> outcomes = new LinkedHashMap<>();
    private final Map<Key, List<String>> failures = new LinkedHashMap<>();
    private final Map<Rival, String> skipped = new LinkedHashMap<>();
    private final List<Double> loads = new ArrayList<>();

    /**
     * What is run once in every round.
     *
     * @param mode how the two ends live
     * @param measurement what is measured
     * @param rival of what
     */
    record Key(Mode mode, Measurement measurement, Rival rival) {
        @Override
        public String toString() {
            return measurement.name() + " of " + rival.key() + " in " + mode.title();
        }
    }

    void add(Key key, Outcome outcome) {
        outcomes.computeIfAbsent(key, any -> new ArrayList<>()).add(outcome);
    }

    void fail(Key key, String reason) {
        failures.computeIfAbsent(key, any -> new ArrayList<>()).add(reason);
    }

    void skip(Rival rival, String reason) {
        skipped.put(rival, reason);
    }

    /** Adds which part of the machine, from 0 to 1, was busy with something else while a run went on. */
    void addOtherLoad(double part) {
        loads.add(part);
    }

    /** Returns what was run, in order. */
    List<Key> keys() {
        List<Key> keys = new ArrayList<>(outcomes.keySet());
        failures.keySet().stream().filter(key -> !outcomes.containsKey(key)).forEach(keys::add);
        return keys;
    }

    /** Returns the outcomes of all rounds, in order. */
    List<Outcome> outcomes(Key key) {
        return outcomes.getOrDefault(key, List.of());
    }

    Map<Key, List<String>> failures() {
        return failures;
    }

    Map<Rival, String> skipped() {
        return skipped;
    }

    /** Returns the values of all rounds that have yielded this metric, the smallest first. */
    double[] sorted(Key key, Metric metric) {
        return outcomes(key).stream().map(outcome -> outcome.values().get(metric)).filter(Objects::nonNull)
            .mapToDouble(Double::doubleValue).sorted().toArray();
    }

    /** Returns the median of the rounds, if any round has yielded this metric. */
    OptionalDouble median(Key key, Metric metric) {
        double[] sorted = sorted(key, metric);
        return sorted.length == 0 ? OptionalDouble.empty() : OptionalDouble.of(median(sorted));
    }

    /** Returns the times of single operations of all rounds together. */
    Histogram times(Key key) {
        Histogram all = Outcome.newTimes();
        outcomes(key).forEach(outcome -> all.add(outcome.times()));
        return all;
    }

    /** Returns the median of what else the machine was busy with, from 0 to 1. */
    double otherLoad() {
        return loads.isEmpty() ? 0 : median(loads.stream().mapToDouble(Double::doubleValue).sorted().toArray());
    }

    /** Returns the most that the machine was busy with something else while a run went on. */
    double highestOtherLoad() {
        return loads.stream().mapToDouble(Double::doubleValue).max().orElse(0);
    }

    private static double median(double[] sorted) {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
