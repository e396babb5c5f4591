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
import io.rpma.posix.DescriptorWait;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import io.rpma.software.HalfOpenClients;
import io.rpma.software.TcpPort;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntConsumer;

/**
 * A listener: a TCP socket, which reserves the port, and a Unix socket, to which clients of this host connect. Its descriptor is
 * an epoll set of the two, of the clients whose request is not complete, and of a timer. All work is done by the thread that
 * calls {@link #nextConnectionRequest}.
 *
 * <p>A thread that waits for the descriptor edge-triggered is notified only once. Therefore the timer makes the descriptor ready
 * again whenever a call ends with work left. It also ends the clients that send nothing: their number is limited, for each
 * process as well as in total, and so is the time of each.
 *
 * <p>A request is taken out of a client's socket when all that it needs is there. If this process has no descriptor left, the
 * request stays in the socket, and clients that have not been accepted stay in the kernel's queue: later calls find them there.
 */
final class SoftEndpoint implements Endpoint, TcpPort {
    /** How long a client may take from connecting to sending its request; it does one right after the other. */
    static final long CLIENT_MILLIS = 5_000;
    /** The largest number of clients that are waited for; each takes a descriptor. */
    private static final int MAX_CLIENTS = 1024;
    private static final int MIN_CLIENTS = 64;
    /** The part of all descriptors that such clients may take, and the part of those that one process may have. */
    private static final int PART = 4;
    /** TCP clients to which the hello is being sent; a further one replaces the oldest. */
    private static final int MAX_STRANGERS = 64;
    /** How long a TCP client may take to read it. */
    private static final long STRANGER_MILLIS = 2_000;
    /** What a TCP client may send meanwhile, in bytes. */
    private static final int STRANGER_BYTES = 4096;
    /** The number of events handled by one call, so that a flood of clients does not hold up the caller. */
    static final int MAX_STEPS = 256;
    private static final int BACKLOG = 4096;
    /** The delay after which the descriptor becomes ready again for clients that lacked a file descriptor. */
    private static final long SHORTAGE_MILLIS = 1_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final SoftPeer peer;
    private final InetSocketAddress address;
    private final SocketNames names;
    private final ListeningSocket listening;
    private final int tcp;
    private final int unix;
    private final int epoll;
    private final int timer;
    // The time at which the timer expires; valid only if it is set.
    private long timerDeadline;
    private boolean timerSet;
    private final HalfOpenClients strangers =
        new HalfOpenClients(MAX_STRANGERS, MAX_STRANGERS, STRANGER_MILLIS * NANOS_PER_MILLI);
    private final HalfOpenClients silent = newSilent();
    // The clients, by their sockets, whose data is still to be read, because this process had no descriptor for it or has not
    // read it yet; the values are their processes.
    private final Map<Integer, Integer> waiting = new HashMap<>();
    // The receiver of TCP clients; if it is null, they are sent the hello and closed.
    private volatile IntConsumer tcpClients;
    private boolean closed;

    SoftEndpoint(SoftPeer peer, InetSocketAddress local) throws RpmaException {
        this.peer = peer;
        names = peer.rendezvous().names();
        int[] fds = {-1, -1, -1};
        ListeningSocket taken = null;
        boolean done = false;
        try {
            fds[0] = listenTcp(local);
            address = new InetSocketAddress(local.getAddress(), Sockets.localPort(fds[0]));
            fds[1] = check(Sockets.epollCreate(), "epoll_create1");
            fds[2] = check(Libc.timerfd(), "timerfd_create");
            taken = names.listen(address, BACKLOG);
            tcp = fds[0];
            epoll = fds[1];
            timer = fds[2];
            listening = taken;
            unix = listening.fd();
            check(Sockets.epollAdd(epoll, tcp), "epoll_ctl");
            check(Sockets.epollAdd(epoll, unix), "epoll_ctl");
            check(Sockets.epollAdd(epoll, timer), "epoll_ctl");
            done = true;
        } finally {
            if (!done) {
                for (int fd : fds) {
                    if (fd >= 0) {
                        Posix.close(fd);
                    }
                }
                if (taken != null) {
                    taken.close();
                }
            }
        }
    }

