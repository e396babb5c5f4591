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
package io.rpma.soft.control;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import io.rpma.software.ClientSockets;
import io.rpma.software.HostAddresses;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Finds the listener of an address by the name of its Unix socket ({@link SocketNames}). If there is no socket of the name for
 * the address, a TCP connection to the address determines whether there is a listener: a listener sends a hello, the client sends
 * nothing. A listener that memory may not be shared with is skipped while there is another name to try.
 *
 * <p>The client's own address has no meaning for the data path; {@code localAddress()} returns it, and on the server {@code
 * remoteAddress()}. Its port is taken from the range of ephemeral ports and is reserved by binding the client's Unix socket to a
 * name that contains it: while the connection exists, the port is unique among the clients in its network namespace that a
 * listener can see. If no free name is found soon, because there are very many connections or because another user holds the
 * names, the port is not reserved, and two clients may show the same one.
 */
public final class Rendezvous {
    /** The number of names that a client tries, and the number shortly after a client has found none free. */
    private static final int NAMES_TRIED = 64;
    private static final int NAMES_TRIED_IN_VAIN = 1;
    private static final long IN_VAIN_NANOS = 1_000_000_000L;
    private static final long WARNING_NANOS = 60_000_000_000L;
    /** The time for a hello; a listener of this provider sends it as soon as it has accepted the TCP connection. */
    static final long HELLO_NANOS = 1_000_000_000L;
    /** The same time as it is used. A test sets a longer time. */
    static volatile long helloNanos = HELLO_NANOS;
    private static final int FIRST_PORT = 32_768;
    private static final int PORTS = 65_536 - FIRST_PORT;

    private final byte[] host;
    private final SocketNames names;
    // The route that was found last; cleared when no listener is found by it.
    private volatile Route last;
    private final int firstPort;
    private final int ports;
    private final AtomicInteger nextPort;
    // The time until which few names are tried, and the time until which no warning is logged about that.
    private volatile long triedInVainUntil = System.nanoTime();
    private final AtomicLong silentUntil = new AtomicLong(System.nanoTime());

    /**
     * Creates a rendezvous.
     *
     * @param user the user of this process
     * @param host a value that is the same for all processes of this host and network namespace
     */
    public Rendezvous(User user, byte[] host) {
        this(host, SocketNames.of(user), FIRST_PORT, PORTS);
    }

    /** Creates a rendezvous that takes the ports of clients from another range. */
    public Rendezvous(byte[] host, SocketNames names, int firstPort, int ports) {
        this.host = host;
        this.names = names;
        this.firstPort = firstPort;
        this.ports = ports;
        nextPort = new AtomicInteger(ThreadLocalRandom.current().nextInt(ports));
    }

    /**
     * The route to a listener.
     *
     * @param remote the address
     * @param names the names of the Unix sockets at which it may accept connections, to be tried in this order
     * @param source the address of this side for connections to it
     */
    public record Route(InetSocketAddress remote, List<String> names, InetAddress source) {
    }

    /**
     * A socket that is connected to a listener.
     *
     * @param fd the non-blocking socket; {@code -ECONNREFUSED} if there is no listener, {@code -EAGAIN} if the listener's backlog
     *     is full, because it does not take its connection requests
     * @param peerPid the process that listens, 0 or negative if it has no number in the PID namespace of this one
     * @param token identifies the process if it has no number, {@code null} if nothing does
     * @param name the name of the listener, {@code null} if there is none
     * @param local the address of this side
     */
    public record Dialled(int fd, int peerPid, String token, String name, InetSocketAddress local) {
    }

    /** Returns the names by which listeners are found. */
    public SocketNames names() {
        return names;
    }

    /**
     * Finds the route to the listener of an address. It is no error if there is none: one may have been started by the time that
     * the connection is requested. The listener is not notified. Blocks, up to the given time for each step.
     *
     * @throws RpmaException if the address cannot be reached, or what listens there is not the software provider of this host
     */
    public Route resolve(InetSocketAddress remote, int timeoutMillis) throws RpmaException {
        boolean local = HostAddresses.isLocal(remote.getAddress());
        Route found = find(remote, local);
        if (found != null) {
            return found;
        }
        Route told = ask(remote, local, Math.max(1, timeoutMillis));
        if (told == null) {
            if (!local) {
                throw unreachable(remote, Posix.ECONNREFUSED);
            }
            return new Route(remote, names.listeners(remote, true), source(remote, true));
        }
        return told;
    }

