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

import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.Hello;
import io.rpma.soft.control.ListeningSocket;
import io.rpma.soft.control.SocketNames;
import io.rpma.software.HalfOpenClients;
import java.util.function.IntConsumer;

/**
 * The clients that connect to the TCP port of an endpoint. Each is sent the hello, which names the socket on which the
 * endpoint listens for clients of this host. Then the client is handed over to a listener of another provider, or its socket is
 * read until the client has closed.
 *
 * <p>The monitor of the endpoint guards the fields. Every caller of a method has locked it. Only {@link #handOver} needs no lock,
 * and the field that it sets is volatile.
 */
final class TcpClients {
    /** The clients to which the hello is being sent; a further one replaces the oldest. */
    private static final int MAX_CLIENTS = 64;
    /** How long a client may take to read it. */
    private static final long CLIENT_NANOS = 2_000_000_000L;
    /** What a client may send meanwhile, in bytes. */
    private static final int CLIENT_BYTES = 4096;

    private final LocalProcess process;
    private final SocketNames names;
    private final ListeningSocket listening;
    private final int epoll;
    private final EndpointTimer timer;
    private final HalfOpenClients clients = new HalfOpenClients(MAX_CLIENTS, MAX_CLIENTS, CLIENT_NANOS);
    // The receiver of the clients; if it is null, they are sent the hello and closed.
    private volatile IntConsumer taker;

    /**
     * Creates an empty set.
     *
     * @param names determines the name of the socket that clients are sent
     * @param listening the socket that the hello names
     * @param epoll the epoll set of the endpoint
     * @param timer the timer of the endpoint
     */
    TcpClients(LocalProcess process, SocketNames names, ListeningSocket listening, int epoll, EndpointTimer timer) {
        this.process = process;
        this.names = names;
        this.listening = listening;
        this.epoll = epoll;
        this.timer = timer;
    }

    /** Hands over all clients from now on; see {@link io.rpma.software.TcpPort#handOver}. */
    void handOver(IntConsumer to) {
        taker = to;
    }

    /** Sends the hello to a client that has just been accepted. */
    void accepted(int fd) {
        byte[] hello = new Hello(ControlMessage.VERSION, process.host(), names.introduction(listening.name())).write();
        long buffer = Scratch.get().messageAddress();
        for (int i = 0; i < hello.length; i++) {
            Memory.putByte(buffer + i, hello[i]);
        }
        Sockets.send(fd, buffer, hello.length);
        IntConsumer to = taker;
        if (to != null) {
            to.accept(fd);
            return;
        }
        // Read until the client has closed, within limits: closing a socket with unread data resets it and discards the hello.
        Sockets.shutdownWrite(fd);
        HalfOpenClients.Client surplus = clients.surplus(0);
        if (surplus != null) {
            // The oldest client has had the most time to read.
            drop(surplus);
        }
        if (Sockets.epollAdd(epoll, fd) < 0) {
            Posix.close(fd);
            return;
        }
        timer.set(clients.add(fd, 0, System.nanoTime()).deadline());
    }

    /** Reads what has come by a socket, if it is that of such a client. Returns whether it is. */
    boolean read(int fd) {
        HalfOpenClients.Client client = clients.get(fd);
        if (client == null) {
            return false;
        }
        long count = Sockets.receive(fd, Scratch.get().messageAddress(), Scratch.MESSAGE_CAPACITY);
        if (count == -Posix.EAGAIN || count == -Posix.EINTR) {
            return true;
        }
        if (count <= 0 || client.receive((int) count) > CLIENT_BYTES) {
            drop(client);
        }
        return true;
    }

    /** Closes the clients that have taken too long, and sets the timer for the others. */
    void expire(long now) {
        HalfOpenClients.Client client = clients.expired(now);
        while (client != null) {
            drop(client);
            client = clients.expired(now);
        }
        client = clients.first();
        if (client != null) {
            timer.set(client.deadline());
        }
    }

    private void drop(HalfOpenClients.Client client) {
        clients.remove(client);
        Posix.close(client.fd());
    }

    void close() {
        clients.all().forEach(client -> Posix.close(client.fd()));
    }
}