    private static HalfOpenClients newSilent() {
        long files = Posix.softLimit(Posix.RLIMIT_NOFILE);
        int limit = files == Posix.UNLIMITED ? MAX_CLIENTS
            : (int) Math.max(MIN_CLIENTS, Math.min(MAX_CLIENTS, files / PART));
        return new HalfOpenClients(limit, limit / PART, CLIENT_MILLIS * NANOS_PER_MILLI);
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

    private static int check(int result, String what) throws RpmaException {
        if (result < 0) {
            throw SoftLog.failure(RpmaError.PROVIDER, -result, "listen: " + what + " failed: " + Posix.strerror(-result), null);
        }
        return result;
    }

    static void checkBind(int result, InetSocketAddress address) throws RpmaException {
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
            // Throws for a closed configuration, whether there is a request or not.
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
            if (fd == timer) {
                expire();
                continue;
            }
            if (fd == tcp) {
                acceptStranger();
                continue;
            }
            HalfOpenClients.Client stranger = strangers.get(fd);
            if (stranger != null) {
                readStranger(stranger);
                continue;
            }
            ConnectionRequest request = fd == unix ? acceptClient(config) : readKnown(fd, config);
            if (request != null) {
                return request;
            }
        }
        // There may be more events. Make the descriptor ready again, for a thread that waits edge-triggered.
        setTimer(System.nanoTime());
        return null;
    }

    // ---- the timer

    /** Makes the descriptor ready at a time of {@code System.nanoTime()} at the latest. */
    private void setTimer(long deadline) {
        if (!timerSet || deadline - timerDeadline < 0) {
            timerSet = true;
            timerDeadline = deadline;
            Libc.setTimer(timer, Math.max(1, deadline - System.nanoTime()));
        }
    }

    private void expire() {
        Libc.read(timer, Scratch.get().messageAddress(), 8);
        timerSet = false;
        long now = System.nanoTime();
        HalfOpenClients.Client client = strangers.expired(now);
        while (client != null) {
            drop(strangers, client);
            client = strangers.expired(now);
        }
        client = silent.expired(now);
        while (client != null) {
            dropSilent(client, "no request came within " + CLIENT_MILLIS + " ms");
            client = silent.expired(now);
        }
        setTimerFor(strangers.first());
        setTimerFor(silent.first());
        if (!waiting.isEmpty()) {
            setTimer(now + SHORTAGE_MILLIS * NANOS_PER_MILLI);
        }
    }

    private void setTimerFor(HalfOpenClients.Client client) {
        if (client != null) {
            setTimer(client.deadline());
        }
    }

    // ---- clients

    /** Accepts a client of this host. Returns its request if it has arrived already, which is the usual case. */
    private ConnectionRequest acceptClient(ConnectionConfig config) throws RpmaException {
        int fd = accept(unix);
        if (fd < 0) {
            return null;
        }
        Sockets.Credentials credentials = Sockets.peerCredentials(fd);
        String whyNot = names.whyNot(credentials);
        if (whyNot != null) {
            SoftLog.log(RpmaLog.Level.WARNING, "a client of " + address + " was rejected: it " + whyNot);
            reject(fd, "the listener at " + address + " shares memory with processes of its own user only");
            return null;
        }
        return readClient(fd, credentials == null ? 0 : credentials.process(), null, config);
    }

    private int accept(int listener) throws RpmaException {
        int fd = Sockets.accept(listener);
        if (OpenFiles.areExhausted(-fd)) {
            throw shortage(-fd);
        }
        if (fd == -Posix.ENOMEM || fd == -Sockets.ENOBUFS) {
            setTimer(System.nanoTime() + SHORTAGE_MILLIS * NANOS_PER_MILLI);
            throw SoftLog.failure(RpmaError.NO_MEMORY, -fd, "a client of " + address + " cannot be accepted: "
                + Posix.strerror(-fd), null);
        }
        return fd;
    }

    /** Returns the exception for a client that has to wait because this process has no descriptor left. */
    private RpmaException shortage(int errno) {
        setTimer(System.nanoTime() + SHORTAGE_MILLIS * NANOS_PER_MILLI);
        return OpenFiles.failure(errno, "a client of " + address + " cannot be accepted and has to wait");
    }

    private static void reject(int fd, String reason) {
        SoftConnectionRequest.reject(fd, reason);
        Posix.close(fd);
    }

    private static void drop(HalfOpenClients clients, HalfOpenClients.Client client) {
        clients.remove(client);
        Posix.close(client.fd());
    }

    /** Drops a client that has sent no request, unless data has arrived by now, which is then read in its turn. */
    private void dropSilent(HalfOpenClients.Client client, String reason) {
        silent.remove(client);
        if (Sockets.poll(client.fd(), (short) Sockets.EPOLLIN, 0) > 0) {
            waiting.put(client.fd(), client.origin());
            return;
        }
        SoftLog.log(RpmaLog.Level.NOTICE, "a client of " + address + " (" + User.process(client.origin()) + ") was dropped: "
            + reason);
        reject(client.fd(), reason);
    }

