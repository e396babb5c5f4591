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

package io.rpma.agent.netty;

import io.netty.channel.Channel;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaServerChannel;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What a channel of another transport is for, and what takes its place: RPMA's, or epoll's, which lives on the same loops.
 *
 * <p>NIO's domain sockets are none of these: their addresses are of another class than epoll's, so they stay what they are.
 */
enum ChannelKind {
    /** A client's stream. */
    STREAM(RpmaChannel.class, RpmaChannel::new, EpollSocketChannel.class, EpollSocketChannel::new),
    /** A server of streams. */
    SERVER(RpmaServerChannel.class, RpmaServerChannel::new, EpollServerSocketChannel.class, EpollServerSocketChannel::new),
    /** UDP. */
    DATAGRAM(null, null, EpollDatagramChannel.class, EpollDatagramChannel::new),
    /** A client's domain socket. */
    DOMAIN(null, null, EpollDomainSocketChannel.class, EpollDomainSocketChannel::new),
    /** A server of domain sockets. */
    SERVER_DOMAIN(null, null, EpollServerDomainSocketChannel.class, EpollServerDomainSocketChannel::new);

    private static final Map<String, ChannelKind> BY_NAME = new HashMap<>();

    static {
        String netty = Channel.class.getPackageName();
        BY_NAME.put(netty + ".socket.nio.NioSocketChannel", STREAM);
        BY_NAME.put(netty + ".socket.nio.NioServerSocketChannel", SERVER);
        BY_NAME.put(netty + ".socket.nio.NioDatagramChannel", DATAGRAM);
        for (String prefix : new String[] {".epoll.Epoll", ".uring.IoUring"}) {
            BY_NAME.put(netty + prefix + "SocketChannel", STREAM);
            BY_NAME.put(netty + prefix + "ServerSocketChannel", SERVER);
            BY_NAME.put(netty + prefix + "DatagramChannel", DATAGRAM);
            BY_NAME.put(netty + prefix + "DomainSocketChannel", DOMAIN);
            BY_NAME.put(netty + prefix + "ServerDomainSocketChannel", SERVER_DOMAIN);
        }
    }

    private final Class<? extends Channel> rpmaType;
    private final Supplier<Channel> rpma;
    private final Class<? extends Channel> epollType;
    private final Supplier<Channel> epoll;

    ChannelKind(Class<? extends Channel> rpmaType, Supplier<Channel> rpma, Class<? extends Channel> epollType,
            Supplier<Channel> epoll) {
        this.rpmaType = rpmaType;
        this.rpma = rpma;
        this.epollType = epollType;
        this.epoll = epoll;
    }

    /** The kind of exactly this class; {@code null} if its channels are not swapped, as those of an application's own class. */
    static ChannelKind of(Class<?> type) {
        return BY_NAME.get(type.getName());
    }

    /** Whether RPMA can take its place. */
    boolean isStream() {
        return rpma != null;
    }

    Channel newRpma() {
        return rpma.get();
    }

    Channel newEpoll() {
        return epoll.get();
    }

    Class<? extends Channel> rpmaType() {
        return rpmaType;
    }

    Class<? extends Channel> epollType() {
        return epollType;
    }
}
