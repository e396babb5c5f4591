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
package io.rpma.soft;

import io.rpma.AddressRange;
import io.rpma.Device;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.Rendezvous;
import io.rpma.soft.host.SharedFolder;
import io.rpma.soft.host.SoftLog;
import io.rpma.software.HostAddresses;
import io.rpma.software.Platform;
import io.rpma.software.SoftwareProvider;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * Software RDMA: librpma's interface within one host, without a device and without the library. A connection, between two
 * processes or within one, is made by IP address and port. Data is copied once, by the side that starts the operation, in memory
 * that both sides have mapped.
 */
public final class SoftProvider extends SoftwareProvider {
    // Created at first use, and not by a static initializer: if there are no descriptors left then, a later attempt succeeds.
    // Guarded by the lock of the class.
    private static SoftProvider instance;

    private final LocalProcess process;
    private final Rendezvous rendezvous;
    private final SoftDevice device;

    private SoftProvider() {
        super(SoftLog.INSTANCE);
        process = new LocalProcess();
        rendezvous = new Rendezvous(process.user(), process.host());
        device = new SoftDevice(this, process, rendezvous);
    }

    /**
     * Returns the one instance of the process.
     *
     * @throws io.rpma.RpmaUnavailableException if this is not 64-bit Linux, or the kernel refuses shared memory, or this process
     *     has no descriptors left, or the folder that {@code -Dio.rpma.soft.directory} names cannot be used
     */
    public static synchronized RpmaProvider instance() {
        if (instance == null) {
            Platform.check();
            SharedFolder.configured();
            instance = new SoftProvider();
        }
        return instance;
    }

    /** Returns this process, for tests. */
    LocalProcess process() {
        return process;
    }

    @Override
    public String name() {
        return "soft";
    }

    @Override
    public String description() {
        return "software RDMA within one host, protocol version " + ControlMessage.VERSION;
    }

    @Override
    protected Device device() {
        return device;
    }

    @Override
    public boolean mayReach(InetAddress remote) {
        return HostAddresses.isLocal(remote);
    }

    @Override
    public RemoteMemoryRegion openRemoteRegion(ByteBuffer descriptor) throws RpmaException {
        return SoftRemoteMemoryRegion.read(descriptor);
    }

    @Override
    public AddressRange reserve(long bytes) throws RpmaException {
        return new SoftAddressRange(process, bytes);
    }
}