    /** Reads the data of a client that was accepted earlier. Returns its request if it has arrived. */
    private ConnectionRequest readKnown(int fd, ConnectionConfig config) throws RpmaException {
        HalfOpenClients.Client client = silent.get(fd);
        if (client != null) {
            return readClient(fd, client.origin(), client, config);
        }
        // From here on the client is handled as if it had just been accepted.
        int pid = waiting.remove(fd);
        check(Sockets.epollRemove(epoll, fd), "epoll_ctl");
        return readClient(fd, pid, null, config);
    }

    /**
     * Reads the data of a client. Returns its request if it has arrived.
     *
     * @param known the client if it was accepted earlier without a request, {@code null} if it has just been accepted
     */
    private ConnectionRequest readClient(int fd, int pid, HalfOpenClients.Client known, ConnectionConfig config)
            throws RpmaException {
        ControlMessage.Incoming incoming = ControlMessage.incoming();
        ControlMessage message = ControlMessage.peek(fd, incoming);
        if (message == null && (incoming.result == -Posix.EAGAIN || incoming.result == -Posix.EINTR)) {
            if (known == null) {
                awaitRequest(fd, pid);
            }
            return null;
        }
        if (known != null) {
            silent.remove(known);
            Sockets.epollRemove(epoll, fd);
        }
        if (message == null) {
            if (incoming.result == -Sockets.EMFILE) {
                putOff(fd, pid);
                throw shortage(Sockets.EMFILE);
            }
            if (incoming.result == -Posix.EINVAL) {
                Sockets.takeMessage(fd);
                SoftLog.violation(User.process(pid) + ", a client of " + address + ", sent what is no message of this protocol");
            }
            Posix.close(fd);
            return null;
        }
        boolean taken = false;
        try {
            ConnectionRequest request = newRequest(fd, pid, message, config);
            taken = true;
            return request;
        } catch (RpmaException e) {
            if (!OpenFiles.areExhausted(e.errno())) {
                throw e;
            }
            taken = true;
            putOff(fd, pid);
            throw shortage(e.errno());
        } finally {
            message.closeAttachments();
            if (!taken) {
                Sockets.takeMessage(fd);
                reject(fd, "the listener could not create the queues");
            }
        }
    }

    /** Waits for a client's request. */
    private void awaitRequest(int fd, int pid) throws RpmaException {
        HalfOpenClients.Client surplus = silent.surplus(pid);
        if (surplus != null) {
            dropSilent(surplus, "too many clients connect without sending a request");
        }
        watch(fd);
        setTimerFor(silent.add(fd, pid, System.nanoTime()));
    }

    private void watch(int fd) throws RpmaException {
        int result = Sockets.epollAdd(epoll, fd);
        if (result < 0) {
            reject(fd, "the listener cannot wait for the request: " + Posix.strerror(-result));
            check(result, "epoll_ctl");
        }
    }

    /** Leaves a client's request in its socket until this process has descriptors for it, unless the client has closed. */
    private void putOff(int fd, int pid) throws RpmaException {
        if (Sockets.hasHungUp(fd)) {
            Posix.close(fd);
        } else {
            watch(fd);
            waiting.put(fd, pid);
        }
    }

