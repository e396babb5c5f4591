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

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** The devices of this host and their addresses. The library finds a device only by an address of its network interface. */
final class LibrpmaDevices {
    /** {@code RPMA_UTIL_IBV_CONTEXT_LOCAL}. */
    static final int LOCAL = 0;
    /** {@code RPMA_UTIL_IBV_CONTEXT_REMOTE}. */
    static final int REMOTE = 1;

    private static final String FUNCTION = "rpma_utils_get_ibv_context";

    // librdmacm opens each device once and keeps it open, so a context identifies a device for the life of the process.
    private static final Map<Long, LibrpmaDevice> BY_CONTEXT = new ConcurrentHashMap<>();

    private LibrpmaDevices() {
    }

    /** Returns the devices with an active port and the addresses that lead to them, best first. */
    static Map<LibrpmaDevice, List<InetAddress>> usable() throws RpmaException {
        Map<LibrpmaDevice, List<InetAddress>> devices = new LinkedHashMap<>();
        for (InetAddress address : addressesOfThisHost()) {
            long context = contextOf(address);
            if (context != 0) {
                devices.computeIfAbsent(device(context), device -> new ArrayList<>()).add(address);
            }
        }
        for (LibrpmaDevice device : List.copyOf(devices.keySet())) {
            if (!device.hasActivePort()) {
                devices.remove(device);
            }
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
