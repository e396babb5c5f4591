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

import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.Device;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.soft.control.Rendezvous;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.shared.RegionTable;
import io.rpma.soft.shared.Segment;
import io.rpma.software.ClientSockets;
import io.rpma.software.SharedReceiveQueueSettings;
import io.rpma.software.SoftwareMemoryRegion;
import io.rpma.software.SoftwarePeer;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Set;

/** A peer: it creates the objects of one {@link ProtectionDomain}. Any thread may call any method. */
final class SoftPeer extends SoftwarePeer {
    private final LocalProcess process;
    private final Rendezvous rendezvous;
    private final ProtectionDomain domain;

    SoftPeer(Device device, LocalProcess process, Rendezvous rendezvous) {
        super(SoftLog.INSTANCE, device);
        this.process = process;
        this.rendezvous = rendezvous;
        domain = new ProtectionDomain(this, process);
    }

    /** Returns the protection domain, for tests. */
    ProtectionDomain domain() {
        return domain;
    }

    /** Returns what finds listeners, for tests. */
    Rendezvous rendezvous() {
        return rendezvous;
    }

    @Override
    public Endpoint listen(InetSocketAddress local) throws RpmaException {
        checkLocal(local);
        addChild();
        boolean done = false;
        try {
            SoftEndpoint endpoint = new SoftEndpoint(domain, rendezvous.names(), local);
            done = true;
            return endpoint;
        } finally {
            if (!done) {
                removeChild();
            }
        }
    }

    @Override
    public ConnectionRequest newConnectionRequest(InetSocketAddress remote, ConnectionConfig config) throws RpmaException {
        checkRemote("newConnectionRequest", remote);
        QueueSizes sizes = QueueSizes.of(config, domain);
        return new OutgoingRequest(domain, rendezvous, sizes,
            rendezvous.resolve(ClientSockets.target(remote), sizes.timeoutMillis()));
    }

    @Override
    public boolean mayRequestAtOnce() {
        return true;
    }

    @Override
    public ConnectionRequest tryNewConnectionRequest(InetSocketAddress remote, ConnectionConfig config) throws RpmaException {
        checkRemote("tryNewConnectionRequest", remote);
        QueueSizes sizes = QueueSizes.of(config, domain);
        Rendezvous.Route route = rendezvous.find(ClientSockets.target(remote));
        return route == null ? null : new OutgoingRequest(domain, rendezvous, sizes, route);
    }

    @Override
    public SharedReceiveQueue newSharedReceiveQueue(SharedReceiveQueueConfig config) throws RpmaException {
        checkOpen();
        SharedReceiveQueueConfig sizes = config != null ? config : new SharedReceiveQueueSettings(SoftLog.INSTANCE);
        int slots = sizes.receiveQueueSize();
        int completions = sizes.receiveCompletionQueueSize();
        Limits.check("receiveQueueSize", slots, 1, Limits.MAX_WORK_REQUESTS);
        Limits.check("receiveCompletionQueueSize", completions, 0, Limits.MAX_COMPLETIONS);
        addChild();
        boolean done = false;
        try {
            SoftSharedReceiveQueue queue = new SoftSharedReceiveQueue(domain, process.newReceiveQueue(), slots, completions);
            process.add(queue);
            done = true;
            return queue;
        } finally {
            if (!done) {
                removeChild();
            }
        }
    }

    @Override
    public LocalMemoryRegion register(MemorySegment memory, Set<MemoryUsage> usages) throws RpmaException {
        checkOpen();
        SoftwareMemoryRegion.check(SoftLog.INSTANCE, memory, usages);
        int bits = MemoryUsage.bits(usages);
        long address = memory.address();
        long size = memory.byteSize();
        Segment segment = process.segmentOf(address, size);
        if (segment == null) {
            ForeignMemory.check(memory, bits, ProtectionDomain.isReached(bits));
        } else {
            segment.regions().incrementAndGet();
        }
        boolean reached = segment != null && ProtectionDomain.isReached(bits);
        boolean counted = false;
        boolean done = false;
        try {
            addChild();
            counted = true;
            if (reached) {
                // Send the range before the region has a key that a peer could use.
                domain.ranges().publish(segment.range());
            }
            int key = process.regions().enter(bits, address, size,
                segment == null ? RegionTable.FOREIGN : segment.range().id(),
                segment == null ? 0 : address - segment.range().address(), domain.number());
            done = true;
            return new SoftLocalMemoryRegion(domain, memory, bits, key, segment);
        } finally {
            if (!done && segment != null) {
                segment.regions().decrementAndGet();
                if (reached && counted) {
                    domain.ranges().retract(segment.range());
                }
            }
            if (!done && counted) {
                removeChild();
            }
        }
    }

    @Override
    protected void ended() {
        domain.close();
    }
}
