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

import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** A request to a listener. */
final class OutgoingRequest extends SoftConnectionRequest {
    private final Rendezvous.Route route;
    private ControlSocket control;

    OutgoingRequest(SoftPeer peer, Queues queues, Rendezvous.Route route) {
        super(peer, queues, route.remote());
        this.route = route;
    }

    @Override
    public ByteBuffer privateData() throws RpmaException {
        throw SoftLog.failure(RpmaError.INVALID, "an outgoing request has no private data of the other side; the connection"
            + " has, once it is established");
    }

    @Override
    int maxPrivateData() {
        return MAX_CONNECT_PRIVATE_DATA;
    }

    @Override
    Connection open(byte[] data) throws RpmaException {
        Rendezvous.Dialled dialled = peer().rendezvous().dial(route);
        if (dialled.fd() < 0) {
            return new SoftConnection(peer(), queues(), dialled.fd() == -Posix.EAGAIN
                ? ConnectionEvent.UNREACHABLE : ConnectionEvent.REJECTED, dialled.local(), remoteAddress());
        }
        control = new ControlSocket(peer().process(), dialled.fd(), dialled.peerPid());
        SoftConnection connection =
            new SoftConnection(peer(), queues(), control, true, null, dialled.local(), remoteAddress());
        queues().queuePair().control(control);
        ControlMessage message = ControlMessage.of(ControlMessage.CONNECT);
        queues().describe(message);
        write(message.body(), route.remote());
        write(message.body(), dialled.local());
        message.body().put(data);
        int result = peer().publish(control, message);
        if (result < 0 && result != -Sockets.EPIPE && result != -Sockets.ECONNRESET) {
            peer().removeControl(control);
            throw SoftLog.failure(RpmaError.PROVIDER, -result, "connect: the request cannot be sent: "
                + Posix.strerror(-result), null);
        }
        // A listener that has closed meanwhile shows as the event REJECTED.
        return connection;
    }

    private static void write(ByteBuffer target, InetSocketAddress address) {
        target.put(Sockets.toBytes(address.getAddress())).putInt(address.getPort());
    }

    @Override
    void drop() {
        if (control != null) {
            control.close();
        }
    }
}
