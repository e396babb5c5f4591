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

import io.rpma.AddressRange;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.Device;
import io.rpma.PeerConfig;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.RpmaProvider;
import io.rpma.RpmaUnavailableException;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.posix.AnonymousRange;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

/** The provider of librpma, called by the foreign function and memory API. */
public final class LibrpmaProvider implements RpmaProvider {
    private static LibrpmaProvider instance;

    private LibrpmaProvider() {
    }

    /**
     * Loads the library, once.
     *
     * @return the one provider of the process
     * @throws RpmaUnavailableException if the library cannot be loaded, is too old, or native access is refused; the message
     *     says what to do
     * @throws RpmaException if its log cannot be switched off
     */
    public static synchronized RpmaProvider open() throws RpmaException {
        if (instance == null) {
            LibrpmaLibrary.load(LibrpmaFunctions.names());
            LibrpmaLog.init();
            instance = new LibrpmaProvider();
        }
        return instance;
    }

    /** Returns the provider, which has been opened. */
    static synchronized RpmaProvider loaded() {
        return instance;
    }

    @Override
    public String name() {
        return "librpma";
    }

    @Override
    public String description() {
        return "librpma 1.x, loaded as " + LibrpmaLibrary.name();
    }

    @Override
    public List<Device> devices() throws RpmaException {
        return List.copyOf(LibrpmaDevices.usable().keySet());
    }

    @Override
    public Device localDevice(InetAddress local) throws RpmaException {
        if (local == null) {
            throw LibrpmaFailure.invalid("rpma_utils_get_ibv_context: the address is null");
        }
        return isThisHost(local) ? anyDevice().getKey() : LibrpmaDevices.find(local, LibrpmaDevices.LOCAL);
    }

    @Override
    public Device remoteDevice(InetAddress remote) throws RpmaException {
        if (remote == null) {
            throw LibrpmaFailure.invalid("rpma_utils_get_ibv_context: the address is null");
        }
        return LibrpmaDevices.find(remote, LibrpmaDevices.REMOTE);
    }

    @Override
    public boolean mayReach(InetAddress remote) {
        return true;
    }

    @Override
    public InetAddress reachable(InetAddress address) throws RpmaException {
        if (address == null) {
            throw LibrpmaFailure.invalid("the address is null");
        }
        if (!isThisHost(address)) {
            return address;
        }
        List<InetAddress> addresses = anyDevice().getValue();
        for (InetAddress candidate : addresses) {
            if (candidate.getClass() == address.getClass()) {
                return candidate;
            }
        }
        return addresses.getFirst();
    }

    // RDMA has no loopback interface, so an address that only means "this host" stands for any device.
    private static boolean isThisHost(InetAddress address) {
        return address.isLoopbackAddress() || address.isAnyLocalAddress();
    }

    private static Map.Entry<LibrpmaDevice, List<InetAddress>> anyDevice() throws RpmaException {
        Map<LibrpmaDevice, List<InetAddress>> devices = LibrpmaDevices.usable();
        if (devices.isEmpty()) {
            throw LibrpmaDevices.noDevice("no usable RDMA device was found: none has an active port and an address");
        }
        return devices.entrySet().iterator().next();
    }

    @Override
    public ConnectionConfig newConnectionConfig() throws RpmaException {
        return new LibrpmaConnectionConfig();
    }

    @Override
    public SharedReceiveQueueConfig newSharedReceiveQueueConfig() throws RpmaException {
        return new LibrpmaSharedReceiveQueueConfig();
    }

    @Override
    public PeerConfig newPeerConfig() throws RpmaException {
        return LibrpmaPeerConfig.create();
    }

    @Override
    public PeerConfig peerConfigFromDescriptor(ByteBuffer descriptor) throws RpmaException {
        return LibrpmaPeerConfig.open(descriptor);
    }

    @Override
    public RemoteMemoryRegion openRemoteRegion(ByteBuffer descriptor) throws RpmaException {
        return LibrpmaRemoteMemoryRegion.open(descriptor);
    }

    @Override
    public AddressRange reserve(long bytes) throws RpmaException {
        return AnonymousRange.reserve(bytes);
    }

    @Override
    public RpmaLog log() {
        return LibrpmaLog.INSTANCE;
    }

    @Override
    public String describe(RpmaError error) {
        return Librpma.text(Librpma.ERR_2STR, error.code());
    }

    @Override
    public String describe(ConnectionEvent event) {
        return Librpma.text(Librpma.UTILS_CONN_EVENT_2STR, event.code());
    }
}
