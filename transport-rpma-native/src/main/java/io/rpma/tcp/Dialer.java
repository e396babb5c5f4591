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
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import io.rpma.posix.TcpSockets;
import io.rpma.software.ClientSockets;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Connects to a listener and reads its greeting. It sends nothing, because the listener may be an application without RPMA. It
 * blocks.
 */
final class Dialer {
    /**
     * The least and the greatest time in which a listener has to greet; in between, the timeout of the configuration applies. A
     * listener greets as soon as it has a descriptor for the client; another server may never send anything.
     */
    static final int LEAST_GREETING_MILLIS = 2_000;
    static final int MOST_GREETING_MILLIS = 10_000;
    /** The start of the hello of the provider soft, which may precede the greeting; its size is at offset SOFT_SIZE. */
    private static final byte[] SOFT = "RPMASOFT".getBytes(StandardCharsets.US_ASCII);
    private static final int SOFT_SIZE = 12;
    private static final int START = 16;

    /** The keep-alive options: idle time before the first probe, interval and number of probes; the time-out of unacked data. */
    private static final int IDLE_SECONDS = 30;
    private static final int PROBE_SECONDS = 10;
    private static final int PROBES = 3;
    private static final int TIMEOUT_MILLIS = 60_000;

    private Dialer() {
    }

    /**
     * A connection to a listener that has greeted.
     *
     * @param socket the non-blocking socket; -1 if nobody listens
     * @param version the version of the protocol, if somebody listens
     * @param remote the address
     */
    record Dialled(int socket, int version, InetSocketAddress remote) {
    }

    /** Sets the options that sockets of both sides have. */
    static void setOptions(int socket) {
        TcpSockets.setNoDelay(socket);
        TcpSockets.setKeepAlive(socket, IDLE_SECONDS, PROBE_SECONDS, PROBES, TIMEOUT_MILLIS);
    }

