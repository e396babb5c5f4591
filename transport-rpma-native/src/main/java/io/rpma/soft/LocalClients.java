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
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.SocketNames;
import io.rpma.soft.host.OpenFiles;
import io.rpma.soft.host.Shortage;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import io.rpma.software.HalfOpenClients;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;

/**
 * The clients of this host that have connected to an endpoint, and whose request has not been taken. The number of those that
 * send nothing is limited, for each process as well as in total, and so is the time of each.
 *
 * <p>A request is taken out of a client's socket when all that it needs is there. If this process has no descriptor left, or too
 * little memory, the request stays in the socket, where a later call finds it.
 *
 * <p>The monitor of the endpoint guards the fields. Every caller of a method has locked it.
 */
final class LocalClients {
    /** How long a client may take from connecting to sending its request. A correct client sends it immediately. */
    static final long CLIENT_MILLIS = 5_000;
    /** The same time for the clients of endpoints that are created from now on. A test sets a longer time. */
    static volatile long millisOfNext = CLIENT_MILLIS;
    /** The largest number of clients that are waited for; each takes a descriptor. */
    private static final int MAX_CLIENTS = 1024;
    private static final int MIN_CLIENTS = 64;
    /** Such clients may take one in this many of all descriptors, and those of one process one in this many of these. */
    private static final int PART = 4;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final SocketNames names;
    private final InetSocketAddress address;
    private final int epoll;
    private final EndpointTimer timer;
    private final RequestFactory requests;
    private final long clientMillis = millisOfNext;
    private final int mostWaiting = mostWaiting();
    private final HalfOpenClients silent = new HalfOpenClients(mostWaiting, mostWaiting / PART, clientMillis * NANOS_PER_MILLI);
    // The clients, by their sockets, whose data is still to be read, because this process had no descriptor or no memory for it
    // or has not read it yet; the values are their processes.
    private final Map<Integer, Integer> waiting = new HashMap<>();

    /**
     * Creates an empty set.
     *
     * @param names determines with which clients memory may be shared
     * @param address the address that the endpoint listens at
     * @param epoll the epoll set of the endpoint
     * @param timer the timer of the endpoint
     */
    LocalClients(ProtectionDomain domain, SocketNames names, InetSocketAddress address, int epoll, EndpointTimer timer) {
        this.names = names;
        this.address = address;
        this.epoll = epoll;
        this.timer = timer;
        requests = new RequestFactory(domain, names, address);
    }

    private static int mostWaiting() {
        long files = Posix.softLimit(Posix.RLIMIT_NOFILE);
        return files == Posix.UNLIMITED ? MAX_CLIENTS : (int) Math.max(MIN_CLIENTS, Math.min(MAX_CLIENTS, files / PART));
    }

    /**
     * Takes over a client that has just been accepted. Returns its request if it has arrived already, which is the usual case.
     */
    ConnectionRequest accepted(int fd, ConnectionConfig config) throws RpmaException {
        Sockets.Credentials credentials = Sockets.peerCredentials(fd);
        String whyNot = names.whyNot(credentials);
        if (whyNot != null) {
            // First, because a log of the application may throw an exception.
            RequestFactory.reject(fd, "the listener at " + address + " shares memory with processes of its own user only");
            SoftLog.log(RpmaLog.Level.WARNING, "a client of " + address + " was rejected: it " + whyNot);
            return null;
        }
        return read(fd, credentials == null ? 0 : credentials.process(), null, config);
    }

    /** Reads the data of a client that was accepted earlier. Returns its request if it has arrived. */
    ConnectionRequest read(int fd, ConnectionConfig config) throws RpmaException {
        HalfOpenClients.Client client = silent.get(fd);
        if (client != null) {
            return read(fd, client.origin(), client, config);
        }
        // From here on the client is handled as if it had just been accepted.
        int pid = waiting.remove(fd);
        unwatch(fd, null);
        return read(fd, pid, null, config);
    }

