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

import io.rpma.Device;
import io.rpma.DeviceLimits;
import java.net.InetAddress;
import java.util.List;

/** The one device of a provider in Java: this host. Nothing is pinned, and it does not use iWARP. Thread-safe. */
public abstract class SoftwareDevice implements Device {
    private final String name;
    private final DeviceLimits limits;

    /**
     * Creates the device.
     *
     * @param name the name of its provider
     */
    protected SoftwareDevice(String name, DeviceLimits limits) {
        this.name = name;
        this.limits = limits;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final DeviceLimits limits() {
        return limits;
    }

    @Override
    public final List<InetAddress> addresses() {
        return HostAddresses.all();
    }

    /** Returns {@code true}: nothing is pinned. */
    @Override
    public final boolean isOnDemandPagingCapable() {
        return true;
    }

    /** Returns {@code false}: a message that finds no posted receive waits for one, and immediate data is supported. */
    @Override
    public final boolean isIwarp() {
        return false;
    }

    @Override
    public final String toString() {
        return name;
    }
}
