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

/**
 * The options of the agent: the text after the equals sign on the command line, separated by semicolons.
 *
 * @param ports the ports whose connections use RPMA, or {@code null} for all ports
 * @param hosts the hosts whose connections use RPMA; empty for all hosts
 * @param report whether the agent prints which classes it changed, which channels it replaced, and at the end how much data they
 *     transferred
 * @param prefixes the packages that replace {@code io.netty} in relocated copies of Netty 4.2
 */
record Options(Ranges ports, List<HostPattern> hosts, boolean report, List<String> prefixes) {
    static final String NETTY = "io.netty";

    /**
     * Parses the options.
     *
     * @throws IllegalArgumentException if an option is unknown or has an invalid value; the message describes the correct form
     */
    static Options parse(String text) {
        Ranges ports = null;
        List<HostPattern> hosts = new ArrayList<>();
        boolean report = false;
        List<String> prefixes = new ArrayList<>();
        for (String option : text == null ? new String[0] : text.split(";")) {
            int equals = option.indexOf('=');
            String name = (equals < 0 ? option : option.substring(0, equals)).trim();
            String value = equals < 0 ? "" : option.substring(equals + 1).trim();
            switch (name) {
                case "" -> {
                    // The text between two semicolons, or the whole text, is empty.
                }
                case "ports" -> ports = ports == null ? Ranges.parse(value) : ports.and(Ranges.parse(value));
                case "hosts" -> {
                    for (String host : value.split(",", -1)) {
                        hosts.add(HostPattern.parse(host));
                    }
                }
                case "report" -> {
                    if (equals >= 0 && !value.equals("true") && !value.equals("false")) {
                        throw new IllegalArgumentException("report=" + value + ": true or false is needed, or report alone");
                    }
                    report = !value.equals("false");
                }
                case "prefix" -> {
                    for (String prefix : value.split(",", -1)) {
                        prefixes.add(prefix(prefix.trim()));
                    }
                }
                default -> throw new IllegalArgumentException("unknown option '" + name
                    + "'; the options are ports, hosts, report and prefix, as in ports=8080,9000-9100;hosts=10.0.0.0/8;report");
            }
        }
        return new Options(ports, List.copyOf(hosts), report, List.copyOf(prefixes));
    }

    private static String prefix(String prefix) {
        if (!prefix.endsWith('.' + NETTY)) {
            throw new IllegalArgumentException("prefix=" + prefix
                + ": the whole name of a relocated package io.netty is needed, such as shaded.io.netty");
        }
        return prefix;
    }
}
