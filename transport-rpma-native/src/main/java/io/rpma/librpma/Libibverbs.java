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

import io.rpma.DeviceLimits;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** The functions of libibverbs that return properties of a device for which librpma has no functions. librpma has loaded it. */
final class Libibverbs {
    private static final String NAME = "libibverbs.so.1";
    private static final SymbolLookup LIBRARY = SymbolLookup.libraryLookup(NAME, Arena.global());
    private static final AddressLayout C_STRING =
        ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(64, JAVA_BYTE));

    private static final MethodHandle QUERY_DEVICE =
        LibrpmaLibrary.bind(LIBRARY, NAME, "ibv_query_device", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS));
    private static final MethodHandle QUERY_PORT = LibrpmaLibrary.bind(LIBRARY, NAME, "ibv_query_port",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_BYTE, ADDRESS));
    private static final MethodHandle GET_DEVICE_NAME =
        LibrpmaLibrary.bind(LIBRARY, NAME, "ibv_get_device_name", FunctionDescriptor.of(C_STRING, JAVA_LONG));

    // struct ibv_device_attr (232 bytes) and struct ibv_port_attr (52 bytes), with room to spare; the same on all 64-bit ABIs.
    private static final long DEVICE_ATTR_SIZE = 512;
    private static final long MAX_MR_SIZE = 80;
    private static final long MAX_QP = 108;
    private static final long MAX_QP_WR = 112;
    private static final long MAX_CQ = 128;
    private static final long MAX_CQE = 132;
    private static final long MAX_MR = 136;
    private static final long MAX_SRQ_WR = 216;
    private static final long PHYS_PORT_CNT = 227;
    private static final long PORT_ATTR_SIZE = 128;
    private static final long STATE = 0;
    private static final long MAX_MSG_SZ = 20;
    private static final int PORT_ACTIVE = 4;
    // struct ibv_device: two function pointers, the type of the node, the type of the transport.
    private static final long TRANSPORT_TYPE = 20;
    private static final int TRANSPORT_IWARP = 1;

    private Libibverbs() {
    }

    /** Returns the name of a context's device. */
    static String deviceName(long context) {
        try {
            return ((MemorySegment) GET_DEVICE_NAME.invokeExact(device(context))).getString(0);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Returns whether a context's device uses iWARP. */
    static boolean isIwarp(long context) {
        MemorySegment device = MemorySegment.ofAddress(device(context)).reinterpret(TRANSPORT_TYPE + JAVA_INT.byteSize());
        return device.get(JAVA_INT, TRANSPORT_TYPE) == TRANSPORT_IWARP;
    }

    /** Returns the address of a context's device: {@code struct ibv_context} begins with it. */
    private static long device(long context) {
        return MemorySegment.ofAddress(context).reinterpret(JAVA_LONG.byteSize()).get(JAVA_LONG, 0);
    }

    /** Returns the limits of a context's device. */
    static DeviceLimits limits(long context) throws RpmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment device = queryDevice(context, arena);
            MemorySegment port = activePort(context, device, arena);
            if (port == null) {
                port = queryPort(context, (byte) 1, arena);
            }
            return new DeviceLimits(device.get(JAVA_INT, MAX_QP), device.get(JAVA_INT, MAX_QP_WR),
                device.get(JAVA_INT, MAX_CQ), device.get(JAVA_INT, MAX_CQE), device.get(JAVA_INT, MAX_SRQ_WR),
                device.get(JAVA_INT, MAX_MR), clip(device.get(JAVA_LONG, MAX_MR_SIZE)),
                Integer.toUnsignedLong(port.get(JAVA_INT, MAX_MSG_SZ)));
        }
    }

    /** Returns whether a context's device has an active port. */
    static boolean hasActivePort(long context) throws RpmaException {
        try (Arena arena = Arena.ofConfined()) {
            return activePort(context, queryDevice(context, arena), arena) != null;
        }
    }

    private static MemorySegment activePort(long context, MemorySegment device, Arena arena) throws RpmaException {
        int ports = Byte.toUnsignedInt(device.get(JAVA_BYTE, PHYS_PORT_CNT));
        for (int port = 1; port <= ports; port++) {
            MemorySegment attributes = queryPort(context, (byte) port, arena);
            if (attributes.get(JAVA_INT, STATE) == PORT_ACTIVE) {
                return attributes;
            }
        }
        return null;
    }

    private static MemorySegment queryDevice(long context, Arena arena) throws RpmaException {
        MemorySegment attributes = arena.allocate(DEVICE_ATTR_SIZE, 8);
        int errno;
        try {
            errno = (int) QUERY_DEVICE.invokeExact(context, attributes);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
        check("ibv_query_device", context, errno);
        return attributes;
    }

    private static MemorySegment queryPort(long context, byte port, Arena arena) throws RpmaException {
        MemorySegment attributes = arena.allocate(PORT_ATTR_SIZE, 8);
        int errno;
        try {
            errno = (int) QUERY_PORT.invokeExact(context, port, attributes);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
        check("ibv_query_port", context, errno);
        return attributes;
    }

    private static void check(String function, long context, int errno) throws RpmaException {
        if (errno != 0) {
            throw new RpmaException(RpmaError.PROVIDER, errno, function + " failed for the device " + deviceName(context)
                + " (errno " + errno + ": " + Posix.strerror(errno) + ")", null);
        }
    }

    // An unsigned number; "no limit" is reported with all bits set.
    private static long clip(long size) {
        return size < 0 ? Long.MAX_VALUE : size;
    }
}
