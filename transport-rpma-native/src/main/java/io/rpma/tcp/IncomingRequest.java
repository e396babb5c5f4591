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
import io.rpma.posix.TcpSockets;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** The request of a client. */
final class IncomingRequest extends TcpConnectionRequest {
    private final int socket;
    private final ByteBuffer privateData;
    // Whether the client may have received the acceptance. A rejection would then be a violation of the protocol.
    private boolean accepted;

    /** Creates the request; the socket is taken over. The endpoint is open, and so is the peer. */
    IncomingRequest(ProtectionDomain domain, Queues queues, int socket, int version, InetSocketAddress remote, byte[] data)
            throws RpmaException {
        super(domain, queues, remote);
        queues.pair().speak(version);
        this.socket = socket;
        privateData = ByteBuffer.wrap(data).asReadOnlyBuffer();
    }

    @Override
    public ByteBuffer privateData() {
        return privateData.duplicate();
    }

    @Override
    protected int maxPrivateData() {
        return MAX_ACCEPT_PRIVATE_DATA;
    }

    @Override
    protected Connection open(byte[] data) throws RpmaException {
        InetSocketAddress local = TcpSockets.localAddress(socket);
        // Nothing below fails for lack of resources: an acceptance cannot be revoked.
        TcpConnection connection =
            TcpConnection.accepting(domain(), queues(), socket, privateData, local, remoteAddress());
        accepted = true;
        long sent = Response.accept(socket, data);
        if (sent != Wire.HEADER + data.length || local == null) {
            throw TcpLog.failure(RpmaError.PROVIDER, (int) Math.max(0, -sent), "connect: the client at " + remoteAddress()
                + " is gone" + (sent < 0 ? " (" + Posix.strerror((int) -sent) + ")" : ""), null);
        }
        connection.start();
        return connection;
    }

    @Override
    void drop() {
        if (!accepted) {
            Response.reject(socket, "the request was rejected by the application");
        } else if (!queues().pair().ownsSocket()) {
            Posix.close(socket);
        }
    }
}
