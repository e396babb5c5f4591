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
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.Rendezvous;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.process.ControlSocket;
import io.rpma.soft.process.RemoteProcess;
import io.rpma.soft.shared.Range;
import io.rpma.soft.shared.RegionTable;
import io.rpma.soft.shared.Segment;
import io.rpma.software.ClientSockets;
import io.rpma.software.SharedReceiveQueueSettings;
import io.rpma.software.SoftwareMemoryRegion;
import io.rpma.software.SoftwarePeer;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A protection domain. It also sends the ranges of its regions to the processes at the other ends of its connections. */
final class SoftPeer extends SoftwarePeer {
    /** The usages by which peers access a region: they must have received its range. */
    private static final int REACHED = MemoryUsage.READ_SRC.bit() | MemoryUsage.WRITE_DST.bit()
        | MemoryUsage.FLUSH_VISIBILITY.bit() | MemoryUsage.FLUSH_PERSISTENT.bit() | MemoryUsage.RECV.bit();

    private final LocalProcess process;
    private final Rendezvous rendezvous;
    private final int domain;
    // The ranges that contain regions which peers access, with the number of these regions; guarded by the lock of "controls".
    private final Map<Range, Integer> published = new LinkedHashMap<>();
    private final Set<ControlSocket> controls = new LinkedHashSet<>();

    SoftPeer(SoftDevice device, LocalProcess process, Rendezvous rendezvous) {
        super(SoftLog.INSTANCE, device);
        this.process = process;
        this.rendezvous = rendezvous;
        domain = process.newDomain();
        process.add(this);
    }

    LocalProcess process() {
        return process;
    }

    Rendezvous rendezvous() {
        return rendezvous;
    }

    int domain() {
        return domain;
    }

    @Override
    public Endpoint listen(InetSocketAddress local) throws RpmaException {
        checkLocal(local);
        addChild();
        boolean done = false;
        try {
            SoftEndpoint endpoint = new SoftEndpoint(this, local);
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
        QueueSizes sizes = QueueSizes.of(config, this);
        return new OutgoingRequest(this, sizes, rendezvous.resolve(ClientSockets.target(remote), sizes.timeoutMillis()));
    }

    @Override
    public boolean mayRequestAtOnce() {
        return true;
    }

    @Override
    public ConnectionRequest tryNewConnectionRequest(InetSocketAddress remote, ConnectionConfig config) throws RpmaException {
        checkRemote("tryNewConnectionRequest", remote);
        QueueSizes sizes = QueueSizes.of(config, this);
        Rendezvous.Route route = rendezvous.find(ClientSockets.target(remote));
        return route == null ? null : new OutgoingRequest(this, sizes, route);
    }

    @Override
    public SharedReceiveQueue newSharedReceiveQueue(SharedReceiveQueueConfig config) throws RpmaException {
        checkOpen();
        SharedReceiveQueueConfig sizes = config != null ? config : new SharedReceiveQueueSettings(SoftLog.INSTANCE);
        int slots = sizes.receiveQueueSize();
        int completions = sizes.receiveCompletionQueueSize();
        QueueSizes.check("receiveQueueSize", slots, 1, SoftDevice.MAX_WORK_REQUESTS);
        QueueSizes.check("receiveCompletionQueueSize", completions, 0, SoftDevice.MAX_COMPLETIONS);
        SoftSharedReceiveQueue queue = new SoftSharedReceiveQueue(this, process.newReceiveQueue(), slots, completions);
        process.add(queue);
        addChild();
        return queue;
    }

    /** Removes a shared receive queue. */
    void remove(SoftSharedReceiveQueue queue) {
        process.withdraw(queue);
        removeChild();
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
            ForeignMemory.check(memory, bits, (bits & REACHED) != 0);
        } else {
            segment.regions().incrementAndGet();
        }
        boolean reached = segment != null && (bits & REACHED) != 0;
        boolean done = false;
        try {
            if (reached) {
                // Send the range before the region has a key that a peer could use.
                publish(segment.range());
            }
            int key = process.regions().enter(bits, address, size,
                segment == null ? RegionTable.FOREIGN : segment.range().id(),
                segment == null ? 0 : address - segment.range().address(), domain);
            addChild();
            done = true;
            return new SoftLocalMemoryRegion(this, memory, bits, key, segment);
        } finally {
            if (!done && segment != null) {
                segment.regions().decrementAndGet();
                if (reached) {
                    retract(segment.range());
                }
            }
        }
    }

    /** Handles the closing of a region. */
    void remove(int usages, Segment segment) {
        if (segment != null && (usages & REACHED) != 0) {
            retract(segment.range());
        }
        removeChild();
    }

    // ---- ranges

    /** Sends a range to the processes at the other ends of all connections, unless they have it. */
    private void publish(Range range) {
        synchronized (controls) {
            if (published.merge(range, 1, Integer::sum) == 1) {
                List<Range> one = List.of(range);
                for (ControlSocket control : controls) {
                    control.announce(one, true);
                }
            }
        }
    }

    /** Removes a region from the count of its range. A range without such regions is not sent to new connections. */
    private void retract(Range range) {
        synchronized (controls) {
            published.computeIfPresent(range, (key, regions) -> regions > 1 ? regions - 1 : null);
        }
    }

    /** Stops sending a range. */
    void unpublish(Range range) {
        synchronized (controls) {
            published.remove(range);
        }
    }

    /** Asks those of the given processes that are at the other end of a connection to read their link. */
    void askToLook(Set<RemoteProcess> told) {
        synchronized (controls) {
            for (ControlSocket control : controls) {
                if (told.contains(control.remote())) {
                    control.askToLook();
                }
            }
        }
    }

    /**
     * Sends the message that connects or accepts, after the ranges that the other process may need. Ranges that are published
     * later are sent as well.
     *
     * @return 0 or {@code -errno}
     * @throws RpmaException if the other process does not read its link, so that there is no room for the ranges
     */
    int publish(ControlSocket control, ControlMessage message) throws RpmaException {
        synchronized (controls) {
            control.announce(published.keySet(), false);
            control.remote().checkHasAll();
            int result = control.send(message);
            controls.add(control);
            return result;
        }
    }

    /** Stops sending ranges to the other end of a connection. */
    void removeControl(ControlSocket control) {
        synchronized (controls) {
            controls.remove(control);
        }
    }

    @Override
    protected void ended() {
        process.remove(this);
    }
}
