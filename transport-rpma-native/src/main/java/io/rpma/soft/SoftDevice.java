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

import io.rpma.DeviceLimits;
import io.rpma.Peer;
import io.rpma.RpmaProvider;
import io.rpma.soft.control.Rendezvous;
import io.rpma.soft.shared.RegionTable;
import io.rpma.soft.shared.SharedMemory;
import io.rpma.software.SoftwareDevice;

/** The one device: this host. */
final class SoftDevice extends SoftwareDevice {
    private static final DeviceLimits LIMITS = new DeviceLimits(Limits.MAX_QUEUE_PAIRS, Limits.MAX_WORK_REQUESTS,
        Limits.MAX_QUEUE_PAIRS, Limits.MAX_COMPLETIONS, Limits.MAX_WORK_REQUESTS, RegionTable.CAPACITY, SharedMemory.MAX_SIZE,
        Limits.MAX_MESSAGE);

    private final RpmaProvider provider;
    private final LocalProcess process;
    private final Rendezvous rendezvous;

    SoftDevice(RpmaProvider provider, LocalProcess process, Rendezvous rendezvous) {
        super("soft", LIMITS);
        this.provider = provider;
        this.process = process;
        this.rendezvous = rendezvous;
    }

    @Override
    public RpmaProvider provider() {
        return provider;
    }

    @Override
    public boolean hasImmediateData() {
        return Limits.IMMEDIATE_DATA;
    }

    @Override
    public Peer newPeer() {
        return new SoftPeer(this, process, rendezvous);
    }
}
