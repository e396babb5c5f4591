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
import io.rpma.Endpoint;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.posix.TcpSockets;
import io.rpma.software.TcpPort;
import java.net.InetSocketAddress;

/**
 * A listener. The adapter's thread greets its clients; this class returns the requests that have arrived. It has a TCP port of
 * its own, or takes the clients from the port of another listener.
 */
final class TcpEndpoint implements Endpoint {
    private static final int BACKLOG = 4096;

    private final ProtectionDomain domain;
    private final InetSocketAddress address;
    // The port whose clients this listener takes; null if it has its own socket.
    private final TcpPort port;
    private final Alarm alarm = new Alarm();
    private final Acceptor acceptor;
    private boolean closed;

    TcpEndpoint(ProtectionDomain domain, InetSocketAddress local) throws RpmaException {
        this(domain, TcpLog.LISTENING.listen(local, BACKLOG, SocketOptions::set), null, local);
    }

    /** Takes the clients of a port that another listener owns. */
    TcpEndpoint(ProtectionDomain domain, TcpPort port) throws RpmaException {
        this(domain, Acceptor.NO_LISTENER, port, port.localAddress());
        port.handOver(this::adopt);
    }

    private TcpEndpoint(ProtectionDomain domain, int listener, TcpPort port, InetSocketAddress local) throws RpmaException {
        this.domain = domain;
        this.port = port;
        int set = -1;
        boolean done = false;
        try {
            Adapter.start();
            set = TcpLog.LISTENING.check(Sockets.epollCreate(), "epoll_create1");
            alarm.made();
            address = port != null ? local : new InetSocketAddress(local.getAddress(), Sockets.localPort(listener));
            acceptor = new Acceptor(address, listener, set, alarm);
            done = true;
        } finally {
            if (!done) {
                if (port == null) {
                    Posix.close(listener);
                }
                if (set >= 0) {
                    Posix.close(set);
                }
                alarm.close();
            }
        }
        boolean added = false;
        try {
            Adapter.instance().add(acceptor);
            added = true;
        } finally {
            if (!added) {
                acceptor.close();
            }
        }
    }

    @Override
    public int fd() {
        return alarm.fd();
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    /** Takes over a TCP connection that another listener has accepted; see {@link Acceptor#adopt}. */
    void adopt(int fd) {
        try {
            acceptor.adopt(fd);
        } finally {
            // The adapter's thread may be asleep, and would not notice that the client has a deadline.
            Adapter.instance().checkDeadlines();
        }
    }

    @Override
    public synchronized ConnectionRequest nextConnectionRequest(ConnectionConfig config) throws RpmaException {
        if (closed) {
            throw TcpLog.failure(RpmaError.INVALID, "the endpoint is closed");
        }
        if (config != null) {
            // Throws for a closed configuration, whether there is a request or not.
            config.timeoutMillis();
        }
        if (!acceptor.hasNext()) {
            checkShortage(acceptor.takeShortage());
            return null;
        }
        Acceptor.Waiting next = acceptor.next();
        InetSocketAddress remote = TcpSockets.remoteAddress(next.socket());
        boolean done = false;
        try {
            if (remote == null) {
                throw TcpLog.failure(RpmaError.PROVIDER, Sockets.EPIPE, "a client of " + address
                    + " disconnected before its request was processed", null);
            }
            Queues queues = Queues.create(domain, QueueSizes.of(config, domain));
            done = true;
            return new IncomingRequest(domain, queues, next.socket(), next.version(), remote, next.data());
        } finally {
            if (!done) {
                Response.reject(next.socket(), "the listener has no room for the connection");
            }
        }
    }

    private void checkShortage(int errno) throws RpmaException {
        if (errno != 0) {
            throw OpenFiles.failure(errno, "clients of " + address + " cannot be accepted and have to wait");
        }
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (port != null) {
            port.handOver(null);
        }
        for (int socket : acceptor.close()) {
            Response.reject(socket, "the listener at " + address + " has closed");
        }
        Adapter.instance().remove(acceptor);
        domain.release();
    }
}
