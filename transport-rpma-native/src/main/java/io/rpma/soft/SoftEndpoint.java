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
import io.rpma.RpmaLog;
import io.rpma.posix.Posix;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * A listener: a TCP socket, which owns the port as any other program's does, and a Unix socket, by which clients of this host
 * come, with a second one beside it that only shows that it is there. Its descriptor is an epoll set of the two, and of the
 * clients that have not said all they have to; everything is done by whoever asks for the next request.
 */
final class SoftEndpoint implements Endpoint {
    /** TCP clients that are being told what this is; further ones are told and closed at once. */
    private static final int MAX_STRANGERS = 64;
    /** How long a TCP client may take to read that. */
    private static final long STRANGER_NANOS = 2_000_000_000L;
    /** What a TCP client may send meanwhile, in bytes. */
    private static final int STRANGER_BYTES = 4096;
    /** What is done in one call, so that a flood of clients does not keep the caller for ever. */
    private static final int MAX_STEPS = 256;
    private static final int BACKLOG = 4096;

    private final SoftPeer peer;
    private final InetSocketAddress address;
    private final String name;
    private final int tcp;
    private final int unix;
    private final int beacon;
    private final int epoll;
    private int timer = -1;
    private final Map<Integer, Stranger> strangers = new HashMap<>();
    private final Map<Integer, Sockets.Credentials> clients = new HashMap<>();
    private boolean closed;

    /** A TCP client. */
    private static final class Stranger {
        private final long deadline = System.nanoTime() + STRANGER_NANOS;
        private int received;
    }

    SoftEndpoint(SoftPeer peer, InetSocketAddress local) throws RpmaException {
        this.peer = peer;
        int[] fds = {-1, -1, -1, -1};
        boolean done = false;
        try {
            fds[0] = listenTcp(local);
            address = new InetSocketAddress(local.getAddress(), Sockets.localPort(fds[0]));
            name = Rendezvous.listenerName(address);
            fds[1] = bindUnix(name, Sockets.SOCK_SEQPACKET);
            checkBind(Sockets.listen(fds[1], BACKLOG), address);
            fds[2] = check(Sockets.epollCreate(), "epoll_create1");
            tcp = fds[0];
            unix = fds[1];
            epoll = fds[2];
            check(Sockets.epollAdd(epoll, tcp), "epoll_ctl");
            check(Sockets.epollAdd(epoll, unix), "epoll_ctl");
            fds[3] = bindUnix(name, Sockets.SOCK_DGRAM);
            beacon = fds[3];
            done = true;
        } finally {
            if (!done) {
                for (int fd : fds) {
                    if (fd >= 0) {
                        Posix.close(fd);
                    }
                }
            }
        }
    }

    private static int listenTcp(InetSocketAddress local) throws RpmaException {
        InetAddress ip = local.getAddress();
        int fd = check(Sockets.socket(ip instanceof Inet6Address ? Sockets.AF_INET6 : Sockets.AF_INET,
            Sockets.SOCK_STREAM | Sockets.SOCK_NONBLOCK), "socket");
        boolean done = false;
        try {
            check(Sockets.setReuseAddress(fd), "setsockopt");
            if (ip instanceof Inet6Address) {
                check(Sockets.setV6Only(fd, !ip.isAnyLocalAddress()), "setsockopt");
            }
            checkBind(Sockets.bind(fd, local), local);
            checkBind(Sockets.listen(fd, BACKLOG), local);
            done = true;
            return fd;
        } finally {
            if (!done) {
                Posix.close(fd);
            }
        }
    }

    private int bindUnix(String socketName, int type) throws RpmaException {
        int fd = check(Sockets.socket(Sockets.AF_UNIX, type | Sockets.SOCK_NONBLOCK), "socket");
        int result = Sockets.bindAbstract(fd, socketName);
        if (result < 0) {
            Posix.close(fd);
            checkBind(result, address);
        }
        return fd;
    }

    private static int check(int result, String what) throws RpmaException {
        if (result < 0) {
            throw SoftLog.failure(RpmaError.PROVIDER, -result, "listen: " + what + " failed: " + Posix.strerror(-result), null);
        }
        return result;
    }

