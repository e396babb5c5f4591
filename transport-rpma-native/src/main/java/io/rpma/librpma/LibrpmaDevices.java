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
package io.rpma.librpma;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** The devices of this host and their addresses. The library finds a device only by an address of its network interface. */
final class LibrpmaDevices {
    /** {@code RPMA_UTIL_IBV_CONTEXT_LOCAL}. */
    static final int LOCAL = 0;
    /** {@code RPMA_UTIL_IBV_CONTEXT_REMOTE}. */
    static final int REMOTE = 1;

    private static final Logger LOG = LoggerFactory.getLogger(LibrpmaDevices.class);
    private static final String FUNCTION = "rpma_utils_get_ibv_context";

    // Each device is kept open, so a context identifies a device for the life of the process, even if the device is removed from
    // the machine.
    private static final Map<Long, LibrpmaDevice> BY_CONTEXT = new ConcurrentHashMap<>();

    private LibrpmaDevices() {
    }

    /** Finds devices and asks them for their state. */
    interface Query<D> {
        /** Returns the device behind an address of this host, or {@code null}. */
        D deviceOf(InetAddress address) throws RpmaException;

        /** Returns whether a device has an active port. */
        boolean hasActivePort(D device) throws RpmaException;
    }

    /** Returns the devices with an active port and the addresses that lead to them, best first. */
    static Map<LibrpmaDevice, List<InetAddress>> usable() throws RpmaException {
        return usable(addressesOfThisHost(), new Query<>() {
            @Override
            public LibrpmaDevice deviceOf(InetAddress address) throws RpmaException {
                long context = contextOf(address);
                return context == 0 ? null : device(context);
            }

            @Override
            public boolean hasActivePort(LibrpmaDevice device) throws RpmaException {
                return device.hasActivePort();
            }
        });
    }

    /**
     * Returns the devices with an active port, in the order of their addresses. A device that fails is left out.
     *
     * @throws RpmaException if a device has failed and there is no other
     */
    static <D> Map<D, List<InetAddress>> usable(List<InetAddress> addresses, Query<D> query) throws RpmaException {
        Map<D, List<InetAddress>> devices = new LinkedHashMap<>();
        RpmaException failure = null;
        for (InetAddress address : addresses) {
            try {
                D device = query.deviceOf(address);
                if (device != null && (devices.containsKey(device) || query.hasActivePort(device))) {
                    devices.computeIfAbsent(device, key -> new ArrayList<>()).add(address);
                }
            } catch (RpmaException e) {
                // The message has the name of the device.
                LOG.warn("The RDMA device with the address {} is not used: {}", address.getHostAddress(), e.getMessage());
                failure = e;
            }
        }
        if (devices.isEmpty() && failure != null) {
            throw failure;
        }
        return devices;
    }

    /** Returns the addresses that lead to a device, best first. */
    static List<InetAddress> addressesOf(LibrpmaDevice device) throws RpmaException {
        List<InetAddress> addresses = new ArrayList<>();
        for (InetAddress address : addressesOfThisHost()) {
            if (contextOf(address) == device.context()) {
                addresses.add(address);
            }
        }
        return Collections.unmodifiableList(addresses);
    }

    /**
     * Returns the device behind an address.
     *
     * @param address a concrete address
     * @param type {@link #LOCAL} or {@link #REMOTE}
     */
    static LibrpmaDevice find(InetAddress address, int type) throws RpmaException {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment context = arena.allocate(JAVA_LONG);
            int code = Librpma.getIbvContext(capture, arena.allocateFrom(LibrpmaAddresses.text(address)), type, context);
            if (code != 0) {
                throw LibrpmaFailure.of(FUNCTION, code, LibrpmaFailure.errno(code, capture),
                    code != RpmaError.PROVIDER.code() ? "the address is " + address.getHostAddress() : type == LOCAL
                    ? "no RDMA device of this host has the address " + address.getHostAddress()
                        + "; 'rdma link' and 'ip address' list the devices and the addresses"
                    : "no RDMA device of this host reaches the address " + address.getHostAddress());
            }
            long pointer = context.get(JAVA_LONG, 0);
            if (pointer == 0) {
                throw noDevice(FUNCTION + ": the address " + address.getHostAddress() + " does not belong to an RDMA device");
            }
            return device(pointer);
        }
    }

    /** Returns the exception for a host without a usable device. */
    static RpmaException noDevice(String message) {
        return new RpmaException(RpmaError.PROVIDER, Posix.ENODEV, message + "; 'rdma link' shows the devices and their state",
            null);
    }

    private static LibrpmaDevice device(long context) throws RpmaException {
        LibrpmaDevice device = BY_CONTEXT.get(context);
        if (device == null) {
            if (!Librdmacm.keepOpen(context)) {
                throw noDevice(FUNCTION + ": the RDMA device was removed");
            }
            LibrpmaDevice created = new LibrpmaDevice(context);
            LibrpmaDevice other = BY_CONTEXT.putIfAbsent(context, created);
            device = other == null ? created : other;
        }
        return device;
    }

    // Returns 0 if the address leads to no device, which the library reports by several error codes.
    private static long contextOf(InetAddress address) throws RpmaException {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment context = arena.allocate(JAVA_LONG);
            int code = Librpma.getIbvContext(capture, arena.allocateFrom(LibrpmaAddresses.text(address)), LOCAL, context);
            if (code == 0) {
                return context.get(JAVA_LONG, 0);
            }
            if (code == RpmaError.PROVIDER.code()) {
                return 0;
            }
            throw LibrpmaFailure.of(FUNCTION, code, 0, "address " + address.getHostAddress());
        }
    }

    private static List<InetAddress> addressesOfThisHost() throws RpmaException {
        List<InetAddress> addresses = new ArrayList<>();
        try {
            for (NetworkInterface network : Collections.list(NetworkInterface.getNetworkInterfaces())) {
                if (!network.isUp()) {
                    continue;
                }
                for (InetAddress address : Collections.list(network.getInetAddresses())) {
                    if (!address.isLoopbackAddress() && !address.isAnyLocalAddress()) {
                        addresses.add(LibrpmaAddresses.withoutScope(address));
                    }
                }
            }
        } catch (SocketException e) {
            throw new RpmaException(RpmaError.PROVIDER, 0, "the addresses of this host cannot be listed: " + e.getMessage(), e);
        }
        // The sort is stable: within each rank the order of the system remains.
        addresses.sort(Comparator.comparingInt(LibrpmaDevices::rank));
        return addresses;
    }

    // A link-local address is usable only together with its interface. IPv4 comes first, as it is configured more often.
    private static int rank(InetAddress address) {
        return address.isLinkLocalAddress() ? 2 : address instanceof Inet4Address ? 0 : 1;
    }
}
