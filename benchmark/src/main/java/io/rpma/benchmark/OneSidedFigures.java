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
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

/** The figures of all rounds. The reports contain their medians. */
final class OneSidedFigures {
    private record Key(String name, int bytes, boolean isAlone) {
    }

    private final Map<Key, List<OneSidedFigure>> all = new LinkedHashMap<>();
    private final List<String> notes = new ArrayList<>();

    void add(OneSidedFigure figure) {
        all.computeIfAbsent(new Key(figure.name(), figure.bytes(), figure.depth() == 1), key -> new ArrayList<>()).add(figure);
    }

    /** Adds a sentence for the reader of the report. */
    void note(String sentence) {
        if (!notes.contains(sentence)) {
            notes.add(sentence);
        }
    }

    List<String> notes() {
        return notes;
    }

    /**
     * Returns the names that have figures for single operations, or for many outstanding operations, in the order in which they
     * were added.
     */
    List<String> names(boolean isAlone) {
        return all.keySet().stream().filter(key -> key.isAlone == isAlone).map(Key::name).distinct().toList();
    }

    /** Returns all sizes in ascending order. */
    List<Integer> sizes() {
        return all.keySet().stream().map(Key::bytes).distinct().sorted().toList();
    }

    /** Returns all figures, grouped by size and name. */
    List<OneSidedFigure> all() {
        return all.values().stream().flatMap(List::stream).toList();
    }

    /** Returns the median of the rounds; empty if nothing was measured. */
    OptionalDouble median(String name, int bytes, boolean isAlone, ToDoubleFunction<OneSidedFigure> quantity) {
        double[] values = all.getOrDefault(new Key(name, bytes, isAlone), List.of()).stream().mapToDouble(quantity).toArray();
        if (values.length == 0) {
            return OptionalDouble.empty();
        }
        Arrays.sort(values);
        return OptionalDouble.of((values[(values.length - 1) / 2] + values[values.length / 2]) / 2);
    }
}
