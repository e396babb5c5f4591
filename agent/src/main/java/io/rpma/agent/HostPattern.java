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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Locale;

/**
 * A host whose connections use RPMA: a name ({@code db1}), a suffix of names ({@code *.cluster}), an address ({@code 10.0.0.2}),
 * or a network ({@code 10.0.0.0/8}). A name is compared with the name that the application passed. An address is compared with
 * the address that the application passed or resolved. No name is resolved for the comparison.
 */
record HostPattern(String name, byte[] address, int bits) {
    static HostPattern parse(String text) {
        String pattern = text.trim().toLowerCase(Locale.ROOT);
        if (pattern.isEmpty()) {
            throw new IllegalArgumentException("an empty host; a name, *.domain, an address, or a network such as 10.0.0.0/8 is"
                + " needed");
        }
        int slash = pattern.indexOf('/');
        String host = slash < 0 ? pattern : pattern.substring(0, slash);
        if (!host.contains(":") && !host.matches("[0-9.]+")) {
            if (slash >= 0) {
                throw new IllegalArgumentException("'" + pattern + "' is not a network: an address is required before the slash");
            }
            return new HostPattern(name(pattern), null, 0);
        }
        // Java completes an address with fewer numbers in the middle: it takes 10.1 for 10.0.0.1, also in 10.1/16.
        if (!host.contains(":") && !host.matches("[0-9]+([.][0-9]+){3}")) {
            throw new IllegalArgumentException("'" + host + "' is not an address: four numbers are required, as in 10.1.0.0"
                + " or in the network 10.1.0.0/16");
        }
        byte[] address;
        try {
            address = InetAddress.getByName(host).getAddress();
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("'" + host + "' is not an address", e);
        }
        int bits = address.length * 8;
        if (slash >= 0) {
            try {
                bits = Integer.parseInt(pattern.substring(slash + 1));
            } catch (NumberFormatException e) {
                bits = -1;
            }
            if (bits < 0 || bits > address.length * 8) {
                throw new IllegalArgumentException("'" + pattern + "' is not a network: a number from 0 to "
                    + address.length * 8 + " is required after the slash");
            }
        }
        return new HostPattern(null, address, bits);
    }

    /** Returns a name or a suffix of names, if a host can have it. */
    private static String name(String pattern) {
        String name = pattern.startsWith("*.") ? pattern.substring(2) : pattern;
        if (name.isEmpty() || name.contains("*")) {
            throw new IllegalArgumentException("'" + pattern + "' is not a host: '*' is allowed only at the beginning, as in"
                + " *.domain; addresses are selected by a network such as 10.0.0.0/8, and without the option hosts, all hosts"
                + " are selected");
        }
        if (name.chars().anyMatch(Character::isWhitespace)) {
            throw new IllegalArgumentException("'" + pattern + "' is not a host: it contains a blank, and several hosts are"
                + " separated by commas");
        }
        return pattern;
    }

    boolean matches(InetSocketAddress target) {
        if (name == null) {
            return target.getAddress() != null ? matches(target.getAddress().getAddress()) : matchesText(target.getHostString());
        }
        String host = target.getHostString().toLowerCase(Locale.ROOT);
        return name.startsWith("*.") ? host.endsWith(name.substring(1)) : host.equals(name);
    }

    /** Matches an unresolved address whose host name is the text of an IP address. */
    private boolean matchesText(String host) {
        try {
            return (host.contains(":") || host.matches("[0-9.]+")) && matches(InetAddress.getByName(host).getAddress());
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private boolean matches(byte[] other) {
        if (other.length != address.length) {
            return false;
        }
        for (int bit = 0; bit < bits; bit++) {
            int mask = 0x80 >> (bit & 7);
            if ((other[bit >> 3] & mask) != (address[bit >> 3] & mask)) {
                return false;
            }
        }
        return true;
    }
}
