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
package io.rpma.testsuite;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The result of one test class. Each invocation of a parameterised test counts as a test, as in JUnit and Maven. */
final class ClassTally {
    private static final String ASSUMPTION = "org.opentest4j.TestAbortedException: Assumption failed: ";
    private static final String SAYS_NOTHING = "assumption is not true";

    private final Class<?> type;
    private final Map<String, Integer> skippedBecause = new TreeMap<>();
    private final List<String> failures = new ArrayList<>();
    private int passed;
    private int skipped;
    private long nanos;

    ClassTally(Class<?> type) {
        this.type = type;
    }

    void start() {
        nanos = -System.nanoTime();
    }

    void stop() {
        nanos += System.nanoTime();
    }

    void passed() {
        passed++;
    }

    void skipped(String test, String reason) {
        skipped++;
        skippedBecause.merge(shown(test, reason), 1, Integer::sum);
    }

    private static String shown(String test, String reason) {
        if (reason.endsWith(" is @Disabled")) {
            return test + ": disabled in Netty's suite";
        }
        if (reason.startsWith(ASSUMPTION)) {
            String assumption = reason.substring(ASSUMPTION.length());
            return assumption.equals(SAYS_NOTHING) ? test + ": an assumption of the suite" : "assumption: " + assumption;
        }
        return reason.isBlank() ? "no reason given" : reason.strip();
    }

    void failed(String what) {
        failures.add(what);
    }

    Class<?> type() {
        return type;
    }

    int passedCount() {
        return passed;
    }

    int skippedCount() {
        return skipped;
    }

    List<String> failures() {
        return failures;
    }

    /** Returns the reasons for skipping tests, with the number of tests for each of them. */
    Map<String, Integer> skippedBecause() {
        return skippedBecause;
    }

    int total() {
        return passed + failures.size() + skipped;
    }

    double seconds() {
        return nanos / 1e9;
    }
}
