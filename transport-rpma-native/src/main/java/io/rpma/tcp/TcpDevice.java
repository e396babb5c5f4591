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

import io.rpma.Peer;
import io.rpma.RpmaProvider;
import io.rpma.software.SoftwareDevice;

/** The one device: this host's network interfaces. */
final class TcpDevice extends SoftwareDevice {
    private final RpmaProvider provider;

    TcpDevice(RpmaProvider provider) {
        super("tcp", Limits.OF_DEVICE);
        this.provider = provider;
    }

    @Override
    public RpmaProvider provider() {
        return provider;
    }

    @Override
    public Peer newPeer() {
        return new TcpPeer(this);
    }
}
