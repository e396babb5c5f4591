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

import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.Device;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Set;

/** {@code struct rpma_peer}. */
final class LibrpmaPeer extends LibrpmaProtectionDomain {
    private final LibrpmaDevice device;

    LibrpmaPeer(long handle, LibrpmaDevice device) {
        super(handle);
        this.device = device;
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    long context() {
        return device.context();
    }

    @Override
    public Endpoint listen(InetSocketAddress local) throws RpmaException {
        return LibrpmaEndpoint.listen(this, local);
    }

    @Override
    public ConnectionRequest newConnectionRequest(InetSocketAddress remote, ConnectionConfig config) throws RpmaException {
        return LibrpmaConnectionRequest.outgoing(this, remote, config);
    }

    @Override
    public SharedReceiveQueue newSharedReceiveQueue(SharedReceiveQueueConfig config) throws RpmaException {
        return LibrpmaSharedReceiveQueue.create(this, config);
    }

    @Override
    public LocalMemoryRegion register(MemorySegment memory, Set<MemoryUsage> usages) throws RpmaException {
        return LibrpmaLocalMemoryRegion.register(this, memory, usages);
    }

    @Override
    public void close() throws RpmaException {
        long pointer = takeUnused("rpma_peer_delete");
        if (pointer != 0) {
            delete(Librpma.PEER_DELETE, "rpma_peer_delete", pointer);
        }
    }
}