    /**
     * Finds the route to a listener that is on this host under the given address, without waiting.
     *
     * @return the route, or {@code null} if only {@link #resolve} can determine it
     */
    public Route find(InetSocketAddress remote) throws RpmaException {
        Route known = last;
        if (known != null && known.remote().equals(remote)) {
            return known;
        }
        boolean local = HostAddresses.isLocal(remote.getAddress());
        Route found = find(remote, local);
        if (found != null) {
            // The next call returns this route without checking whether the listener exists.
            last = found;
        }
        return found;
    }

    private Route find(InetSocketAddress remote, boolean local) throws RpmaException {
        List<String> all = names.listeners(remote, local);
        for (String name : all) {
            if (names.exists(name)) {
                // Return all names: this one may be that of another user's listener.
                return new Route(remote, all, source(remote, local));
            }
        }
        return null;
    }

    private static InetAddress source(InetSocketAddress remote, boolean local) {
        return local ? remote.getAddress() : ClientSockets.loopback(remote.getAddress());
    }

    /**
     * Connects to a listener that memory may be shared with, without waiting.
     *
     * @return the socket, or the error that there is none
     * @throws RpmaException if there are only listeners that memory may not be shared with, or the connect fails
     */
    public Dialled dial(Route route) throws RpmaException {
        InetSocketAddress[] own = new InetSocketAddress[1];
        int failure = -Posix.ECONNREFUSED;
        String failed = null;
        String stranger = null;
        int fd = -1;
        boolean done = false;
        try {
            for (String name : route.names()) {
                if (fd < 0) {
                    fd = newClientSocket(route.source(), own);
                }
                int result = names.connect(fd, name);
                if (result == 0) {
                    Sockets.Credentials peer = Sockets.peerCredentials(fd);
                    String whyNot = names.whyNot(peer);
                    if (whyNot == null) {
                        done = true;
                        int process = peer == null ? 0 : peer.process();
                        return new Dialled(fd, process, process > 0 ? null : names.token(fd), name, own[0]);
                    }
                    stranger = whyNot;
                    Posix.close(fd);
                    fd = -1;
                } else if (failure == -Posix.ECONNREFUSED || result == -Posix.EAGAIN) {
                    failure = result;
                    failed = name;
                }
            }
        } finally {
            if (!done && fd >= 0) {
                Posix.close(fd);
            }
        }
        if (route == last) {
            last = null;
        }
        return notDialled(route, failure, failed, stranger);
    }

    /**
     * Reports that no listener of a route could be connected to.
     *
     * @param failure the error of a name, {@code -errno}; {@code -ECONNREFUSED} if no name has a listener to connect to
     * @param failed the name that this error belongs to
     * @param stranger why memory may not be shared with a listener that was found, {@code null} if none was found
     * @return the error, if it is one that {@link Dialled} has
     * @throws RpmaException for every other error
     */
    private Dialled notDialled(Route route, int failure, String failed, String stranger) throws RpmaException {
        if (failure == -Posix.ECONNREFUSED && stranger != null) {
            throw SoftLog.failure(RpmaError.PROVIDER, Posix.EACCES, "the listener at " + route.remote() + ' ' + stranger, null);
        }
        if (failure == -Posix.ECONNREFUSED || failure == -Posix.EAGAIN) {
            return new Dialled(failure, 0, null, null, new InetSocketAddress(route.source(), 0));
        }
        throw names.failure(route.remote(), failed, -failure);
    }