    /**
     * Creates the request of a client from its message. Unless an exception is thrown, the message is removed from the socket,
     * and the socket belongs to the request or is closed.
     *
     * @return the request, or {@code null} if the message is not valid
     * @throws RpmaException if there are too few resources; the call may then be repeated
     */
    private ConnectionRequest newRequest(int fd, int pid, ControlMessage message, ConnectionConfig config)
            throws RpmaException {
        if (message.version() != ControlMessage.VERSION) {
            SoftLog.log(RpmaLog.Level.WARNING, "a client of version " + message.version() + " of the protocol was rejected");
            return refuse(fd, "the listener speaks version " + ControlMessage.VERSION);
        }
        EndDescription end = message.type() == ControlMessage.CONNECT ? EndDescription.read(message.body()) : null;
        if (end == null || message.body().remaining() < 40 + ConnectionRequest.MAX_CONNECT_PRIVATE_DATA) {
            return violated(fd, pid, "a request that makes no sense");
        }
        InetSocketAddress dialled = readAddress(message);
        InetSocketAddress remote = readAddress(message);
        byte[] data = new byte[ConnectionRequest.MAX_CONNECT_PRIVATE_DATA];
        message.body().get(data);
        if (dialled == null || remote == null) {
            return violated(fd, pid, "addresses that make no sense");
        }
        if (Sockets.hasHungUp(fd)) {
            throw SoftLog.failure(RpmaError.PROVIDER, Sockets.EPIPE, "the client at " + remote
                + " is gone before its request was taken", null);
        }
        QueueSizes sizes = QueueSizes.of(config, peer);
        ControlMessage.Attachment link = message.take(ControlMessage.LINK);
        if (link != null && !names.mayHaveMade(Sockets.peerCredentials(fd), Sockets.peerCredentials(link.fd()))) {
            Posix.close(link.fd());
            return violated(fd, pid, "a link that is not of its own making");
        }
        RemoteProcess process =
            peer.process().accepting(new RemoteProcess.Identity(pid, end.high(), end.low()), end.link(), link);
        if (process == null) {
            return violated(fd, pid, "a request by a link that it has not sent");
        }
        Queues queues = null;
        RemoteEnd view = null;
        try {
            process.fetch(end);
            // Do this before the other end is attached, which is possible only once: this step may have to be repeated.
            queues = Queues.create(peer, sizes, process);
            view = Attaching.attach(peer.process(), process, end, message);
        } finally {
            if (view == null && queues != null) {
                queues.close();
            }
            // The half and the view of the other end are users of their own.
            process.release();
        }
        if (view == null) {
            return refuse(fd, "the request makes no sense");
        }
        Sockets.takeMessage(fd);
        peer.addChild();
        return new IncomingRequest(peer, queues, new ControlSocket(process, fd, pid), view,
            address.getAddress().isAnyLocalAddress() ? dialled : address, remote, data);
    }

    private static ConnectionRequest refuse(int fd, String reason) {
        Sockets.takeMessage(fd);
        reject(fd, reason);
        return null;
    }

    private ConnectionRequest violated(int fd, int pid, String what) {
        SoftLog.violation(User.process(pid) + ", a client of " + address + ", sent " + what);
        return refuse(fd, "the request makes no sense");
    }

    private static InetSocketAddress readAddress(ControlMessage message) {
        byte[] bytes = new byte[16];
        message.body().get(bytes);
        int port = message.body().getInt();
        return port < 0 || port > 0xffff ? null : new InetSocketAddress(Sockets.toAddress(bytes), port);
    }

    // ---- TCP clients, which are sent the hello

    @Override
    public void handOver(IntConsumer taker) {
        tcpClients = taker;
    }

    private void acceptStranger() throws RpmaException {
        int fd = accept(tcp);
        if (fd < 0) {
            return;
        }
        byte[] hello = new Hello(ControlMessage.VERSION, peer.process().host(), names.introduction(listening.name())).write();
        long buffer = Scratch.get().messageAddress();
        for (int i = 0; i < hello.length; i++) {
            Memory.putByte(buffer + i, hello[i]);
        }
        Sockets.send(fd, buffer, hello.length);
        IntConsumer taker = tcpClients;
        if (taker != null) {
            taker.accept(fd);
            return;
        }
        // Read until the client has closed, within limits: closing a socket with unread data resets it and discards the hello.
        Sockets.shutdownWrite(fd);
        HalfOpenClients.Client surplus = strangers.surplus(0);
        if (surplus != null) {
            // The oldest client has had the most time to read.
            drop(strangers, surplus);
        }
        if (Sockets.epollAdd(epoll, fd) < 0) {
            Posix.close(fd);
            return;
        }
        setTimerFor(strangers.add(fd, 0, System.nanoTime()));
    }

    private void readStranger(HalfOpenClients.Client stranger) {
        long count = Sockets.receive(stranger.fd(), Scratch.get().messageAddress(), Scratch.MESSAGE_CAPACITY);
        if (count == -Posix.EAGAIN || count == -Posix.EINTR) {
            return;
        }
        if (count <= 0 || stranger.receive((int) count) > STRANGER_BYTES) {
            drop(strangers, stranger);
        }
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        DescriptorWait.closing(fd());
        listening.close();
        Posix.close(tcp);
        Posix.close(epoll);
        Posix.close(timer);
        silent.all().forEach(client -> Posix.close(client.fd()));
        strangers.all().forEach(client -> Posix.close(client.fd()));
        waiting.keySet().forEach(Posix::close);
        peer.process().sweep();
        peer.removeChild();
    }

    // ---- for tests

    /** Returns the number of clients that have connected and are waited for. */
    synchronized int waitingCount() {
        return silent.all().size() + waiting.size();
    }
}
