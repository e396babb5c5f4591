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

import io.rpma.Device;
import io.rpma.DeviceLimits;
import io.rpma.Peer;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.List;
import org.slf4j.LoggerFactory;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** {@code struct ibv_context}, which belongs to librdmacm. */
final class LibrpmaDevice implements Device {
    private final long context;
    private final String name;
    private final DeviceLimits limits;
    private final boolean iwarp;

    LibrpmaDevice(long context) throws RpmaException {
        this.context = context;
        name = Libibverbs.deviceName(context);
        limits = Libibverbs.limits(context);
        iwarp = Libibverbs.isIwarp(context);
    }

    long context() {
        return context;
    }

    boolean hasActivePort() throws RpmaException {
        return Libibverbs.hasActivePort(context);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public RpmaProvider provider() {
        return LibrpmaProvider.loaded();
    }

    @Override
    public DeviceLimits limits() {
        return limits;
    }

    @Override
    public List<InetAddress> addresses() {
        try {
            return LibrpmaDevices.addressesOf(this);
        } catch (RpmaException e) {
            LoggerFactory.getLogger(LibrpmaDevice.class).warn("No address of the RDMA device {} can be found", name, e);
            return List.of();
        }
    }

    @Override
    public boolean isOnDemandPagingCapable() throws RpmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment capable = arena.allocate(JAVA_INT);
            LibrpmaFailure.check("rpma_utils_ibv_context_is_odp_capable",
                Librpma.call(Librpma.UTILS_IBV_CONTEXT_IS_ODP_CAPABLE, context, capable));
            return capable.get(JAVA_INT, 0) != 0;
        }
    }

    @Override
    public boolean isIwarp() {
        return iwarp;
    }

    @Override
    public Peer newPeer() throws RpmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            int code = Librpma.call(Librpma.PEER_NEW, context, pointer);
            if (code != 0) {
                throw LibrpmaFailure.of("rpma_peer_new", code, 0, "cannot create a protection domain on the device " + name);
            }
            return new LibrpmaPeer(pointer.get(JAVA_LONG, 0), this);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
