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
package io.rpma.posix;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * The calls for TCP sockets only: their options, their addresses, and scattering and gathering transfers. A call that fails
 * returns {@code -errno}.
 */
public final class TcpSockets {
    /** Bytes of a {@code struct msghdr} without a name and without control messages. */
    public static final int HEADER_BYTES = 56;
    /** Bytes of a {@code struct iovec}. */
    public static final int VECTOR_BYTES = 16;

    private static final int SOL_SOCKET = 1;
    private static final int SO_SNDBUF = 7;
    private static final int SO_KEEPALIVE = 9;
    private static final int SO_LINGER = 13;
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_NODELAY = 1;
    private static final int TCP_KEEPIDLE = 4;
    private static final int TCP_KEEPINTVL = 5;
    private static final int TCP_KEEPCNT = 6;
    private static final int TCP_USER_TIMEOUT = 18;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;

    private static final CFunction GETSOCKNAME = CFunction.of("getsockname", 3);
    private static final CFunction GETPEERNAME = CFunction.of("getpeername", 3);
    private static final CFunction SETSOCKOPT = CFunction.of("setsockopt", 5);
    private static final CFunction SENDMSG = CFunction.of("sendmsg", 3);
    private static final CFunction RECVMSG = CFunction.of("recvmsg", 3);

    private TcpSockets() {
    }

    /** Points a {@code struct msghdr} at some {@code struct iovec}; the rest of it is zero already. */
    public static void setVectors(long header, long vectors, int count) {
        Memory.putLong(header + 16, vectors);
        Memory.putLong(header + 24, count);
    }

    /** Writes one {@code struct iovec}. */
    public static void setVector(long vectors, int index, long address, long length) {
        Memory.putLong(vectors + (long) index * VECTOR_BYTES, address);
        Memory.putLong(vectors + (long) index * VECTOR_BYTES + 8, length);
    }

    /** Sends from several places, without waiting; returns the bytes that the kernel took. */
    public static long send(int fd, long header) {
        return SENDMSG.callLong(fd, header, MSG_DONTWAIT | MSG_NOSIGNAL);
    }

    /** Receives to several places, without waiting; returns the bytes that came, 0 at the end. */
    public static long receive(int fd, long header) {
        return RECVMSG.callLong(fd, header, MSG_DONTWAIT);
    }

    /** Sends small data at once ({@code TCP_NODELAY}). */
    public static int setNoDelay(int fd) {
        return Sockets.setInt(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    }

    /**
     * Enables the detection that the other host has failed.
     *
     * @param idleSeconds without traffic before the first probe
     * @param intervalSeconds between probes
     * @param probes without an answer that end the connection
     * @param timeoutMillis after which data that was not acknowledged ends it
     * @return 0, or {@code -errno}
     */
    public static int setKeepAlive(int fd, int idleSeconds, int intervalSeconds, int probes, int timeoutMillis) {
        int result = Sockets.setInt(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
        result |= Sockets.setInt(fd, IPPROTO_TCP, TCP_KEEPIDLE, idleSeconds);
        result |= Sockets.setInt(fd, IPPROTO_TCP, TCP_KEEPINTVL, intervalSeconds);
        result |= Sockets.setInt(fd, IPPROTO_TCP, TCP_KEEPCNT, probes);
        return result | Sockets.setInt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, timeoutMillis);
    }

    /**
     * Limits the data that has not been acknowledged ({@code SO_SNDBUF}); the kernel does not adapt the limit any more.
     *
     * @param bytes half of the limit, which includes what the kernel needs to store the data
     * @return 0, or {@code -errno}
     */
    public static int setSendBuffer(int fd, int bytes) {
        return Sockets.setInt(fd, SOL_SOCKET, SO_SNDBUF, bytes);
    }

    /** Lets closing the socket reset the connection ({@code SO_LINGER} of 0). */
    public static int setResetOnClose(int fd) {
        long value = Scratch.get().vectors();
        Memory.putInt(value, 1);
        Memory.putInt(value + 4, 0);
        return SETSOCKOPT.call(fd, SOL_SOCKET, SO_LINGER, value, 8);
    }

    /** Returns the address of this side; {@code null} if the socket has none. */
    public static InetSocketAddress localAddress(int fd) {
        return address(fd, false);
    }

    /** Returns the address of the other side; {@code null} if the socket is not connected. */
    public static InetSocketAddress remoteAddress(int fd) {
        return address(fd, true);
    }

    private static InetSocketAddress address(int fd, boolean remote) {
        Scratch scratch = Scratch.get();
        long address = scratch.address();
        long length = scratch.vectors();
        Memory.putInt(length, 128);
        int result = remote ? GETPEERNAME.call(fd, address, length) : GETSOCKNAME.call(fd, address, length);
        return result == 0 ? read(address) : null;
    }

    private static InetSocketAddress read(long address) {
        int port = Memory.networkOrder(Memory.getShort(address + 2)) & 0xffff;
        boolean six = Memory.getShort(address) == Sockets.AF_INET6;
        byte[] bytes = new byte[six ? 16 : 4];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = Memory.getByte(address + (six ? 8 : 4) + i);
        }
        InetAddress ip = Sockets.toAddress(bytes);
        int scope = six ? Memory.getInt(address + 24) : 0;
        if (scope != 0 && ip instanceof Inet6Address) {
            try {
                ip = Inet6Address.getByAddress(null, bytes, scope);
            } catch (UnknownHostException e) {
                throw new IllegalArgumentException(e);
            }
        }
        return new InetSocketAddress(ip, port);
    }
}
