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
package io.rpma.software;

import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * Connects TCP sockets to listeners. The descriptors are non-blocking; the methods that have a deadline block their thread until
 * then. Deadlines are values of {@code System.nanoTime()}.
 */
public final class ClientSockets {
    private static final byte[] LOOPBACK_6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    private static final byte[] LOOPBACK_4 = {127, 0, 0, 1};

    private ClientSockets() {
    }

    /** Returns the loopback address of the family of an address. */
    public static InetAddress loopback(InetAddress family) {
        return Sockets.toAddress(family instanceof Inet4Address ? LOOPBACK_4 : LOOPBACK_6);
    }

    /** Returns the address that a wildcard stands for as a target; any other address is returned unchanged. */
    public static InetSocketAddress target(InetSocketAddress remote) {
        InetAddress address = remote.getAddress();
        return address.isAnyLocalAddress() ? new InetSocketAddress(loopback(address), remote.getPort()) : remote;
    }

    /**
     * Opens a non-blocking TCP socket of the family of an address.
     *
     * @return the descriptor, which the caller must close, or {@code -errno}
     */
    public static int open(InetAddress family) {
        return Sockets.socket(family instanceof Inet4Address ? Sockets.AF_INET : Sockets.AF_INET6,
            Sockets.SOCK_STREAM | Sockets.SOCK_NONBLOCK);
    }

    /**
     * Connects a socket to a listener.
     *
     * @return 0, or {@code -errno}: {@code -ECONNREFUSED} if there is no listener, {@code -ETIMEDOUT} after the deadline
     */
    public static int connect(int fd, InetSocketAddress remote, long deadline) {
        int result = Sockets.connect(fd, remote);
        if (result != -Sockets.EINPROGRESS) {
            return result;
        }
        return awaitOutput(fd, deadline) ? Sockets.pendingError(fd) : -Posix.ETIMEDOUT;
    }

    /**
     * Waits until a socket is connected, and has room for data.
     *
     * @return whether it is connected, or has an error, before the deadline
     */
    public static boolean awaitOutput(int fd, long deadline) {
        return await(fd, Sockets.POLLOUT, deadline);
    }

    /**
     * Waits until a socket can be read.
     *
     * @return whether it can be read, or has an error, before the deadline
     */
    public static boolean awaitInput(int fd, long deadline) {
        return await(fd, (short) Sockets.EPOLLIN, deadline);
    }

    private static boolean await(int fd, short events, long deadline) {
        while (true) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            int result = Sockets.poll(fd, events, (int) Math.min(Integer.MAX_VALUE, left / 1_000_000 + 1));
            if (result > 0) {
                return true;
            }
            if (result < 0 && result != -Posix.EINTR) {
                return false;
            }
        }
    }
}
