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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.IntConsumer;

/** Opens the TCP socket that an endpoint listens on, and reports what prevents an endpoint from listening. */
public final class ListeningSockets {
    private final SoftwareLog log;

    /**
     * Creates the functions for one provider.
     *
     * @param log the log of the provider
     */
    public ListeningSockets(SoftwareLog log) {
        this.log = log;
    }

    /**
     * Opens a non-blocking socket that listens, without options for the sockets that it accepts; otherwise the same as {@link
     * #listen(InetSocketAddress, int, IntConsumer)}.
     */
    public int listen(InetSocketAddress local, int backlog) throws RpmaException {
        return listen(local, backlog, socket -> { });
    }

    /**
     * Opens a non-blocking socket that listens. The wildcard address of IPv6 takes clients of both families.
     *
     * @param options sets options of the socket before it listens; accepted sockets have them as well
     * @return the descriptor, which the caller must close
     * @throws RpmaException {@link RpmaError#PROVIDER}; the message names the address and a remedy
     */
    public int listen(InetSocketAddress local, int backlog, IntConsumer options) throws RpmaException {
        InetAddress ip = local.getAddress();
        int fd = check(Sockets.socket(ip instanceof Inet6Address ? Sockets.AF_INET6 : Sockets.AF_INET,
            Sockets.SOCK_STREAM | Sockets.SOCK_NONBLOCK), "socket");
        boolean done = false;
        try {
            check(Sockets.setReuseAddress(fd), "setsockopt");
            if (ip instanceof Inet6Address) {
                check(Sockets.setV6Only(fd, !ip.isAnyLocalAddress()), "setsockopt");
            }
            options.accept(fd);
            checkBind(Sockets.bind(fd, local), local);
            checkBind(Sockets.listen(fd, backlog), local);
            done = true;
            return fd;
        } finally {
            if (!done) {
                Posix.close(fd);
            }
        }
    }

    /**
     * Checks the result of a system call.
     *
     * @param what the name of the call
     * @return the result
     * @throws RpmaException if it is negative, {@code -errno}
     */
    public int check(int result, String what) throws RpmaException {
        if (result < 0) {
            throw log.failure(RpmaError.PROVIDER, -result, "listen: " + what + " failed: " + Posix.strerror(-result), null);
        }
        return result;
    }

    /**
     * Checks the result of binding to an address, or of listening there.
     *
     * @throws RpmaException if it is negative, {@code -errno}
     */
    public void checkBind(int result, InetSocketAddress address) throws RpmaException {
        if (result < 0) {
            String remedy = switch (-result) {
                case Posix.EADDRINUSE -> "; 'ss -ltnp' shows who listens there, and port 0 chooses a free port";
                case Posix.EADDRNOTAVAIL -> "; it must be an address of this host ('ip addr' lists them)";
                case Posix.EACCES -> "; ports below 1024 need a privilege";
                default -> "";
            };
            throw log.failure(RpmaError.PROVIDER, -result, "cannot listen at " + address + ": "
                + Posix.strerror(-result) + remedy, null);
        }
    }
}