    private static void checkBind(int result, InetSocketAddress address) throws RpmaException {
        if (result < 0) {
            String remedy = switch (-result) {
                case Posix.EADDRINUSE -> "; 'ss -ltnp' shows who listens there, and port 0 chooses a free port";
                case Posix.EADDRNOTAVAIL -> "; it must be an address of this host ('ip addr' lists them)";
                case Posix.EACCES -> "; ports below 1024 need a privilege";
                default -> "";
            };
            throw SoftLog.failure(RpmaError.PROVIDER, -result, "cannot listen at " + address + ": "
                + Posix.strerror(-result) + remedy, null);
        }
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
            // Refuses a closed one, whether there is a request or not.
            config.timeoutMillis();
        }
        for (int step = 0; step < MAX_STEPS; step++) {
            int fd = Sockets.epollNext(epoll);
            if (fd == -Posix.EAGAIN) {
                return null;
            }
            if (fd == -Posix.EINTR) {
                continue;
            }
            check(fd, "epoll_wait");
            int client = fd;
            if (fd == tcp) {
                acceptStranger();
                continue;
            } else if (fd == timer) {
                expireStrangers();
                continue;
            } else if (strangers.containsKey(fd)) {
                readStranger(fd);
                continue;
            } else if (fd == unix) {
                client = acceptClient();
            }
            if (client >= 0) {
                ConnectionRequest request = readClient(client, fd != unix, config);
                if (request != null) {
                    return request;
                }
            }
        }
        return null;
    }

    // ---- clients

    /** Takes a client of this host; returns its socket, or -1. */
    private int acceptClient() throws RpmaException {
        int fd = accept(unix);
        if (fd < 0) {
            return -1;
        }
        Sockets.Credentials credentials = Sockets.peerCredentials(fd);
        if (credentials == null || !peer.rendezvous().mayTalkTo(credentials.uid())) {
            String reason = "the listener at " + address + " shares memory with processes of its own user only";
            SoftLog.log(RpmaLog.Level.WARNING, "a client of another user was rejected: " + credentials);
            SoftConnectionRequest.reject(fd, reason);
            Posix.close(fd);
            return -1;
        }
        clients.put(fd, credentials);
        return fd;
    }

    private int accept(int listener) throws RpmaException {
        int fd = Sockets.accept(listener);
        if (fd == -Sockets.EMFILE || fd == -Sockets.ENFILE) {
            throw tooManyFiles(-fd);
        }
        return fd;
    }

    private static RpmaException tooManyFiles(int errno) {
        return SoftLog.failure(RpmaError.PROVIDER, errno, "a client cannot be accepted: " + Posix.strerror(errno)
            + "; the limit of open files is " + Posix.softLimit(Posix.RLIMIT_NOFILE) + " (ulimit -n)", null);
    }

    private void dropClient(int fd) {
        clients.remove(fd);
        Posix.close(fd);
    }

    /**
     * Reads what a client says; returns its request once it is there.
     *
     * @param watched whether it is in the epoll set already; most clients need not be
     */
    private ConnectionRequest readClient(int fd, boolean watched, ConnectionConfig config) throws RpmaException {
        ControlMessage.Incoming incoming = Scratch.get().incoming();
        ControlMessage message = ControlMessage.receive(fd, incoming);
        if (message == null) {
            if (incoming.result == -Posix.EAGAIN && !watched) {
                int result = Sockets.epollAdd(epoll, fd);
                if (result < 0) {
                    dropClient(fd);
                    check(result, "epoll_ctl");
                }
            } else if (incoming.result != -Posix.EAGAIN && incoming.result != -Posix.EINTR) {
                if (incoming.result == -Posix.EINVAL) {
                    SoftLog.violation("a client of " + address + " sent what is no message of this protocol");
                }
                dropClient(fd);
                if (incoming.result == -Sockets.EMFILE) {
                    throw tooManyFiles(Sockets.EMFILE);
                }
            }
            return null;
        }
        try {
            if (message.version() != ControlMessage.VERSION) {
                SoftLog.log(RpmaLog.Level.WARNING, "a client of version " + message.version() + " of the protocol was rejected");
                SoftConnectionRequest.reject(fd, "the listener speaks version " + ControlMessage.VERSION);
                dropClient(fd);
                return null;
            }
            EndDescription end = message.type() == ControlMessage.CONNECT ? EndDescription.read(message.body()) : null;
            if (end == null || message.body().remaining() < 40 + ConnectionRequest.MAX_CONNECT_PRIVATE_DATA) {
                SoftLog.violation("a client of " + address + " sent a request that makes no sense");
                dropClient(fd);
                return null;
            }
            if (watched) {
                Sockets.epollRemove(epoll, fd);
            }
            return newRequest(fd, end, message, config);
        } finally {
            message.closeAttachments();
        }
    }

    private ConnectionRequest newRequest(int fd, EndDescription end, ControlMessage message, ConnectionConfig config)
            throws RpmaException {
        int pid = clients.get(fd).pid();
        InetSocketAddress dialled = readAddress(message);
        InetSocketAddress remote = readAddress(message);
        byte[] data = new byte[ConnectionRequest.MAX_CONNECT_PRIVATE_DATA];
        message.body().get(data);
        if (dialled == null || remote == null) {
            SoftLog.violation("a client of " + address + " sent addresses that make no sense");
            dropClient(fd);
            return null;
        }
        clients.remove(fd);
        RemoteProcess process = null;
        Queues queues = null;
        RemoteEnd view = null;
        IncomingRequest request = null;
        try {
            if (Sockets.hasHungUp(fd)) {
                throw SoftLog.failure(RpmaError.PROVIDER, Sockets.EPIPE, "the client at " + remote
                    + " is gone before its request was taken", null);
            }
            QueueSizes sizes = QueueSizes.of(config, peer);
            process = peer.process().accepting(new RemoteProcess.Identity(pid, end.high(), end.low()), end.link(),
                message.take(ControlMessage.LINK));
            if (process == null) {
                SoftLog.violation("process " + pid + " asks for a connection by a link that it has not sent");
                return null;
            }
            view = Attaching.attach(peer.process(), process, end, message);
            if (view == null) {
                return null;
            }
            queues = Queues.create(peer, sizes, process);
            peer.addChild();
            request = new IncomingRequest(peer, queues, new ControlSocket(process, fd, pid), view,
                address.getAddress().isAnyLocalAddress() ? dialled : address, remote, data);
            return request;
        } finally {
            if (request == null) {
                SoftConnectionRequest.reject(fd, "the listener could not create the queues");
                if (view != null) {
                    view.release();
                }
                Posix.close(fd);
            }
            if (process != null) {
                // The half and the view of the other end have uses of their own.
                process.release();
            }
        }
    }

    private static InetSocketAddress readAddress(ControlMessage message) {
        byte[] bytes = new byte[16];
        message.body().get(bytes);
        int port = message.body().getInt();
        return port < 0 || port > 0xffff ? null : new InetSocketAddress(Sockets.toAddress(bytes), port);
    }

    // ---- TCP clients, which are told what this is

    private void acceptStranger() throws RpmaException {
        int fd = accept(tcp);
        if (fd < 0) {
            return;
        }
        byte[] hello = new Hello(ControlMessage.VERSION, peer.process().host(), name).write();
        long buffer = Scratch.get().messageAddress();
        for (int i = 0; i < hello.length; i++) {
            Memory.putByte(buffer + i, hello[i]);
        }
        Sockets.send(fd, buffer, hello.length);
        // Reads until the client has closed, within limits: closing with something unread would take the hello back.
        Sockets.shutdownWrite(fd);
        if (strangers.size() >= MAX_STRANGERS || Sockets.epollAdd(epoll, fd) < 0) {
            Posix.close(fd);
            return;
        }
        strangers.put(fd, new Stranger());
        if (strangers.size() == 1) {
            startTimer(STRANGER_NANOS);
        }
    }

    private void startTimer(long nanos) throws RpmaException {
        if (timer < 0) {
            timer = check(Libc.timerfd(), "timerfd_create");
            check(Sockets.epollAdd(epoll, timer), "epoll_ctl");
        }
        Libc.setTimer(timer, Math.max(1, nanos));
    }

    private void readStranger(int fd) {
        Stranger stranger = strangers.get(fd);
        long count = Sockets.receive(fd, Scratch.get().messageAddress(), Scratch.MESSAGE_CAPACITY);
        if (count == -Posix.EAGAIN || count == -Posix.EINTR) {
            return;
        }
        if (count > 0) {
            stranger.received += (int) count;
        }
        if (count <= 0 || stranger.received > STRANGER_BYTES) {
            strangers.remove(fd);
            Posix.close(fd);
        }
    }

    private void expireStrangers() throws RpmaException {
        Libc.read(timer, Scratch.get().messageAddress(), 8);
        long now = System.nanoTime();
        long next = Long.MAX_VALUE;
        Iterator<Map.Entry<Integer, Stranger>> entries = strangers.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry<Integer, Stranger> entry = entries.next();
            long left = entry.getValue().deadline - now;
            if (left <= 0) {
                entries.remove();
                Posix.close(entry.getKey());
            } else {
                next = Math.min(next, left);
            }
        }
        if (!strangers.isEmpty()) {
            startTimer(next);
        }
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        Posix.close(beacon);
        Posix.close(unix);
        Posix.close(tcp);
        Posix.close(epoll);
        if (timer >= 0) {
            Posix.close(timer);
        }
        clients.keySet().forEach(Posix::close);
        strangers.keySet().forEach(Posix::close);
        peer.process().sweep();
        peer.removeChild();
    }
}
