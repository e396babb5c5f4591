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
package io.rpma;

import java.util.List;
import java.util.TreeSet;
import org.slf4j.LoggerFactory;

/**
 * The system properties of RPMA for Java and of the Netty transport. Without these checks a name that is mistyped would have no
 * effect, and nothing would say so, and a switch would take a value that is mistyped for its default or for {@code false}.
 */
final class KnownProperties {
    private static final String PREFIX = "io.rpma.";

    /** The properties that are true or false. */
    private static final List<String> SWITCHES = List.of("io.rpma.librpma.critical", "io.rpma.soft.faults",
        "io.rpma.soft.withoutImmediateData");

    /** The other properties. */
    private static final List<String> OTHERS = List.of("io.rpma.library", "io.rpma.librpma.log",
        "io.rpma.netty.maxBulkBytes", "io.rpma.netty.maxRegisteredBytes", "io.rpma.netty.paths", "io.rpma.netty.polling",
        "io.rpma.netty.sharedReceiveBuffers", "io.rpma.netty.spinNanos", "io.rpma.provider", "io.rpma.soft.directory");

    /** What follows the prefix in the properties of the programs and tests of this project. */
    private static final List<String> PROGRAMS = List.of("agent.", "benchmark.", "docs.", "examples.", "testsuite.");

    // Guarded by the class.
    private static boolean warned;

    private KnownProperties() {
    }

    /**
     * Warns once of each property that does not exist.
     *
     * @throws RpmaUnavailableException if a switch is neither true nor false
     */
    static synchronized void check() {
        if (!warned) {
            warned = true;
            warnOfUnknown();
        }
        for (String name : SWITCHES) {
            String value = System.getProperty(name);
            if (value != null && !value.equalsIgnoreCase("true") && !value.equalsIgnoreCase("false")) {
                throw new RpmaUnavailableException("-D" + name + " is '" + value + "'; it must be true or false", null);
            }
        }
    }

    private static void warnOfUnknown() {
        TreeSet<String> known = new TreeSet<>(SWITCHES);
        known.addAll(OTHERS);
        for (String name : new TreeSet<>(System.getProperties().stringPropertyNames())) {
            if (name.startsWith(PREFIX) && !known.contains(name)
                    && PROGRAMS.stream().noneMatch(program -> name.startsWith(program, PREFIX.length()))) {
                LoggerFactory.getLogger(KnownProperties.class).warn("-D{} has no effect, because there is no such property;"
                    + " those that exist are {}", name, String.join(", ", known));
            }
        }
    }
}
