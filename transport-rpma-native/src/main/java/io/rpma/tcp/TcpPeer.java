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

import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.Device;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.posix.Posix;
import io.rpma.software.SharedReceiveQueueSettings;
import io.rpma.software.SoftwareMemoryRegion;
import io.rpma.software.SoftwarePeer;
import io.rpma.software.TcpPort;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * A peer of the application: it makes endpoints, connection requests, shared receive queues and memory regions, which all belong
 * to its protection domain. Any thread may use it.
 */
final class TcpPeer extends SoftwarePeer {
    /** The usages for which this process writes to the memory. */
    private static final Set<MemoryUsage> WRITTEN = EnumSet.of(MemoryUsage.READ_DST, MemoryUsage.WRITE_DST, MemoryUsage.RECV);

    private final ProtectionDomain domain = new ProtectionDomain(this);

    TcpPeer(Device device) {
        super(TcpLog.INSTANCE, device);
    }

    @Override
    public Endpoint listen(InetSocketAddress local) throws RpmaException {
        checkLocal(local);
        return create(() -> new TcpEndpoint(domain, local));
    }

    @Override
    public Endpoint listen(InetSocketAddress local, Endpoint beside) throws RpmaException {
        if (!(beside instanceof TcpPort port) || beside.localAddress().getPort() != local.getPort()) {
            return listen(local);
        }
        checkLocal(local);
        return create(() -> new TcpEndpoint(domain, port));
    }

    /** The constructor of an object that belongs to this peer. */
    private interface Creation<T> {
        T create() throws RpmaException;
    }

    /** Creates an object that belongs to this peer, and that releases the domain when it is closed. */
    private <T> T create(Creation<T> creation) throws RpmaException {
        domain.hold();
        boolean done = false;
        try {
            T created = creation.create();
            done = true;
            return created;
        } finally {
            if (!done) {
                domain.release();
            }
        }
    }

    @Override
    public ConnectionRequest newConnectionRequest(InetSocketAddress remote, ConnectionConfig config) throws RpmaException {
        checkRemote("newConnectionRequest", remote);
        return request(remote, config, true);
    }

    @Override
    public boolean mayRequestAtOnce() {
        return true;
    }

    @Override
    public ConnectionRequest tryNewConnectionRequest(InetSocketAddress remote, ConnectionConfig config) throws RpmaException {
        checkRemote("tryNewConnectionRequest", remote);
        return request(remote, config, false);
    }

    /** Prepares a connection, and waits for the greeting of the listener if that is asked for. */
    private OutgoingRequest request(InetSocketAddress remote, ConnectionConfig config, boolean waits) throws RpmaException {
        QueueSizes sizes = QueueSizes.of(config, domain);
        Queues queues = Queues.create(domain, sizes);
        Dialer dialer = null;
        boolean done = false;
        try {
            Adapter.start();
            dialer = Dialer.begin(remote, Math.max(1, sizes.timeoutMillis()));
            if (waits) {
                dialer.await();
            }
            OutgoingRequest request = new OutgoingRequest(domain, queues, dialer);
            done = true;
            return request;
        } finally {
            if (!done) {
                queues.close();
                if (dialer != null && dialer.socket() >= 0) {
                    Posix.close(dialer.socket());
                }
            }
        }
    }

    @Override
    public SharedReceiveQueue newSharedReceiveQueue(SharedReceiveQueueConfig config) throws RpmaException {
        checkOpen();
        SharedReceiveQueueConfig sizes = config != null ? config : new SharedReceiveQueueSettings(TcpLog.INSTANCE);
        int slots = sizes.receiveQueueSize();
        int completions = sizes.receiveCompletionQueueSize();
        QueueSizes.check("receiveQueueSize", slots, 1, Limits.MAX_WORK_REQUESTS);
        QueueSizes.check("receiveCompletionQueueSize", completions, 0, Limits.MAX_COMPLETIONS);
        return create(() -> new TcpSharedReceiveQueue(domain, slots, completions));
    }

    @Override
    public LocalMemoryRegion register(MemorySegment memory, Set<MemoryUsage> usages) throws RpmaException {
        checkOpen();
        SoftwareMemoryRegion.check(TcpLog.INSTANCE, memory, usages);
        SoftwareMemoryRegion.checkAccess(TcpLog.INSTANCE, memory, !Collections.disjoint(usages, WRITTEN));
        return domain.register(memory, MemoryUsage.bits(usages));
    }
}
