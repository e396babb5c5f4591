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
package io.rpma.software;

import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.Device;
import io.rpma.PeerConfig;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.RpmaProvider;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.posix.Posix;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;

/** A provider in Java. It has one device, and every address of this host belongs to it. Thread-safe. */
public abstract class SoftwareProvider implements RpmaProvider {
    private final SoftwareLog log;

    /**
     * Creates the provider.
     *
     * @param log the log of the provider
     */
    protected SoftwareProvider(SoftwareLog log) {
        this.log = log;
    }

    /** Returns the one device. */
    protected abstract Device device();

    @Override
    public final List<Device> devices() {
        return List.of(device());
    }

    @Override
    public final Device localDevice(InetAddress local) throws RpmaException {
        if (local == null) {
            throw log.failure(RpmaError.INVALID, "localDevice: the address is null");
        }
        if (!HostAddresses.isLocal(local)) {
            throw log.failure(RpmaError.PROVIDER, Posix.EADDRNOTAVAIL, "the address " + local.getHostAddress()
                + " is not assigned to this host ('ip addr' lists the addresses)", null);
        }
        return device();
    }

    @Override
    public final Device remoteDevice(InetAddress remote) throws RpmaException {
        if (remote == null) {
            throw log.failure(RpmaError.INVALID, "remoteDevice: the address is null");
        }
        return device();
    }

    @Override
    public final InetAddress reachable(InetAddress address) throws RpmaException {
        if (address == null) {
            throw log.failure(RpmaError.INVALID, "reachable: the address is null");
        }
        return address;
    }

    @Override
    public final ConnectionConfig newConnectionConfig() {
        return new ConnectionSettings(log);
    }

    @Override
    public final SharedReceiveQueueConfig newSharedReceiveQueueConfig() {
        return new SharedReceiveQueueSettings(log);
    }

    @Override
    public final PeerConfig newPeerConfig() {
        return new PeerSettings(log, false);
    }

    @Override
    public final PeerConfig peerConfigFromDescriptor(ByteBuffer descriptor) throws RpmaException {
        return PeerSettings.read(log, descriptor);
    }

    @Override
    public final RpmaLog log() {
        return log;
    }

    @Override
    public final String describe(RpmaError error) {
        return Words.of(error);
    }

    @Override
    public final String describe(ConnectionEvent event) {
        return Words.of(event);
    }
}
