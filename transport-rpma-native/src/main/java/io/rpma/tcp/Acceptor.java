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

import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.posix.EpollSet;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import io.rpma.posix.TcpSockets;
import io.rpma.software.HalfOpenClients;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/**
 * The clients of a listener until their requests have arrived: greets them and waits for their requests, on the adapter's thread.
 * Each client has a deadline, and their number is limited, in total and for each address. The number of requests that have not
 * been taken is limited too: when it is reached, no further client is accepted. The lock is held for a few system calls that do
 * not block.
 */
final class Acceptor {
    /** How long a client may take from connecting to its request. */
    static final long CLIENT_MILLIS = 5_000;
    /**
     * The largest number of clients that are waited for. A host that is far away may make so many connections within the time of
     * a round trip.
     */
    static final int MAX_CLIENTS = 4096;
    private static final int MIN_CLIENTS = 64;
    /** Such clients may take one in this many of all descriptors. */
    private static final int PART = 4;
    /** The clients of one address may take one in this many of the descriptors for such clients. */
    private static final int PART_OF_ADDRESS = 2;
    /** Requests that wait to be taken. */
    static final int MAX_WAITING = 1024;
    private static final int EVENTS = 64;
    private static final long SHORTAGE_NANOS = 1_000_000_000L;
    private static final long NANOS_PER_MILLI = 1_000_000L;

    /** The number under which the adapter watches this acceptor; set by the adapter. */
    long id;

    /** Replaces the listening socket if there is none: {@link #adopt} adds all clients. */
    static final int NO_LISTENER = -1;

    private final InetSocketAddress address;
    private final int listener;
    private final int set;
    private final Alarm alarm;
    private final byte[] greeting = Greeting.own().write();
    private final MemorySegment events = Arena.ofAuto().allocate((long) EVENTS * EpollSet.EVENT_BYTES, 8);
    private final HalfOpenClients clients;
    // The data that each client has sent, by its socket.
    private final Map<Integer, Partial> partial = new HashMap<>();
    private final Queue<Waiting> waiting = new ArrayDeque<>();
    private boolean accepting = true;
    private boolean isShort;
    private long shortUntil;
    private int shortage;
    private boolean closed;

    /** A client's request as far as it has been received. */
    private static final class Partial {
        final byte[] bytes = new byte[Greeting.REQUEST_SIZE];
        int have;
    }

    /**
     * A request that has been received.
     *
     * @param socket the socket of the client
     * @param version the version of the protocol that it has chosen
     * @param data its private data
     */
    record Waiting(int socket, int version, byte[] data) {
    }

    /**
     * Creates the acceptor, which takes ownership of the listening socket, the set and the alarm.
     *
     * @param listener the socket, which has the {@link SocketOptions}; or {@link #NO_LISTENER}
     * @throws RpmaException if the socket cannot be added to the set; the caller then still owns everything
     */
    Acceptor(InetSocketAddress address, int listener, int set, Alarm alarm) throws RpmaException {
        this.address = address;
        this.listener = listener;
        this.set = set;
        this.alarm = alarm;
        long files = Posix.softLimit(Posix.RLIMIT_NOFILE);
        int limit = files == Posix.UNLIMITED ? MAX_CLIENTS
            : (int) Math.max(MIN_CLIENTS, Math.min(MAX_CLIENTS, files / PART));
        clients = new HalfOpenClients(limit, limit / PART_OF_ADDRESS, CLIENT_MILLIS * NANOS_PER_MILLI);
        int result = listener == NO_LISTENER ? 0 : EpollSet.add(set, listener, EpollSet.IN, listener);
        if (result < 0) {
            throw OpenFiles.failure(-result, "the listener at " + address + " cannot be watched");
        }
    }

    int set() {
        return set;
    }

    // ---- called by the adapter's thread

    /** Handles all events of the set. */
    synchronized void ready() {
        if (closed) {
            return;
        }
        int count = EpollSet.await(set, events.address(), EVENTS, 0);
        for (int i = 0; i < count; i++) {
            int fd = (int) EpollSet.data(events.address(), i);
            if (fd == listener) {
                accept();
            } else {
                HalfOpenClients.Client client = clients.get(fd);
                if (client != null) {
                    read(client);
                }
            }
        }
    }

    synchronized boolean hasDeadline() {
        return clients.first() != null || isShort;
    }

    /** Drops the clients whose deadline has passed. */
    synchronized void expire(long now) {
        if (closed) {
            return;
        }
        HalfOpenClients.Client client = clients.expired(now);
        while (client != null) {
            dropSilent(client, "no request arrived within " + CLIENT_MILLIS + " ms");
            client = clients.expired(now);
        }
        if (isShort && now - shortUntil >= 0) {
            isShort = false;
            acceptAgain();
        }
    }

    private void accept() {
        for (int i = 0; i < EVENTS; i++) {
            int fd = Sockets.accept(listener);
            if (fd >= 0) {
                greet(fd);
            } else if (fd == -Sockets.EMFILE || fd == -Sockets.ENFILE || fd == -Posix.ENOMEM || fd == -Sockets.ENOBUFS) {
                runShort(-fd);
            }
            if (isShort || fd == -Posix.EAGAIN) {
                return;
            }
        }
    }

    /** Lets the clients wait in the kernel's queue. The thread that takes requests gets the error. */
    private void runShort(int errno) {
        isShort = true;
        shortage = errno;
        shortUntil = System.nanoTime() + SHORTAGE_NANOS;
        pause();
        alarm.raise();
    }

    /** Watches the listening socket no longer. It stays in the set, because adding it again might fail for lack of resources. */
    private void pause() {
        if (accepting && listener != NO_LISTENER) {
            accepting = false;
            EpollSet.modify(set, listener, 0, listener);
        }
    }

