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
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.EndDescription;
import io.rpma.soft.control.SocketNames;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import io.rpma.soft.process.ControlSocket;
import io.rpma.soft.process.RemoteEnd;
import io.rpma.soft.process.RemoteProcess;
import java.net.InetSocketAddress;

/**
 * Creates the connection requests of an endpoint from the messages of its clients. It checks what a client has sent, and rejects
 * a client whose message is not valid.
 *
 * <p>All fields are final. The thread that takes requests calls the methods, with the monitor of the endpoint locked.
 */
final class RequestFactory {
    private final ProtectionDomain domain;
    private final SocketNames names;
    private final InetSocketAddress address;

    /** A client: its socket, its process, both addresses, and its private data. */
    private record Client(int fd, int pid, InetSocketAddress dialled, InetSocketAddress remote, byte[] data) {
    }

    /**
     * Creates the factory of an endpoint.
     *
     * @param names determines with which clients memory may be shared
     * @param address the address that the endpoint listens at
     */
    RequestFactory(ProtectionDomain domain, SocketNames names, InetSocketAddress address) {
        this.domain = domain;
        this.names = names;
        this.address = address;
    }

    /**
     * Creates the request of a client from its message. Unless an exception is thrown, the message is removed from the socket,
     * and the socket belongs to the request or is closed.
     *
     * @return the request, or {@code null} if the message is not valid
     * @throws RpmaException if there are too few resources; the call may then be repeated
     */
    ConnectionRequest create(int fd, int pid, ControlMessage message, ConnectionConfig config) throws RpmaException {
        if (message.version() != ControlMessage.VERSION) {
            SoftLog.log(RpmaLog.Level.WARNING, "a client that speaks version " + message.version() + " of the protocol was"
                + " rejected");
            return refuse(fd, "the listener speaks version " + ControlMessage.VERSION);
        }
        EndDescription end = message.type() == ControlMessage.CONNECT ? EndDescription.read(message.body()) : null;
        if (end == null || message.body().remaining() < 40 + ConnectionRequest.MAX_CONNECT_PRIVATE_DATA) {
            return violated(fd, pid, "an invalid request");
        }
        InetSocketAddress dialled = readAddress(message);
        InetSocketAddress remote = readAddress(message);
        byte[] data = new byte[ConnectionRequest.MAX_CONNECT_PRIVATE_DATA];
        message.body().get(data);
        if (dialled == null || remote == null) {
            return violated(fd, pid, "invalid addresses");
        }
        if (Sockets.hasHungUp(fd)) {
            throw SoftLog.failure(RpmaError.PROVIDER, Sockets.EPIPE, "the client at " + remote
                + " disconnected before its request was processed", null);
        }
        QueueSizes sizes = QueueSizes.of(config, domain);
        ControlMessage.Attachment link = message.take(ControlMessage.LINK);
        if (link != null && !names.mayHaveMade(Sockets.peerCredentials(fd), Sockets.peerCredentials(link.fd()))) {
            Posix.close(link.fd());
            return violated(fd, pid, "a link that it did not create");
        }
        RemoteProcess process =
            domain.process().remotes().accepting(new RemoteProcess.Identity(pid, end.high(), end.low()), end.link(), link);
        if (process == null) {
            return violated(fd, pid, "a request that names a link that it has not sent");
        }
        return create(new Client(fd, pid, dialled, remote, data), process, end, message, sizes);
    }

    /**
     * Creates the request with its queues.
     *
     * @param process the client's process, retained for this call
     */
    private ConnectionRequest create(Client client, RemoteProcess process, EndDescription end, ControlMessage message,
            QueueSizes sizes) throws RpmaException {
        Queues queues = null;
        RemoteEnd view = null;
        try {
            process.fetch(end);
            // Do this before the other end is attached, which is possible only once: this step may have to be repeated.
            queues = Queues.create(domain, sizes, process);
            view = Attaching.attach(domain.process(), process, end, message);
        } finally {
            if (view == null && queues != null) {
                queues.close();
            }
            // The half and the view of the other end are users of their own.
            process.release();
        }
        if (view == null) {
            return refuse(client.fd(), "the request makes no sense");
        }
        Sockets.takeMessage(client.fd());
        // This cannot fail: the endpoint is open, and so is the peer.
        domain.addChild();
        return new IncomingRequest(domain, queues, new ControlSocket(process, client.fd(), client.pid()), view,
            address.getAddress().isAnyLocalAddress() ? client.dialled() : address, client.remote(), client.data());
    }

    private static InetSocketAddress readAddress(ControlMessage message) {
        byte[] bytes = new byte[16];
        message.body().get(bytes);
        int port = message.body().getInt();
        return port < 0 || port > 0xffff ? null : new InetSocketAddress(Sockets.toAddress(bytes), port);
    }

    private ConnectionRequest violated(int fd, int pid, String what) {
        SoftLog.violation(User.process(pid) + ", a client of " + address + ", sent " + what);
        return refuse(fd, "the request makes no sense");
    }

    private static ConnectionRequest refuse(int fd, String reason) {
        Sockets.takeMessage(fd);
        reject(fd, reason);
        return null;
    }

    /** Tells a client why it is rejected, and closes its socket. */
    static void reject(int fd, String reason) {
        SoftConnectionRequest.reject(fd, reason);
        Posix.close(fd);
    }
}
