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

package io.rpma.agent;

import java.util.ArrayList;
import java.util.List;

/** Ports and ranges of ports, for example {@code 8080,9000-9100}. */
record Ranges(List<Range> ranges) {
    private static final int MAX_PORT = 65535;

    /** A range of ports that includes both its first and its last port. */
    record Range(int first, int last) {
    }

    static Ranges parse(String text) {
        List<Range> ranges = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            int dash = part.indexOf('-');
            int first = port(dash < 0 ? part : part.substring(0, dash));
            int last = dash < 0 ? first : port(part.substring(dash + 1));
            if (first > last) {
                throw new IllegalArgumentException("the range of ports " + part.trim() + " ends before it begins");
            }
            ranges.add(new Range(first, last));
        }
        return new Ranges(List.copyOf(ranges));
    }

    /** Returns these ports and others. */
    Ranges and(Ranges others) {
        List<Range> all = new ArrayList<>(ranges);
        all.addAll(others.ranges);
        return new Ranges(List.copyOf(all));
    }

    private static int port(String text) {
        try {
            int port = Integer.parseInt(text.trim());
            if (port >= 0 && port <= MAX_PORT) {
                return port;
            }
        } catch (NumberFormatException e) {
            // The exception below reports this.
        }
        throw new IllegalArgumentException("'" + text.trim() + "' is not a port: a number from 0 to " + MAX_PORT
            + " is needed, or a range such as 9000-9100");
    }

    boolean contain(int port) {
        for (Range range : ranges) {
            if (range.first() <= port && port <= range.last()) {
                return true;
            }
        }
        return false;
    }
}
