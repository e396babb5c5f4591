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
package io.rpma.cli;

import java.net.InetSocketAddress;
import picocli.CommandLine.TypeConversionException;

/**
 * Parses an argument of the form {@code HOST:PORT}, for example {@code 10.0.0.1:7471}, {@code [fd77::1]:7471} or {@code
 * server.example:7471}.
 */
final class AddressArgument {
    private AddressArgument() {
    }

    /** Returns the resolved address. */
    static InetSocketAddress parse(String text) {
        int colon = text.lastIndexOf(':');
        if (colon < 0) {
            throw new TypeConversionException("'" + text + "' has no port; write HOST:PORT, as 10.0.0.1:7471 or [fd77::1]:7471");
        }
        String host = text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            throw new TypeConversionException("'" + text + "': an IPv6 address must be in brackets, as [fd77::1]:7471");
        }
        // Java takes an empty name for this host.
        if (host.isEmpty()) {
            throw new TypeConversionException("'" + text + "' has no host; write HOST:PORT, as 10.0.0.1:7471 or [fd77::1]:7471");
        }
        int port = text.substring(colon + 1).matches("\\d{1,5}") ? Integer.parseInt(text.substring(colon + 1)) : -1;
        if (port < 1 || port > 65535) {
            throw new TypeConversionException("'" + text.substring(colon + 1) + "' is not a port; it must be from 1 to 65535");
        }
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new TypeConversionException("the name '" + host + "' is unknown to this host");
        }
        return address;
    }
}
