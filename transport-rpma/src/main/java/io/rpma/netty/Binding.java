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

import io.netty.channel.Channel;
import io.netty.util.NetUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.rpma.Device;
import io.rpma.Endpoint;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.netty.connect.ConnectFailure;
import io.rpma.netty.connect.SocketAddresses;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.pair.TransportLogger;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Binds a server channel: listens on each of its paths, all under one port. */
final class Binding {
    private static final InternalLogger LOGGER = TransportLogger.LOGGER;
    /** How often another port is tried if any port is allowed, but the chosen one is free on one path and in use on another. */
    private static final int MOST_PORTS = 16;

    private final Channel channel;
    private final ChildPreparation children;
    private final List<RpmaProvider> providers;

    /**
     * Prepares a bind.
     *
     * @param channel the server channel
     * @param paths the paths to listen on
     * @param children prepares the first child of each endpoint
     */
    Binding(Channel channel, List<RpmaPath> paths, ChildPreparation children) {
        this.channel = channel;
        this.children = children;
        providers = new ArrayList<>(Paths.providers(paths));
        // An iWARP device needs a TCP port, which the other paths have to take first.
        providers.sort(Comparator.comparing(provider -> RpmaPath.of(provider) == RpmaPath.RDMA));
    }

    /**
     * Listens on all paths.
     *
     * @return the endpoints, at least one
     * @throws IOException if listening on an available path fails
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

    /**
     * Returns the local address of a channel that was bound to an address: a wildcard if the channel was bound to one.
     *
     * @param bound the result of {@link #bind} for the address
     */
    static InetSocketAddress localAddress(InetSocketAddress address, List<Listening> bound) {
        InetSocketAddress first = bound.getFirst().endpoint().localAddress();
        InetAddress wildcard = address.getAddress();
        if (!wildcard.isAnyLocalAddress() || first.getAddress().isAnyLocalAddress()) {
            return first;
        }
        return new InetSocketAddress(takesBothFamilies(wildcard) ? SocketAddresses.WILDCARD_6
            : SocketAddresses.withoutName(wildcard), first.getPort());
    }

    private static void closeAll(List<Listening> bound, Exception why) {
        try {
            Listening.closeAll(bound);
        } catch (RpmaException e) {
            why.addSuppressed(e);
        }
    }

    private void bindAll(InetSocketAddress address, List<Listening> bound) throws RpmaException {
        RpmaException none = null;
        for (RpmaProvider provider : providers) {
            List<Place> places;
            try {
                places = places(provider, SocketAddresses.withoutName(address.getAddress()));
            } catch (RpmaException e) {
                LOGGER.debug("{} does not listen on the path {}: {}", channel, RpmaPath.of(provider), e.getMessage());
                none = first(none, e);
                continue;
            }
            RpmaException gone = listenAll(places, address.getPort(), bound);
            if (gone != null) {
                none = first(none, gone);
            }
        }
        if (bound.isEmpty()) {
            throw none;
        }
    }

    private static RpmaException first(RpmaException first, RpmaException next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }

    /** An address on which a provider listens. */
    private record Place(Fabric fabric, InetAddress address) {
    }

    /** Returns the places where a provider has to listen; none if the address only concerns other paths. */
    private List<Place> places(RpmaProvider provider, InetAddress address) throws RpmaException {
        InetAddress reachable = provider.reachable(address);
        if (address.isAnyLocalAddress() && !reachable.isAnyLocalAddress()) {
            List<Place> places = placesOfAllDevices(provider, address);
            if (!places.isEmpty()) {
                return places;
            }
        }
        if (providers.size() > 1 && address.isLoopbackAddress() && !reachable.isLoopbackAddress()) {
            // A loopback address stands for the processes of this host, which other paths reach.
            return List.of();
        }
        return List.of(new Place(Fabric.of(provider.localDevice(reachable)), reachable));
    }

