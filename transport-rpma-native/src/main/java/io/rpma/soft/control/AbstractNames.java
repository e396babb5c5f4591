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
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.host.OpenFiles;
import io.rpma.soft.host.SharedFolder;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;

/**
 * Names in the abstract namespace of Unix sockets, of which each network namespace has one. A listener has a socket whose name
 * consists of its address, its port and its user, and a second one of the same name that only shows its existence.
 *
 * <p>Any process may bind any such name, so a name does not identify its holder: the credentials from the kernel do ({@link
 * User}).
 */
public final class AbstractNames implements SocketNames {
    static final String PREFIX = "io.rpma.soft/" + ControlMessage.VERSION + '/';
    private static final String LISTEN = "/listen/";
    private static final String CLIENT = "/client/";
    private static final int LONGEST_NAME = 107;
    /** The holder of a name whose socket accepts no connections. The kernel reports the holder only after a connect. */
    private static final String UNKNOWN_HOLDER = "a process that does not listen there ('ss -xap', run by root, shows it)";

    private final User user;
    private final String listenerPrefix;
    private final String clientPrefix;
    private final Probe probe = new Probe();

    public AbstractNames(User user) {
        this.user = user;
        // This is the user's number in this user namespace. In another user namespace the same user may have another number; the
        // name of a listener there is found by TCP.
        listenerPrefix = PREFIX + Integer.toUnsignedString(user.id()) + LISTEN;
        clientPrefix = PREFIX + Integer.toUnsignedString(user.id()) + CLIENT;
    }

    /** A socket that is connected to one listener after another, for the life of the process. */
    static final class Probe {
        private int fd = -1;

        synchronized int fd() throws RpmaException {
            if (fd < 0) {
                fd = newSocket(Sockets.SOCK_DGRAM);
            }
            return fd;
        }
    }

    static int newSocket(int type) throws RpmaException {
        int fd = Sockets.socket(Sockets.AF_UNIX, type | Sockets.SOCK_NONBLOCK);
        if (fd < 0) {
            throw OpenFiles.areExhausted(-fd) ? OpenFiles.failure(-fd, "a socket cannot be created")
                : SoftLog.failure(RpmaError.PROVIDER, -fd, "socket failed: " + Posix.strerror(-fd), null);
        }
        return fd;
    }

    @Override
    public String listener(InetSocketAddress address) {
        return listenerPrefix + name(address.getAddress(), address.getPort());
    }

    @Override
    public String client(InetAddress address, int port) {
        return clientPrefix + name(address, port);
    }

    private static String name(InetAddress address, int port) {
        return digits(address) + '/' + port;
    }

    /** Returns an address in hexadecimal digits. */
    static String digits(InetAddress address) {
        // Only link-local addresses depend on the interface.
        String scope = address instanceof Inet6Address six && six.isLinkLocalAddress() ? "%" + six.getScopeId() : "";
        return HexFormat.of().formatHex(address.getAddress()) + scope;
    }

    @Override
    public boolean exists(String name) throws RpmaException {
        return Sockets.connectAbstract(probe.fd(), name) == 0;
    }

    @Override
    public int connect(int fd, String name) {
        int result = Sockets.connectAbstract(fd, name);
        while (result == -Posix.EINTR) {
            result = Sockets.connectAbstract(fd, name);
        }
        return result;
    }

    @Override
    public ListeningSocket listen(InetSocketAddress address, int backlog) throws RpmaException {
        String name = listener(address);
        int fd = bind(name, Sockets.SOCK_SEQPACKET, address);
        int beacon = -1;
        try {
            SoftLog.LISTENING.checkBind(Sockets.listen(fd, backlog), address);
            beacon = bind(name, Sockets.SOCK_DGRAM, address);
        } finally {
            if (beacon < 0) {
                Posix.close(fd);
            }
        }
        int second = beacon;
        return new ListeningSocket(fd, name, () -> Posix.close(second));
    }

    private int bind(String name, int type, InetSocketAddress address) throws RpmaException {
        int fd = newSocket(type);
        int result = Sockets.bindAbstract(fd, name);
        if (result < 0) {
            Posix.close(fd);
            if (result == -Posix.EADDRINUSE) {
                throw SoftLog.failure(RpmaError.PROVIDER, Posix.EADDRINUSE, "cannot listen at " + address + ": the abstract"
                    + " socket name " + name + " is taken by "
                    + (type == Sockets.SOCK_SEQPACKET ? holder(name) : UNKNOWN_HOLDER)
                    + "; end that process, or listen at another port", null);
            }
            SoftLog.LISTENING.checkBind(result, address);
        }
        return fd;
    }

    /** Returns the holder of a name in the abstract namespace as text. */
    static String holder(String name) {
        int fd = Sockets.socket(Sockets.AF_UNIX, Sockets.SOCK_SEQPACKET | Sockets.SOCK_NONBLOCK);
        if (fd >= 0) {
            try {
                Sockets.Credentials holder = Sockets.connectAbstract(fd, name) == 0 ? Sockets.peerCredentials(fd) : null;
                if (holder != null) {
                    return User.describe(holder);
                }
            } finally {
                Posix.close(fd);
            }
        }
        return UNKNOWN_HOLDER;
    }

    @Override
    public String whyNot(Sockets.Credentials peer) {
        return user.whyNot(peer);
    }

    @Override
    public boolean mayHaveMade(Sockets.Credentials client, Sockets.Credentials link) {
        return user.whyNot(link) == null;
    }

    @Override
    public String token(int fd) {
        return null;
    }

    @Override
    public String introduction(String name) {
        return name;
    }

    @Override
    public String introduced(InetSocketAddress remote, Hello hello, byte[] host) throws RpmaException {
        if (hello.name().startsWith(FolderNames.INTRODUCTION)) {
            throw SoftLog.failure(RpmaError.PROVIDER, Posix.EACCES, "the listener at " + remote + " uses a shared folder (-D"
                + SharedFolder.DIRECTORY_PROPERTY + "), but no such folder is configured in this process: start it with the same"
                + " option and the same folder", null);
        }
        if (!hello.isOfHost(host) || !isListener(hello.name()) || !exists(hello.name())) {
            throw elsewhere(remote);
        }
        return hello.name();
    }

    /** Returns whether a name that was received by TCP has the form of a listener's name, of any user. */
    static boolean isListener(String name) {
        return name.length() <= LONGEST_NAME && name.startsWith(PREFIX) && name.indexOf(LISTEN, PREFIX.length()) > 0;
    }

    private static RpmaException elsewhere(InetSocketAddress remote) {
        return SoftLog.failure(RpmaError.PROVIDER, Sockets.EHOSTUNREACH, "the listener at " + remote + " is on another host, or"
            + " in a container or network namespace of its own: the software provider works within one host only; use the"
            + " providers librpma or tcp to reach other hosts", null);
    }

    @Override
    public RpmaException failure(InetSocketAddress remote, String name, int errno) {
        return SoftLog.failure(RpmaError.PROVIDER, errno, "connecting to " + remote + " failed: " + Posix.strerror(errno), null);
    }
}
