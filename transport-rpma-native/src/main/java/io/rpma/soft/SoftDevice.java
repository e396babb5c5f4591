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
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.RegionTable;
import io.rpma.soft.shared.SharedMemory;
import io.rpma.software.SoftwareDevice;

/** The one device: this host. */
final class SoftDevice extends SoftwareDevice {
    /** Slots of a send, receive or shared receive queue. */
    static final int MAX_WORK_REQUESTS = Half.MAX_CAPACITY;
    /** Entries of a completion queue: enough for a full send and a full receive queue. */
    static final int MAX_COMPLETIONS = 1 << 16;
    /** Queue pairs of a process. */
    static final int MAX_QUEUE_PAIRS = 1 << 20;
    /** Bytes of one message, read or write. */
    static final long MAX_MESSAGE = 1L << 30;

    /** Whether it has immediate data; a test may have it do without, as an iWARP device does. */
    static final boolean IMMEDIATE_DATA = !Boolean.getBoolean("io.rpma.soft.withoutImmediateData");

    private static final DeviceLimits LIMITS = new DeviceLimits(MAX_QUEUE_PAIRS, MAX_WORK_REQUESTS, MAX_QUEUE_PAIRS,
        MAX_COMPLETIONS, MAX_WORK_REQUESTS, RegionTable.CAPACITY, SharedMemory.MAX_SIZE, MAX_MESSAGE);

    private final LocalProcess process;
    private final Rendezvous rendezvous;

    SoftDevice(LocalProcess process, Rendezvous rendezvous) {
        super("soft", LIMITS);
        this.process = process;
        this.rendezvous = rendezvous;
    }

    @Override
    public RpmaProvider provider() {
        return SoftProvider.instance();
    }

    @Override
    public boolean hasImmediateData() {
        return IMMEDIATE_DATA;
    }

    @Override
    public Peer newPeer() {
        return new SoftPeer(this, process, rendezvous);
    }
}