    /**
     * Returns the places that a wildcard stands for if a provider listens only at addresses of devices: all of them, as with
     * TCP. Link-local addresses are excluded, because they are not usable without their interface.
     */
    private static List<Place> placesOfAllDevices(RpmaProvider provider, InetAddress wildcard) throws RpmaException {
        boolean bothFamilies = takesBothFamilies(wildcard);
        List<Place> places = new ArrayList<>();
        for (Device device : provider.devices()) {
            Fabric fabric = Fabric.of(device);
            for (InetAddress each : device.addresses()) {
                if (!each.isLinkLocalAddress() && (bothFamilies || each instanceof Inet4Address)) {
                    places.add(new Place(fabric, each));
                }
            }
        }
        return places;
    }

    /**
     * Returns whether a wildcard accepts connections to addresses of both families: as with TCP, unless only IPv4 is to be
     * used.
     */
    private static boolean takesBothFamilies(InetAddress wildcard) {
        return !(wildcard instanceof Inet4Address) || !NetUtil.isIpV4StackPreferred();
    }

    /**
     * Listens at several places, under the given port or under the port of the channel's first endpoint.
     *
     * @return why one of the places is not available, or {@code null}
     */
    private RpmaException listenAll(List<Place> places, int port, List<Listening> bound) throws RpmaException {
        RpmaException gone = null;
        for (Place place : places) {
            Endpoint beside = bound.isEmpty() ? null : bound.getFirst().endpoint();
            int same = beside == null ? port : beside.localAddress().getPort();
            try {
                bound.add(listen(place.fabric(), place.address(), same, beside));
            } catch (RpmaException e) {
                if (isTakenByOtherPaths(place, e, bound)) {
                    LOGGER.warn("{} does not listen on the RDMA device {} at {} port {}: iWARP is RDMA over TCP, and the other"
                        + " paths of the channel use this TCP port. A server channel whose RPMA_PATHS has only {} can listen on"
                        + " the device.", channel, place.fabric(), place.address().getHostAddress(), same, RpmaPath.RDMA);
                } else if (places.size() > 1 && ConnectFailure.isFamilyMissing(e)) {
                    LOGGER.debug("{} does not listen at {}, which has just been removed or is not usable"
                        + " yet.", channel, place.address(), e);
                } else {
                    throw e;
                }
                gone = first(gone, e);
            }
        }
        return gone;
    }

    /**
     * Returns whether a port is in use because the channel itself listens on it. iWARP is RDMA over TCP: unless something maps
     * its ports to others, the device needs the TCP port of that number, which shared memory and TCP have taken.
     */
    private static boolean isTakenByOtherPaths(Place place, RpmaException e, List<Listening> bound) {
        return ConnectFailure.isInUse(e) && place.fabric().isIwarp()
            && bound.stream().anyMatch(other -> other.fabric().provider() != place.fabric().provider());
    }

    private Listening listen(Fabric fabric, InetAddress address, int port, Endpoint beside) throws RpmaException {
        RegisteredMemory.prepare(fabric);
        NextChild next = children.newNext(fabric, true);
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

    /** Listens at an address; at the wildcard of both families if it is the IPv4 wildcard and IPv6 is available. */
    private Endpoint endpoint(Fabric fabric, InetAddress address, int port, Endpoint beside) throws RpmaException {
        if (address instanceof Inet4Address && address.isAnyLocalAddress() && takesBothFamilies(address)) {
            try {
                return endpoint(fabric, new InetSocketAddress(SocketAddresses.WILDCARD_6, port), beside);
            } catch (RpmaException e) {
                if (!ConnectFailure.isFamilyMissing(e)) {
                    throw e;
                }
                LOGGER.debug("This host has no IPv6: {} listens on IPv4 only.", channel, e);
            }
        }
        return endpoint(fabric, new InetSocketAddress(address, port), beside);
    }

    private static Endpoint endpoint(Fabric fabric, InetSocketAddress address, Endpoint beside) throws RpmaException {
        return beside == null ? fabric.peer().listen(address) : fabric.peer().listen(address, beside);
    }
}
