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

import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.software.SoftwareConnectionRequest;
import java.net.InetSocketAddress;

/** A connection request. Its queues exist already; the connection is not established. */
abstract class TcpConnectionRequest extends SoftwareConnectionRequest {
    private final ProtectionDomain domain;
    private final Queues queues;

    TcpConnectionRequest(ProtectionDomain domain, Queues queues, InetSocketAddress remoteAddress) throws RpmaException {
        super(TcpLog.INSTANCE, remoteAddress);
        this.domain = domain;
        this.queues = queues;
        domain.hold();
    }

    ProtectionDomain domain() {
        return domain;
    }

    Queues queues() {
        return queues;
    }

    @Override
    public void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        checkReceive(target);
        queues.pair().receive(TcpLocalMemoryRegion.of(target), offset, length, context);
    }

    /** Closes the socket. If this is the request of a client, the client is rejected first. */
    abstract void drop();

    @Override
    protected void release() {
        drop();
        queues.close();
        domain.release();
    }
}
