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
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.Set;
import org.HdrHistogram.Histogram;

/** The results of all runs so far. */
final class Results {
    private final Map<Key, List<Run>> runs = new LinkedHashMap<>();
    private final Map<Key, List<String>> failures = new LinkedHashMap<>();
    private final Map<Rival, String> skipped = new LinkedHashMap<>();
    private final List<Double> loads = new ArrayList<>();

    /**
     * A combination that runs once in every round.
     *
     * @param mode where the two ends are
     * @param measurement the measurement
     * @param rival the rival that is measured
     */
    record Key(Mode mode, Measurement measurement, Rival rival) {
        @Override
        public String toString() {
            return measurement.name() + " of " + rival.key() + " in " + mode.title();
        }
    }

    /**
     * A run that has succeeded.
     *
     * @param outcome the result
     * @param distance the distance of the processors during the run
     * @param nanos the time in nanoseconds that a cache line took from one processor to another and back
     */
    record Run(Outcome outcome, Distance distance, double nanos) {
    }

    void add(Key key, Run run) {
        runs.computeIfAbsent(key, any -> new ArrayList<>()).add(run);
    }

    void fail(Key key, String reason) {
        failures.computeIfAbsent(key, any -> new ArrayList<>()).add(reason);
    }

    void skip(Rival rival, String reason) {
        skipped.put(rival, reason);
    }

    /** Adds the share of the machine, from 0 to 1, that was busy with other work during a run. */
    void addOtherLoad(double part) {
        loads.add(part);
    }

    /** Returns the combinations that were run, in their order. */
    List<Key> keys() {
        List<Key> keys = new ArrayList<>(runs.keySet());
        failures.keySet().stream().filter(key -> !runs.containsKey(key)).forEach(keys::add);
        return keys;
    }

    /** Returns the distances of the processors that there were during the runs. */
    Set<Distance> distances() {
        Set<Distance> distances = EnumSet.noneOf(Distance.class);
        runs.values().forEach(all -> all.forEach(run -> distances.add(run.distance())));
        return distances;
    }

    /** Returns the results of the runs at one distance of the processors, with all failures. */
    Results at(Distance distance) {
        Results part = new Results();
        runs.forEach((key, all) -> all.stream().filter(run -> run.distance() == distance).forEach(run -> part.add(key, run)));
        part.failures.putAll(failures);
        part.skipped.putAll(skipped);
        part.loads.addAll(loads);
        return part;
    }

    /** Returns the times that a cache line took in the runs, in nanoseconds there and back, in ascending order. */
    double[] nanos() {
        return runs.values().stream().flatMap(List::stream).mapToDouble(Run::nanos).sorted().toArray();
    }

    /** Returns the outcomes of all rounds, in their order. */
    List<Outcome> outcomes(Key key) {
        return runs.getOrDefault(key, List.of()).stream().map(Run::outcome).toList();
    }

    Map<Key, List<String>> failures() {
        return failures;
    }

    Map<Rival, String> skipped() {
        return skipped;
    }

    /** Returns the values of all rounds that have this metric, in ascending order. */
    double[] sorted(Key key, Metric metric) {
        return outcomes(key).stream().map(outcome -> outcome.values().get(metric)).filter(Objects::nonNull)
            .mapToDouble(Double::doubleValue).sorted().toArray();
    }

    /** Returns the median of the rounds; empty if no round has this metric. */
    OptionalDouble median(Key key, Metric metric) {
        double[] sorted = sorted(key, metric);
        return sorted.length == 0 ? OptionalDouble.empty() : OptionalDouble.of(median(sorted));
    }

    /** Returns the durations of the single operations of all rounds. */
    Histogram times(Key key) {
        Histogram all = Outcome.newTimes();
        outcomes(key).forEach(outcome -> all.add(outcome.times()));
        return all;
    }

    /** Returns the median of the machine's other load, from 0 to 1. */
    double otherLoad() {
        return loads.isEmpty() ? 0 : median(loads.stream().mapToDouble(Double::doubleValue).sorted().toArray());
    }

    /** Returns the highest share of the machine that was busy with other work during a run. */
    double highestOtherLoad() {
        return loads.stream().mapToDouble(Double::doubleValue).max().orElse(0);
    }

    static double median(double[] sorted) {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
