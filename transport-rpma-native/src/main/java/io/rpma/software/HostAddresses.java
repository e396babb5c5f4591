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
package io.rpma.software;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The addresses of this host. */
public final class HostAddresses {
    private HostAddresses() {
    }

    /** Returns all of them: those that other hosts could reach come first, and IPv4 before IPv6. */
    public static List<InetAddress> all() {
        List<InetAddress> addresses = new ArrayList<>();
        try {
            NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses).forEach(addresses::add);
        } catch (SocketException e) {
            return List.of();
        }
        addresses.sort(Comparator.comparing(InetAddress::isLoopbackAddress).thenComparing(InetAddress::isLinkLocalAddress)
            .thenComparing(address -> !(address instanceof Inet4Address)));
        return List.copyOf(addresses);
    }

    /** Returns whether an address is one of this host. */
    public static boolean isLocal(InetAddress address) {
        if (address.isLoopbackAddress() || address.isAnyLocalAddress()) {
            return true;
        }
        try {
            return NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException e) {
            return false;
        }
    }
}
