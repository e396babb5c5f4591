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

import io.rpma.RpmaException;
import io.rpma.posix.Sockets;
import io.rpma.soft.host.SharedFolder;
import io.rpma.soft.host.User;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** Determines the names of the Unix sockets of listeners, and the processes that memory may be shared with. */
public interface SocketNames {
    /** {@code 0.0.0.0}. */
    InetAddress ANY_4 = Sockets.toAddress(new byte[4]);
    /** {@code ::}. */
    InetAddress ANY_6 = Sockets.toAddress(new byte[16]);

    /** Returns the names that this process uses: in a folder if one is configured, otherwise in the abstract namespace. */
    static SocketNames of(User user) {
        return SharedFolder.isConfigured() ? new FolderNames(SharedFolder.configured(), user) : new AbstractNames(user);
    }

    /** Returns the name of a listener in this network namespace. */
    String listener(InetSocketAddress address);

    /** Returns the name in the abstract namespace that reserves the port of a client of this network namespace. */
    String client(InetAddress address, int port);

    /** Returns whether there is a listener of a name. The listener is not notified. */
    boolean exists(String name) throws RpmaException;

    /**
     * Connects a socket to a listener, without waiting.
     *
     * @return 0 or {@code -errno}; {@code -ECONNREFUSED} if there is no listener
     */
    int connect(int fd, String name) throws RpmaException;

    /**
     * Acquires the name of a listener and starts to listen.
     *
     * @throws RpmaException if the name cannot be acquired; the message says why
     */
    ListeningSocket listen(InetSocketAddress address, int backlog) throws RpmaException;

    /**
     * Returns why memory cannot be shared with the process at the other end of a socket, as the end of a sentence that begins
     * with "it"; {@code null} if it can.
     */
    String whyNot(Sockets.Credentials peer);

    /** Returns whether a client can be the creator of a link, whose credentials are given. Otherwise the link is not trusted. */
    boolean mayHaveMade(Sockets.Credentials client, Sockets.Credentials link);

    /** Returns a token that identifies the listening process if it has no number here; {@code null} if there is none. */
    String token(int fd);

    /** Returns the name that a listener sends to clients that connect by TCP. */
    String introduction(String name);

    /**
     * Returns the name of the listener that has sent its hello by TCP.
     *
     * @param host the value that all processes of this host and network namespace share
     * @throws RpmaException if memory cannot be shared with it; the message says why
     */
    String introduced(InetSocketAddress remote, Hello hello, byte[] host) throws RpmaException;

    /** Returns the exception for a failed connect, for errors other than a missing listener or a full backlog. */
    RpmaException failure(InetSocketAddress remote, String name, int errno);

    /** Returns the names under which a listener may accept connections to an address. */
    default List<String> listeners(InetSocketAddress remote, boolean local) {
        List<String> names = new ArrayList<>(3);
        names.add(listener(remote));
        if (local) {
            if (remote.getAddress() instanceof Inet4Address) {
                names.add(listener(new InetSocketAddress(ANY_4, remote.getPort())));
            }
            names.add(listener(new InetSocketAddress(ANY_6, remote.getPort())));
        }
        return names;
    }
}