    private int newClientSocket(InetAddress address, InetSocketAddress[] own) throws RpmaException {
        int fd = AbstractNames.newSocket(Sockets.SOCK_SEQPACKET);
        int tries = triedInVainUntil - System.nanoTime() > 0 ? NAMES_TRIED_IN_VAIN : NAMES_TRIED;
        int port = firstPort + Math.floorMod(nextPort.getAndIncrement(), ports);
        for (int i = 0; i < tries; i++) {
            int result = Sockets.bindAbstract(fd, names.client(address, port));
            if (result == 0) {
                own[0] = new InetSocketAddress(address, port);
                return fd;
            }
            if (result != -Posix.EADDRINUSE) {
                Posix.close(fd);
                throw SoftLog.failure(RpmaError.PROVIDER, -result, "bind failed: " + Posix.strerror(-result), null);
            }
            // Continue at a random port: ports in use are adjacent.
            int place = ThreadLocalRandom.current().nextInt(ports);
            nextPort.set(place + 1);
            port = firstPort + place;
        }
        // A port that is not reserved is better than no connection.
        triedInVainUntil = System.nanoTime() + IN_VAIN_NANOS;
        warn(address, port);
        own[0] = new InetSocketAddress(address, port);
        return fd;
    }

    private void warn(InetAddress address, int port) {
        long silent = silentUntil.get();
        long now = System.nanoTime();
        if (now - silent >= 0 && silentUntil.compareAndSet(silent, now + WARNING_NANOS)) {
            SoftLog.violation("no free client port was found for a connection from " + address.getHostAddress()
                + ": the abstract socket names are taken, " + names.client(address, port) + " by "
                + AbstractNames.holder(names.client(address, port)) + "; connections may show the same local port");
        }
    }

    /**
     * Determines the listener of an address by TCP.
     *
     * @return the route to it, or {@code null} if there is none
     */
    private Route ask(InetSocketAddress remote, boolean local, int timeout) throws RpmaException {
        long deadline = System.nanoTime() + timeout * 1_000_000L;
        int fd = ClientSockets.open(remote.getAddress());
        if (fd < 0) {
            throw unreachable(remote, -fd);
        }
        try {
            int result = ClientSockets.connect(fd, remote, deadline);
            if (result == -Posix.ECONNREFUSED) {
                return null;
            }
            if (result < 0) {
                throw unreachable(remote, -result);
            }
            long patience = System.nanoTime() + helloNanos;
            Hello hello = hear(fd, deadline - patience < 0 ? deadline : patience);
            String name = names.introduced(remote, checked(remote, hello), host);
            InetAddress source = local ? null : SocketAddresses.localAddress(fd);
            return new Route(remote, List.of(name), source != null ? source : source(remote, local));
        } finally {
            Posix.close(fd);
        }
    }

    static RpmaException unreachable(InetSocketAddress remote, int errno) {
        return SoftLog.failure(RpmaError.PROVIDER, errno, "the address " + remote + " cannot be reached: "
            + Posix.strerror(errno) + (HostAddresses.isLocal(remote.getAddress()) ? "" : "; it is not an address of this host,"
            + " and the software provider works within one host only; use the providers librpma or tcp to reach other"
            + " hosts"), null);
    }

    /** Reads the hello of a listener. Sends nothing, because the listener may be an application without RPMA. */
    private static Hello hear(int fd, long deadline) {
        long buffer = Scratch.get().messageAddress();
        byte[] answer = new byte[Hello.SIZE];
        int length = 0;
        while (length < answer.length && ClientSockets.awaitInput(fd, deadline)) {
            long count = Sockets.receive(fd, buffer, answer.length - length);
            if (count == -Posix.EAGAIN || count == -Posix.EINTR) {
                continue;
            }
            if (count <= 0) {
                break;
            }
            for (int i = 0; i < count; i++) {
                answer[length++] = Memory.getByte(buffer + i);
            }
            if (!Hello.mayBecome(answer, length)) {
                break;
            }
        }
        return Hello.read(answer, length);
    }

    private static Hello checked(InetSocketAddress remote, Hello hello) throws RpmaException {
        if (hello == null) {
            throw SoftLog.failure(RpmaError.PROVIDER, "the listener at " + remote + " does not speak the software provider's"
                + " protocol: most likely it is a TCP server. Both ends need RPMA; if one end cannot use it, run tcp-proxy in"
                + " between");
        }
        if (hello.version() != ControlMessage.VERSION) {
            throw SoftLog.failure(RpmaError.PROVIDER, "the listener at " + remote + " does not speak version "
                + ControlMessage.VERSION + " of the software provider's protocol but version " + hello.version()
                + ": use the same release on both sides");
        }
        return hello;
    }
}