    /**
     * Connects.
     *
     * @throws RpmaException if the address cannot be reached in time, or what listens there is no listener of this provider
     */
    static Dialled dial(InetSocketAddress address, int timeoutMillis) throws RpmaException {
        InetSocketAddress remote = ClientSockets.target(address);
        long deadline = System.nanoTime() + timeoutMillis * 1_000_000L;
        int fd = ClientSockets.open(remote.getAddress());
        if (fd < 0) {
            throw failure(remote, -fd);
        }
        boolean done = false;
        try {
            setOptions(fd);
            int result = ClientSockets.connect(fd, remote, deadline);
            if (result == -Posix.ECONNREFUSED) {
                return new Dialled(-1, 0, remote);
            }
            if (result < 0) {
                throw failure(remote, -result);
            }
            int patience = Math.clamp(timeoutMillis, LEAST_GREETING_MILLIS, MOST_GREETING_MILLIS);
            Greeting greeting = hear(fd, remote, System.nanoTime() + patience * 1_000_000L);
            if (greeting == null) {
                return new Dialled(-1, 0, remote);
            }
            done = true;
            return new Dialled(fd, greeting.version(), remote);
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

    /** Reads the greeting, after that of soft if there is one. Returns {@code null} if the listener closes before it greets. */
    private static Greeting hear(int fd, InetSocketAddress remote, long deadline) throws RpmaException {
        byte[] start = take(fd, START, remote, deadline);
        if (start == null) {
            return null;
        }
        if (Arrays.equals(start, 0, SOFT.length, SOFT, 0, SOFT.length)) {
            skipSoft(fd, start, remote, deadline);
            start = take(fd, START, remote, deadline);
            if (start == null) {
                throw TcpLog.failure(RpmaError.PROVIDER, Posix.EPROTONOSUPPORT, "the listener at " + remote + " is software RDMA"
                    + " within one host (the provider soft), which does not speak TCP: use the provider soft on the same host, or"
                    + " tcp on both sides", null);
            }
        }
        if (!Arrays.equals(start, 0, Greeting.MAGIC.length, Greeting.MAGIC, 0, Greeting.MAGIC.length)) {
            throw stranger(remote, "its data begins with " + words(start));
        }
        byte[] rest = take(fd, Greeting.SIZE - START, remote, deadline);
        byte[] whole = Arrays.copyOf(start, Greeting.SIZE);
        if (rest != null) {
            System.arraycopy(rest, 0, whole, START, rest.length);
        }
        Greeting greeting = rest == null ? null : Greeting.read(whole);
        if (greeting == null || greeting.size() > Greeting.SIZE
            && take(fd, greeting.size() - Greeting.SIZE, remote, deadline) == null) {
            throw stranger(remote, "its greeting is invalid");
        }
        if (!greeting.isUnderstood()) {
            throw TcpLog.failure(RpmaError.PROVIDER, Posix.EPROTONOSUPPORT, "the listener at " + remote + " speaks versions "
                + greeting.lowest() + " to " + greeting.highest() + " of software RDMA over TCP, with " + greeting.reads()
                + " concurrent reads and messages of up to " + greeting.maxMessage() + " bytes; this release speaks versions "
                + Greeting.OLDEST + " to " + Greeting.VERSION + ", with " + Wire.MAX_READS + " and " + Limits.MAX_MESSAGE
                + ": use the same release on both sides", null);
        }
        return greeting;
    }

    /** Reads the rest of the hello of the provider soft, of which the start has been read. */
    private static void skipSoft(int fd, byte[] start, InetSocketAddress remote, long deadline) throws RpmaException {
        // In network order.
        int size = (start[SOFT_SIZE] & 0xff) << 24 | (start[SOFT_SIZE + 1] & 0xff) << 16 | (start[SOFT_SIZE + 2] & 0xff) << 8
            | start[SOFT_SIZE + 3] & 0xff;
        if (size < START || size > Greeting.MAX_SIZE) {
            throw stranger(remote, "its data begins like that of software RDMA within one host, but continues differently");
        }
        if (take(fd, size - START, remote, deadline) == null) {
            throw stranger(remote, "its greeting is incomplete");
        }
    }

    private static RpmaException stranger(InetSocketAddress remote, String what) {
        return TcpLog.failure(RpmaError.PROVIDER, Posix.EPROTONOSUPPORT, "the listener at " + remote + " does not speak software"
            + " RDMA over TCP: " + what + ". Both ends need RPMA with the provider tcp; if one end cannot use it, run tcp-proxy"
            + " in between", null);
    }

    /** Returns bytes as printable text. */
    private static String words(byte[] bytes) {
        StringBuilder words = new StringBuilder("'");
        for (byte one : bytes) {
            words.append(one >= ' ' && one < 0x7f ? String.valueOf((char) one) : String.format("\\x%02x", one & 0xff));
        }
        return words.append('\'').toString();
    }

    /** Reads a number of bytes. Returns {@code null} if the other side closes before. */
    private static byte[] take(int fd, int length, InetSocketAddress remote, long deadline) throws RpmaException {
        byte[] bytes = new byte[length];
        long buffer = Scratch.get().messageAddress();
        int have = 0;
        while (have < length) {
            if (!ClientSockets.awaitInput(fd, deadline)) {
                throw stranger(remote, "it sent " + (have == 0 ? "nothing" : "only " + words(Arrays.copyOf(bytes, have)))
                    + " in time");
            }
            long count = Sockets.receive(fd, buffer, length - have);
            if (count == -Posix.EAGAIN || count == -Posix.EINTR) {
                continue;
            }
            if (count <= 0) {
                if (have > 0) {
                    throw stranger(remote, "it sent only " + words(Arrays.copyOf(bytes, have)) + " and then closed the"
                        + " connection");
                }
                return null;
            }
            for (int i = 0; i < count; i++) {
                bytes[have++] = Memory.getByte(buffer + i);
            }
        }
        return bytes;
    }
}
