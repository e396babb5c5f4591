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

package io.rpma.chaos.cases;

import io.rpma.chaos.Surroundings;
import java.util.SplittableRandom;

/** A way to behave in a hostile manner toward a server. */
public interface ChaosCase {
    /** Returns the name of the case in the table. */
    String name();

    /** Returns the weight of this case, which determines its share of the time. */
    int weight();

    /** Returns whether a provider has the feature that this case attacks. */
    default boolean runsOn(String provider) {
        return true;
    }

    /**
     * Runs the case until its time is over. Processes that are still running are killed afterwards.
     *
     * @param end the end of the case, as a value of {@link System#nanoTime}
     */
    void run(Surroundings surroundings, SplittableRandom random, long end) throws Exception;
}
