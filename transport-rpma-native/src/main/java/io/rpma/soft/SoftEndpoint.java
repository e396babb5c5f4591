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
import io.rpma.Endpoint;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.DescriptorWait;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ListeningSocket;
import io.rpma.soft.control.SocketNames;
import io.rpma.soft.host.Libc;
import io.rpma.soft.host.OpenFiles;
import io.rpma.soft.host.SoftLog;
import io.rpma.software.TcpPort;
import java.net.InetSocketAddress;
import java.util.function.IntConsumer;

/**
 * A listener: a TCP socket, which reserves the port, and a Unix socket, to which clients of this host connect. Its descriptor is
 * an epoll set of the two, of the clients whose request is not complete, and of a timer. All work is done by the thread that
 * calls {@link #nextConnectionRequest}.
 *
 * <p>A thread that waits for the descriptor edge-triggered is notified only once. Therefore the timer makes the descriptor ready
 * again whenever a call ends with work left. It also ends the clients that send nothing. Clients that have not been accepted,
 * because this process has no descriptor left, stay in the kernel's queue: later calls find them there.
 *
 * <p>The monitor of this object guards everything that changes, here and in {@link LocalClients}, {@link TcpClients} and
 * {@link EndpointTimer}. Any thread may call any method.
 */
final class SoftEndpoint implements Endpoint, TcpPort {
    /** The number of events handled by one call, so that a flood of clients does not hold up the caller. */
    static final int MAX_STEPS = 256;
    private static final int BACKLOG = 4096;

    private final ProtectionDomain domain;
    private final InetSocketAddress address;
    private final ListeningSocket listening;
    private final int tcp;
    private final int unix;
    private final int epoll;
    private final EndpointTimer timer;
    private final LocalClients clients;
    private final TcpClients tcpClients;
    private boolean closed;

    SoftEndpoint(ProtectionDomain domain, SocketNames names, InetSocketAddress local) throws RpmaException {
        this.domain = domain;
        int[] fds = {-1, -1, -1};
        ListeningSocket taken = null;
        boolean done = false;
        try {
            fds[0] = SoftLog.LISTENING.listen(local, BACKLOG);
            address = new InetSocketAddress(local.getAddress(), Sockets.localPort(fds[0]));
            fds[1] = SoftLog.LISTENING.check(Sockets.epollCreate(), "epoll_create1");
            fds[2] = SoftLog.LISTENING.check(Libc.timerfd(), "timerfd_create");
            taken = listen(names, address);
            tcp = fds[0];
            epoll = fds[1];
            listening = taken;
            unix = listening.fd();
            SoftLog.LISTENING.check(Sockets.epollAdd(epoll, tcp), "epoll_ctl");
            SoftLog.LISTENING.check(Sockets.epollAdd(epoll, unix), "epoll_ctl");
            SoftLog.LISTENING.check(Sockets.epollAdd(epoll, fds[2]), "epoll_ctl");
            timer = new EndpointTimer(fds[2]);
            clients = new LocalClients(domain, names, address, epoll, timer);
            tcpClients = new TcpClients(domain.process(), names, listening, epoll, timer);
            done = true;
        } finally {
            if (!done) {
                for (int fd : fds) {
                    if (fd >= 0) {
                        Posix.close(fd);
                    }
                }
                if (taken != null) {
                    close(taken);
                }
            }
        }
    }

    /** Acquires the name of the listener. This process knows the name before any client can connect to it. */
    private ListeningSocket listen(SocketNames names, InetSocketAddress local) throws RpmaException {
        String name = names.listener(local);
        boolean done = false;
        domain.process().remotes().listens(name);
        try {
            ListeningSocket socket = names.listen(local, BACKLOG);
            done = true;
            return socket;
        } finally {
            if (!done) {
                domain.process().remotes().listensNoMore(name);
            }
        }
    }

    private void close(ListeningSocket socket) {
        socket.close();
        domain.process().remotes().listensNoMore(socket.name());
    }

    @Override
    public int fd() {
        return epoll;
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    @Override
    public synchronized ConnectionRequest nextConnectionRequest(ConnectionConfig config) throws RpmaException {
        if (closed) {
            throw SoftLog.failure(RpmaError.INVALID, "the endpoint is closed");
        }
        if (config != null) {
            // Throws for a closed configuration, whether there is a request or not.
            config.timeoutMillis();
        }
        for (int step = 0; step < MAX_STEPS; step++) {
            int fd = timer.isOverdue() ? timer.fd() : Sockets.epollNext(epoll);
            if (fd == -Posix.EAGAIN) {
                return null;
            }
            if (fd == -Posix.EINTR) {
                continue;
            }
            SoftLog.LISTENING.check(fd, "epoll_wait");
            if (fd == timer.fd()) {
                expire();
                continue;
            }
            if (fd == tcp) {
                acceptTcpClient();
                continue;
            }
            if (tcpClients.read(fd)) {
                continue;
            }
            ConnectionRequest request = fd == unix ? acceptClient(config) : clients.read(fd, config);
            if (request != null) {
                return request;
            }
        }
        // There may be more events. Make the descriptor ready again, for a thread that waits edge-triggered.
        timer.set(System.nanoTime());
        return null;
    }

    @Override
    public synchronized void progress() throws RpmaException {
        if (closed) {
            return;
        }
        for (int step = 0; step < MAX_STEPS; step++) {
            if (!acceptTcpClient()) {
                return;
            }
        }
        // There may be more clients. Make the descriptor ready again, for a thread that waits edge-triggered.
        timer.set(System.nanoTime());
    }

    private void expire() {
        timer.expired();
        long now = System.nanoTime();
        tcpClients.expire(now);
        clients.expire(now);
    }

    /** Accepts a client of this host. Returns its request if it has arrived already, which is the usual case. */
    private ConnectionRequest acceptClient(ConnectionConfig config) throws RpmaException {
        int fd = accept(unix);
        return fd < 0 ? null : clients.accepted(fd, config);
    }

    /** Accepts a client that has come over TCP. Returns whether there may be another one. */
    private boolean acceptTcpClient() throws RpmaException {
        int fd = accept(tcp);
        if (fd >= 0) {
            tcpClients.accepted(fd);
        }
        return fd != -Posix.EAGAIN;
    }

    private int accept(int listener) throws RpmaException {
        int fd = Sockets.accept(listener);
        if (OpenFiles.areExhausted(-fd)) {
            throw clients.shortage(-fd);
        }
        if (fd == -Posix.ENOMEM || fd == -Sockets.ENOBUFS) {
            timer.setForShortage(System.nanoTime());
            throw SoftLog.failure(RpmaError.NO_MEMORY, -fd, "a client of " + address + " cannot be accepted: "
                + Posix.strerror(-fd), null);
        }
        return fd;
    }

    @Override
    public void handOver(IntConsumer taker) {
        tcpClients.handOver(taker);
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        // Without the monitor: this waits for a thread that is looking for a request, which needs the monitor.
        DescriptorWait.closing(fd());
        release();
    }

    private synchronized void release() {
        close(listening);
        Posix.close(tcp);
        Posix.close(epoll);
        timer.close();
        clients.close();
        tcpClients.close();
        domain.process().remotes().sweep();
        domain.removeChild();
    }

    // ---- for tests

    /** Returns the number of clients that have connected and are waited for. */
    synchronized int waitingCount() {
        return clients.count();
    }
}
