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

import io.rpma.Connection;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.nio.ByteBuffer;

/** A request to a listener whose greeting may not have arrived yet, or a request that is rejected because nobody listens. */
final class OutgoingRequest extends TcpConnectionRequest {
    private final Dialer dialer;

    OutgoingRequest(ProtectionDomain domain, Queues queues, Dialer dialer) throws RpmaException {
        super(domain, queues, dialer.remote());
        this.dialer = dialer;
    }

    @Override
    public ByteBuffer privateData() throws RpmaException {
        throw TcpLog.failure(RpmaError.INVALID, "an outgoing request has no private data of the peer; read it from the"
            + " connection once that is established");
    }

    @Override
    protected int maxPrivateData() {
        return MAX_CONNECT_PRIVATE_DATA;
    }

    @Override
    protected Connection open(byte[] data) throws RpmaException {
        return dialer.socket() < 0 ? TcpConnection.rejected(domain(), queues(), remoteAddress())
            : TcpConnection.requesting(domain(), queues(), new Handshake(dialer, data));
    }

    @Override
    void drop() {
        if (dialer.socket() >= 0) {
            Posix.close(dialer.socket());
        }
    }
}