    /**
     * Reads the data of a client. Returns its request if it has arrived.
     *
     * @param known the client if it was accepted earlier without a request, {@code null} if it has just been accepted
     */
    private ConnectionRequest read(int fd, int pid, HalfOpenClients.Client known, ConnectionConfig config)
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
            unwatch(fd, message);
        }
        if (message == null) {
            unreadable(fd, pid, incoming.result);
            return null;
        }
        return newRequest(fd, pid, message, config);
    }

    /** Handles that no message of a client could be read: puts it off if a descriptor is missing, otherwise closes it. */
    private void unreadable(int fd, int pid, int result) throws RpmaException {
        if (result == -Sockets.EMFILE) {
            putOff(fd, pid);
            throw shortage(Sockets.EMFILE);
        }
        if (result != -Posix.EINVAL) {
            Posix.close(fd);
        } else {
            Sockets.takeMessage(fd);
            Posix.close(fd);
            SoftLog.violation(User.process(pid) + ", a client of " + address + ", sent something that is not a message of this"
                + " protocol");
        }
    }

    private ConnectionRequest newRequest(int fd, int pid, ControlMessage message, ConnectionConfig config)
            throws RpmaException {
        boolean taken = false;
        try {
            ConnectionRequest request = requests.create(fd, pid, message, config);
            taken = true;
            return request;
        } catch (RpmaException e) {
            if (!Shortage.isCauseOf(e) || !OpenFiles.areExhausted(e.errno()) && !hasRoom(pid)) {
                throw e;
            }
            taken = true;
            putOff(fd, pid);
            throw shortage(e.errno());
        } finally {
            message.closeAttachments();
            if (!taken) {
                Sockets.takeMessage(fd);
                RequestFactory.reject(fd, "the listener could not create the queues");
            }
        }
    }

    /** Waits for a client's request. */
    private void awaitRequest(int fd, int pid) throws RpmaException {
        HalfOpenClients.Client surplus = silent.surplus(pid);
        watch(fd);
        timer.set(silent.add(fd, pid, System.nanoTime()).deadline());
        if (surplus != null) {
            dropSilent(surplus, "too many clients connect without sending a request");
        }
    }

    private void watch(int fd) throws RpmaException {
        int result = Sockets.epollAdd(epoll, fd);
        if (result < 0) {
            RequestFactory.reject(fd, "the listener cannot wait for the request: " + Posix.strerror(-result));
            SoftLog.LISTENING.check(result, "epoll_ctl");
        }
    }

    /**
     * Stops waiting for a client, which is not one of this object's clients any more. If that fails, the client is rejected: it
     * must not stay in the epoll set.
     *
     * @param message what was read of the client, {@code null} if nothing was
     */
    private void unwatch(int fd, ControlMessage message) throws RpmaException {
        int result = Sockets.epollRemove(epoll, fd);
        if (result < 0) {
            if (message != null) {
                message.closeAttachments();
            }
            RequestFactory.reject(fd, "the listener cannot stop waiting for the request: " + Posix.strerror(-result));
            SoftLog.LISTENING.check(result, "epoll_ctl");
        }
    }

    /** Leaves a client's request in its socket until this process has what it needs for it, unless the client has closed. */
    private void putOff(int fd, int pid) throws RpmaException {
        if (Sockets.hasHungUp(fd)) {
            Posix.close(fd);
        } else {
            watch(fd);
            waiting.put(fd, pid);
        }
    }

    /**
     * Returns whether a client may wait because this process has too little memory for its request. Clients are limited, because
     * what they share may be too large for this process at any time. A shortage of descriptors needs no limit of its own.
     */
    private boolean hasRoom(int pid) {
        return waiting.size() < mostWaiting
            && waiting.values().stream().filter(other -> other == pid).count() < mostWaiting / PART;
    }

    /** Returns the exception for a client that has to wait because this process has no descriptor left, or too little memory. */
    RpmaException shortage(int errno) {
        timer.setForShortage(System.nanoTime());
        return Shortage.failure(errno, "a client of " + address + " cannot be accepted and has to wait");
    }

    /** Drops the clients that have sent no request in time, and sets the timer for the others. */
    void expire(long now) {
        try {
            HalfOpenClients.Client client = silent.expired(now);
            while (client != null) {
                dropSilent(client, "no request arrived within " + clientMillis + " ms");
                client = silent.expired(now);
            }
        } finally {
            HalfOpenClients.Client next = silent.first();
            if (next != null) {
                timer.set(next.deadline());
            }
            if (!waiting.isEmpty()) {
                timer.setForShortage(now);
            }
        }
    }

    /** Drops a client that has sent no request, unless data has arrived by now, which is then read in its turn. */
    private void dropSilent(HalfOpenClients.Client client, String reason) {
        silent.remove(client);
        if (Sockets.poll(client.fd(), (short) Sockets.EPOLLIN, 0) > 0) {
            waiting.put(client.fd(), client.origin());
            return;
        }
        RequestFactory.reject(client.fd(), reason);
        SoftLog.log(RpmaLog.Level.NOTICE, "a client of " + address + " (" + User.process(client.origin()) + ") was dropped: "
            + reason);
    }

    void close() {
        silent.all().forEach(client -> Posix.close(client.fd()));
        waiting.keySet().forEach(Posix::close);
    }

    /** Returns the number of clients that have connected and are waited for. */
    int count() {
        return silent.all().size() + waiting.size();
    }
}
