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

import java.util.ArrayList;
import java.util.List;

/** Records when each processor of the machine ran no process, as measured by {@link HiccupMain}. Thread-safe. */
final class Pauses {
    private final List<List<long[]>> ofProcessor = new ArrayList<>();
    private long longest;

    /** Adds a gap of one processor, in the nanoseconds of {@link System#nanoTime}. */
    synchronized void add(int processor, long from, long to) {
        while (ofProcessor.size() <= processor) {
            ofProcessor.add(new ArrayList<>());
        }
        ofProcessor.get(processor).add(new long[] {from, to});
        longest = Math.max(longest, to - from);
    }

    /** Returns the duration of the longest gap in milliseconds. */
    synchronized double longest() {
        return longest / 1e6;
    }

    /**
     * Returns how much of an interval is not covered by the gaps of the processor with the longest gaps in it, in nanoseconds.
     */
    synchronized long excess(long from, long to) {
        long most = 0;
        for (List<long[]> gaps : ofProcessor) {
            long sum = 0;
            for (int i = gaps.size() - 1; i >= 0 && gaps.get(i)[1] > from; i--) {
                sum += Math.max(0, Math.min(to, gaps.get(i)[1]) - Math.max(from, gaps.get(i)[0]));
            }
            most = Math.max(most, sum);
        }
        return to - from - most;
    }
}
