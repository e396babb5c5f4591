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
package io.rpma.tcp;

import io.rpma.AddressRange;
import io.rpma.Device;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.posix.AnonymousRange;
import io.rpma.software.HostAddresses;
import io.rpma.software.Platform;
import io.rpma.software.SoftwareProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** Software RDMA over TCP: librpma's interface between hosts, without a device and without the library. */
public final class TcpProvider extends SoftwareProvider {
    private final TcpDevice device = new TcpDevice(this);

    private TcpProvider() {
        super(TcpLog.INSTANCE);
        // These two calls read files. They are made here, on the thread that chooses the provider, and not on an event loop.
        Greeting.own();
        ProtectionDomain.newKey();
    }

    /** The one instance, created at first use. */
    private static final class Holder {
        static final TcpProvider INSTANCE = new TcpProvider();
    }

    /**
     * Returns the one instance of the process.
     *
     * @throws io.rpma.RpmaUnavailableException if this is not 64-bit Linux
     */
    public static RpmaProvider instance() {
        Platform.check();
        return Holder.INSTANCE;
    }

    @Override
    public String name() {
        return "tcp";
    }

    @Override
    public String description() {
        return "software RDMA over TCP, protocol version " + Greeting.VERSION;
    }

    @Override
    protected Device device() {
        return device;
    }

    @Override
    public boolean mayReach(InetAddress remote) {
        return true;
    }

    @Override
    public boolean isRefused(InetSocketAddress remote) {
        return HostAddresses.isLocal(remote.getAddress()) && Dialer.isRefused(remote);
    }

    @Override
    public RemoteMemoryRegion openRemoteRegion(ByteBuffer descriptor) throws RpmaException {
        return TcpRemoteMemoryRegion.read(descriptor);
    }

    @Override
    public AddressRange reserve(long bytes) throws RpmaException {
        return AnonymousRange.reserve(bytes);
    }
}