    private void acceptAgain() {
        if (!accepting && !closed && !isShort && waiting.size() < MAX_WAITING) {
            accepting = true;
            EpollSet.modify(set, listener, EpollSet.IN, listener);
        }
    }

    /**
     * Takes over a TCP connection that another listener has accepted and on which nothing has been received: greets the client.
     *
     * @param fd the socket, non-blocking
     */
    synchronized void adopt(int fd) {
        if (closed || waiting.size() >= MAX_WAITING) {
            Posix.close(fd);
            return;
        }
        SocketOptions.set(fd);
        greet(fd);
    }

    private void greet(int fd) {
        InetSocketAddress remote = TcpSockets.remoteAddress(fd);
        int added = remote == null ? 0 : EpollSet.add(set, fd, EpollSet.IN, fd);
        if (added < 0) {
            // The client is not greeted, so it does not wait in vain.
            Posix.close(fd);
            runShort(-added);
            return;
        }
        long buffer = Scratch.get().messageAddress();
        Memory.put(buffer, greeting);
        if (remote == null || Sockets.send(fd, buffer, greeting.length) != greeting.length) {
            Posix.close(fd);
            return;
        }
        int origin = Arrays.hashCode(remote.getAddress().getAddress());
        HalfOpenClients.Client surplus = clients.surplus(origin);
        clients.add(fd, origin, System.nanoTime());
        partial.put(fd, new Partial());
        if (surplus != null) {
            // The oldest client has had the most time. It is the last step, because a log of the application may throw.
            dropSilent(surplus, "too many clients have connected without sending a request");
        }
    }

    private void remove(HalfOpenClients.Client client) {
        clients.remove(client);
        partial.remove(client.fd());
        EpollSet.remove(set, client.fd());
    }

    private void dropSilent(HalfOpenClients.Client client, String reason) {
        String name = nameOf(client.fd());
        remove(client);
        Posix.close(client.fd());
        TcpLog.log(RpmaLog.Level.NOTICE, name + " of " + address + " was dropped: " + reason);
    }

    private void read(HalfOpenClients.Client client) {
        Partial request = partial.get(client.fd());
        long buffer = Scratch.get().messageAddress();
        long count = Sockets.receive(client.fd(), buffer, request.bytes.length - request.have);
        if (count == -Posix.EAGAIN || count == -Posix.EINTR) {
            return;
        }
        for (int i = 0; i < count; i++) {
            request.bytes[request.have++] = Memory.getByte(buffer + i);
        }
        if (count <= 0) {
            remove(client);
            Posix.close(client.fd());
        } else if (request.have == request.bytes.length) {
            remove(client);
            take(client.fd(), request.bytes);
        } else if (!beginsWell(request)) {
            refuse(client);
        }
    }

    private static boolean beginsWell(Partial request) {
        int length = Math.min(request.have, Greeting.MAGIC.length);
        return Arrays.equals(request.bytes, 0, length, Greeting.MAGIC, 0, length);
    }

    /** Returns how messages name a client, whose address is not known any more if it has reset the connection. */
    private static String nameOf(int fd) {
        InetSocketAddress remote = TcpSockets.remoteAddress(fd);
        return remote == null ? "a client that has disconnected" : "the client at " + remote;
    }

    private void refuse(HalfOpenClients.Client client) {
        String name = nameOf(client.fd());
        remove(client);
        Posix.close(client.fd());
        TcpLog.violation("Acceptor", "something that is not a request of this protocol arrived at " + address
            + ": the connection of " + name + " is closed");
    }

    private void take(int fd, byte[] bytes) {
        Greeting request = Greeting.read(bytes);
        if (request == null || request.size() != Greeting.REQUEST_SIZE || !request.isUnderstood()) {
            String name = nameOf(fd);
            Response.reject(fd, "the request makes no sense to versions " + Greeting.OLDEST + " to " + Greeting.VERSION
                + " of the protocol");
            TcpLog.violation("Acceptor", "an invalid request arrived at " + address + ": the connection of " + name
                + " is closed");
            return;
        }
        SocketOptions.set(fd, request);
        int end = Greeting.SIZE + ConnectionRequest.MAX_CONNECT_PRIVATE_DATA;
        waiting.add(new Waiting(fd, request.version(), Arrays.copyOfRange(bytes, Greeting.SIZE, end)));
        if (waiting.size() >= MAX_WAITING) {
            pause();
        }
        alarm.raise();
    }

    // ---- called by the thread that takes requests

    /** Returns whether there is a request. */
    synchronized boolean hasNext() {
        return !waiting.isEmpty();
    }

    /** Takes the next request, {@code null} if there is none. */
    synchronized Waiting next() {
        Waiting next = waiting.poll();
        if (waiting.isEmpty() && shortage == 0) {
            alarm.clear();
        }
        acceptAgain();
        return next;
    }

    /** Returns the {@code errno} of a shortage since the last call, 0 if there was none. */
    synchronized int takeShortage() {
        int was = shortage;
        shortage = 0;
        if (waiting.isEmpty()) {
            alarm.clear();
        }
        return was;
    }

    /** Closes everything. Returns the sockets of the clients whose requests have not been taken. */
    synchronized List<Integer> close() {
        closed = true;
        List<Integer> left = new ArrayList<>();
        waiting.forEach(request -> left.add(request.socket()));
        waiting.clear();
        clients.all().forEach(client -> Posix.close(client.fd()));
        if (listener != NO_LISTENER) {
            Posix.close(listener);
        }
        Posix.close(set);
        alarm.close();
        return left;
    }

    /** Returns the number of clients that are waited for, for tests. */
    synchronized int clientCount() {
        return clients.all().size();
    }
}
