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
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import io.rpma.posix.TcpSockets;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** A request to a listener whose greeting has arrived, or a request that is rejected because there is no listener. */
final class OutgoingRequest extends TcpConnectionRequest {
    private final int socket;
    private final int version;

    OutgoingRequest(ProtectionDomain domain, Queues queues, Dialer.Dialled dialled) {
        super(domain, queues, dialled.remote());
        socket = dialled.socket();
        version = dialled.version();
        queues.pair().speak(version);
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
        if (socket < 0) {
            return TcpConnection.rejected(domain(), queues(), remoteAddress());
        }
        InetSocketAddress local = TcpSockets.localAddress(socket);
        byte[] request = Greeting.request(version).write();
        System.arraycopy(data, 0, request, Greeting.SIZE, data.length);
        TcpConnection connection = TcpConnection.requested(domain(), queues(), socket, local, remoteAddress());
        long buffer = Scratch.get().messageAddress();
        Memory.put(buffer, request);
        long sent = Sockets.send(socket, buffer, request.length);
        if (sent != request.length && sent != -Sockets.EPIPE && sent != -Sockets.ECONNRESET) {
            connection.discard();
            throw TcpLog.failure(RpmaError.PROVIDER, (int) Math.max(0, -sent), "connect: the request cannot be sent to "
                + remoteAddress() + (sent < 0 ? ": " + Posix.strerror((int) -sent) : ""), null);
        }
        // If the listener has closed meanwhile, the connection reports the event REJECTED.
        return connection;
    }

    @Override
    void drop() {
        if (socket >= 0) {
            Posix.close(socket);
        }
    }
}
