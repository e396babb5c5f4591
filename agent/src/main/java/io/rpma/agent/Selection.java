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

import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** Decides which addresses use RPMA. */
final class Selection {
    /** The port of name servers. TCP connections to this port carry queries to name servers, which do not use RPMA. */
    private static final int DNS_PORT = 53;

    private final Options options;

    Selection(Options options) {
        this.options = options;
    }

    /** Returns whether a channel whose address is unknown at its creation uses RPMA. It does so only if all addresses do. */
    boolean includesUnknown() {
        return options.ports() == null && options.hosts().isEmpty();
    }

    /** Returns whether a connection to the address uses RPMA; {@code null} means that the address is not known. */
    boolean includesRemote(SocketAddress remote) {
        if (remote == null) {
            return includesUnknown();
        }
        return remote instanceof InetSocketAddress inet && includesPort(inet.getPort()) && includesHost(inet);
    }

    /**
     * Returns whether a server that listens on the address uses RPMA. A server that listens on all addresses is selected by its
     * port.
     */
    boolean includesLocal(SocketAddress local) {
        if (local == null) {
            return includesUnknown();
        }
        return local instanceof InetSocketAddress inet && includesPort(inet.getPort())
            && (inet.getAddress() != null && inet.getAddress().isAnyLocalAddress() || includesHost(inet));
    }

    private boolean includesPort(int port) {
        return options.ports() == null ? port != DNS_PORT : options.ports().contain(port);
    }

    private boolean includesHost(InetSocketAddress address) {
        return options.hosts().isEmpty() || options.hosts().stream().anyMatch(host -> host.matches(address));
    }
}
