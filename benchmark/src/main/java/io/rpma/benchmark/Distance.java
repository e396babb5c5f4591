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

import java.util.Locale;

/**
 * How far apart the processors of this machine were during a run. Programs that exchange messages through memory take several
 * times as long between processors that are far apart, so only runs at the same distance can be compared.
 */
enum Distance {
    /** A cache line goes from one processor to the other and back in less than {@link #FAR_NANOS}. */
    NEAR("near processors"),
    /** A cache line needs at least {@link #FAR_NANOS}. */
    FAR("far processors"),
    /** The distance changed during the run, and also when the run was repeated. */
    CHANGING("processors at a changing distance"),
    /** There is only one usable processor. */
    NONE("one processor");

    /** The time in nanoseconds, there and back, from which on processors are far apart. */
    static final double FAR_NANOS = 250;
    /** Two times that differ by a greater factor are different distances. */
    private static final double SAME = 1.6;

    private final String title;

    Distance(String title) {
        this.title = title;
    }

    /**
     * Returns the distance during a run.
     *
     * @param before the nanoseconds that a cache line needed before the run, there and back; 0 if there is one processor
     * @param after the same after the run
     */
    static Distance of(double before, double after) {
        if (before == 0 && after == 0) {
            return NONE;
        }
        if (Math.max(before, after) > SAME * Math.min(before, after) || before < FAR_NANOS != after < FAR_NANOS) {
            return CHANGING;
        }
        return before < FAR_NANOS ? NEAR : FAR;
    }

    String title() {
        return title;
    }

    /** Returns the name in files. */
    String key() {
        return name().toLowerCase(Locale.ROOT);
    }
}
