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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import io.rpma.posix.TcpSockets;
import io.rpma.software.ClientSockets;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * Connects to a listener and reads its greeting. It sends nothing, because the listener may be an application without RPMA.
 * Used by one thread at a time. Only {@link #await} blocks, and any thread may call {@link #expire}.
 */
final class Dialer {
    /**
     * The least and the greatest time in which a listener has to greet; in between, the timeout of the configuration applies. A
     * listener greets as soon as it has a descriptor for the client; another server may never send anything.
     */
    static final int LEAST_GREETING_MILLIS = 2_000;
    static final int MOST_GREETING_MILLIS = 10_000;

    private final InetSocketAddress remote;
    // -1 if nobody listens.
    private final int socket;
    private final GreetingReader reader;
    private final long greetingNanos;
    // In terms of System.nanoTime(): of the TCP connection, and once that exists, of the greeting.
    private long deadline;
    private volatile boolean connected;
    private volatile boolean late;
    private boolean closedByListener;

    private Dialer(InetSocketAddress remote, int socket, int timeoutMillis) {
        this.remote = remote;
        this.socket = socket;
        reader = new GreetingReader(remote);
        deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        greetingNanos = TimeUnit.MILLISECONDS.toNanos(Math.clamp(timeoutMillis, LEAST_GREETING_MILLIS, MOST_GREETING_MILLIS));
    }

    /**
     * Begins to connect.
     *
     * @param timeoutMillis how long the TCP connection may take
     * @throws RpmaException if the address cannot be reached
     */
    static Dialer begin(InetSocketAddress address, int timeoutMillis) throws RpmaException {
        InetSocketAddress remote = ClientSockets.target(address);
        int fd = ClientSockets.open(remote.getAddress());
        if (fd < 0) {
            throw OpenFiles.failure(-fd, "the address " + remote + " cannot be reached");
        }
        boolean done = false;
        try {
            SocketOptions.set(fd);
            int result = Sockets.connect(fd, remote);
            if (result < 0 && result != -Sockets.EINPROGRESS && result != -Posix.ECONNREFUSED) {
                throw failure(remote, -result);
            }
            done = result != -Posix.ECONNREFUSED;
            return new Dialer(remote, done ? fd : -1, timeoutMillis);
        } finally {
            if (!done) {
                Posix.close(fd);
            }
        }
    }

    /** Returns whether an address of this host, which answers at once, refuses connections. Does not block. */
    static boolean isRefused(InetSocketAddress address) {
        InetSocketAddress remote = ClientSockets.target(address);
        int fd = ClientSockets.open(remote.getAddress());
        if (fd < 0) {
            return false;
        }
        try {
            int result = Sockets.connect(fd, remote);
            return (result == -Sockets.EINPROGRESS ? Sockets.pendingError(fd) : result) == -Posix.ECONNREFUSED;
        } finally {
            Posix.close(fd);
        }
    }

    private static RpmaException failure(InetSocketAddress remote, int errno) {
        return TcpLog.failure(RpmaError.PROVIDER, errno, "the address " + remote + " cannot be reached: "
            + Posix.strerror(errno), null);
    }

    InetSocketAddress remote() {
        return remote;
    }

    /** Returns the non-blocking socket, which the caller must close; -1 if nobody listens. */
    int socket() {
        return socket;
    }

    /**
     * Reads what has arrived of the greeting.
     *
     * @return whether the result is known: {@link #isRefused()} and {@link #version}
     * @throws RpmaException if the address cannot be reached in time, or what listens there is no listener of this provider
     */
    boolean proceed() throws RpmaException {
        if (isRefused() || reader.greeting() != null) {
            return true;
        }
        long buffer = Scratch.get().messageAddress();
        while (reader.greeting() == null) {
            long count = Sockets.receive(socket, buffer, Scratch.MESSAGE_CAPACITY);
            if (count > 0) {
                reader.add(buffer, (int) count);
            } else if (count == -Posix.EAGAIN) {
                if (late) {
                    throw connected ? reader.late() : failure(remote, Posix.ETIMEDOUT);
                }
                return false;
            } else if (count != -Posix.EINTR) {
                ended((int) count);
                return true;
            }
        }
        SocketOptions.set(socket, reader.greeting());
        return true;
    }

    /** Called when the socket has no more data: 0 is the end of the stream, a negative number an error. */
    private void ended(int result) throws RpmaException {
        if (result != 0 && result != -Posix.ECONNREFUSED && result != -Sockets.ECONNRESET) {
            throw failure(remote, -result);
        }
        RpmaException failure = reader.closed();
        if (failure != null) {
            throw failure;
        }
        closedByListener = true;
    }

    /**
     * Waits until the result is known.
     *
     * @throws RpmaException as {@link #proceed}
     */
    void await() throws RpmaException {
        if (socket >= 0) {
            ClientSockets.awaitOutput(socket, deadline);
            expire(System.nanoTime());
        }
        while (!proceed()) {
            ClientSockets.awaitInput(socket, deadline);
            expire(System.nanoTime());
        }
    }

    /**
     * Checks whether the time has passed in which the address has to answer. If so, {@link #proceed} fails unless the answer has
     * arrived.
     *
     * @param now the time in terms of {@link System#nanoTime}
     * @return whether it has passed
     */
    boolean expire(long now) {
        if (!connected && TcpSockets.remoteAddress(socket) != null) {
            deadline = now + greetingNanos;
            connected = true;
        }
        if (now - deadline >= 0) {
            late = true;
        }
        return late;
    }

    /** Returns whether nobody listens. */
    boolean isRefused() {
        return socket < 0 || closedByListener;
    }

    /** Returns the version of the protocol that both sides support; meaningful once the listener has greeted. */
    int version() {
        return reader.greeting().version();
    }
}
