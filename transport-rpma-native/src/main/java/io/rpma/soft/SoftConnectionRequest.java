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

import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.host.SoftLog;
import io.rpma.software.SoftwareConnectionRequest;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** The common part of outgoing and incoming connection requests. */
abstract class SoftConnectionRequest extends SoftwareConnectionRequest {
    private final ProtectionDomain domain;

    SoftConnectionRequest(ProtectionDomain domain, InetSocketAddress remoteAddress) {
        super(SoftLog.INSTANCE, remoteAddress);
        this.domain = domain;
    }

    ProtectionDomain domain() {
        return domain;
    }

    /** Returns the queues, {@code null} if they have not been created yet. */
    abstract Queues queues();

    /** Posts a receive that is known to have a region. */
    abstract void post(SoftLocalMemoryRegion target, long offset, long length, long context) throws RpmaException;

    @Override
    public void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        checkReceive(target);
        post(SoftLocalMemoryRegion.of(target), offset, length, context);
    }

    /** Rejects the request if it is an incoming one, and closes the socket. */
    abstract void drop();

    @Override
    protected void release() throws RpmaException {
        drop();
        try {
            if (queues() != null) {
                queues().close();
            }
        } finally {
            domain.removeChild();
        }
    }

    /** Rejects a client with a text. */
    static void reject(int fd, String reason) {
        ControlMessage message = ControlMessage.of(ControlMessage.REJECT);
        byte[] words = reason.getBytes(StandardCharsets.UTF_8);
        message.body().put(words, 0, Math.min(words.length, message.body().remaining()));
        message.send(fd);
    }
}
