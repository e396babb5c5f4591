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

package io.rpma.netty;

import io.netty.util.NetUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.rpma.Endpoint;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** Binds a server channel: has it listen on each of its paths, all under one port. */
final class Binding {
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(RpmaServerChannel.class);
    /** How often another port is tried where any will do, and one that is free on one path is taken on another. */
    private static final int MOST_PORTS = 16;

    private final AbstractRpmaServerChannel channel;
    private final List<RpmaProvider> providers;

    Binding(AbstractRpmaServerChannel channel) {
        this.channel = channel;
        providers = Paths.providers(channel.paths());
    }

    /**
     * Listens.
     *
     * @return at least one
     * @throws IOException if a path is there and cannot be listened on
     */
    List<Listening> bind(InetSocketAddress address) throws IOException {
        for (int attempt = 1;; attempt++) {
            List<Listening> bound = new ArrayList<>(providers.size());
            try {
                bindAll(address, bound);
                return List.copyOf(bound);
            } catch (RpmaException e) {
                closeAll(bound, e);
                boolean anyPort = address.getPort() == 0 && !bound.isEmpty() && ConnectFailure.isInUse(e);
                if (!anyPort || attempt == MOST_PORTS) {
                    throw ConnectFailure.bind(e, address);
                }
            } catch (RuntimeException e) {
                closeAll(bound, e);
                throw e;
            }
        }
    }

    private static void closeAll(List<Listening> bound, Exception why) {
        try {
            Listening.closeAll(bound);
        } catch (RpmaException e) {
            why.addSuppressed(e);
        }
    }

    private void bindAll(InetSocketAddress address, List<Listening> bound) throws RpmaException {
        int port = address.getPort();
        RpmaException none = null;
        for (RpmaProvider provider : providers) {
            Fabric fabric;
            InetAddress reachable;
            try {
                reachable = provider.reachable(SocketAddresses.withoutName(address.getAddress()));
                if (providers.size() > 1 && address.getAddress().isLoopbackAddress() && !reachable.isLoopbackAddress()) {
                    // Whoever binds to a loopback address means the processes of this host, which other paths reach.
                    continue;
                }
                fabric = Fabric.of(provider.localDevice(reachable));
            } catch (RpmaException e) {
                LOGGER.debug("{} does not listen on the path {}: {}", channel, RpmaPath.of(provider), e.getMessage());
                if (none == null) {
                    none = e;
                } else {
                    none.addSuppressed(e);
                }
                continue;
            }
            Listening made = listen(fabric, reachable, port, bound.isEmpty() ? null : bound.getFirst().endpoint());
            bound.add(made);
            port = made.endpoint().localAddress().getPort();
        }
        if (bound.isEmpty()) {
            throw none;
        }
    }

    private Listening listen(Fabric fabric, InetAddress address, int port, Endpoint beside) throws RpmaException {
        RpmaByteBufAllocator.DEFAULT.prepare(fabric);
        NextChild next = channel.newNext(fabric, true);
        Endpoint endpoint = null;
        try {
            endpoint = endpoint(fabric, address, port, beside);
            return new Listening(fabric, endpoint, next);
        } finally {
            if (endpoint == null) {
                next.drop();
            }
        }
    }

    /** Listens; as with TCP, a wildcard takes connections to addresses of both families, unless IPv4 is to be used alone. */
    private Endpoint endpoint(Fabric fabric, InetAddress address, int port, Endpoint beside) throws RpmaException {
        if (address instanceof Inet4Address && address.isAnyLocalAddress() && !NetUtil.isIpV4StackPreferred()) {
            try {
                return endpoint(fabric, new InetSocketAddress(SocketAddresses.WILDCARD_6, port), beside);
            } catch (RpmaException e) {
                if (!ConnectFailure.isFamilyMissing(e)) {
                    throw e;
                }
                LOGGER.debug("This host has no IPv6: {} listens to IPv4 alone.", channel, e);
            }
        }
        return endpoint(fabric, new InetSocketAddress(address, port), beside);
    }

    private static Endpoint endpoint(Fabric fabric, InetSocketAddress address, Endpoint beside) throws RpmaException {
        return beside == null ? fabric.peer().listen(address) : fabric.peer().listen(address, beside);
    }
}
