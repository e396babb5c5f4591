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
 * The purpose of a channel of another transport, and its replacement: a channel of RPMA, or a channel of epoll, which runs on the
 * same event loops.
 *
 * <p>NIO's domain socket channels are not among them. They use another address class than epoll's, so they are not replaced.
 */
enum ChannelKind {
    /** A stream channel of a client. */
    STREAM(RpmaChannel.class, RpmaChannel::new, EpollSocketChannel.class, EpollSocketChannel::new),
    /** A server channel that accepts streams. */
    SERVER(RpmaServerChannel.class, RpmaServerChannel::new, EpollServerSocketChannel.class, EpollServerSocketChannel::new),
    /** A UDP channel. */
    DATAGRAM(null, null, EpollDatagramChannel.class, EpollDatagramChannel::new),
    /** A domain socket channel of a client. */
    DOMAIN(null, null, EpollDomainSocketChannel.class, EpollDomainSocketChannel::new),
    /** A server channel that accepts domain socket connections. */
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

    /**
     * Returns the kind of exactly this class, or {@code null} if its channels are not replaced, for example those of an
     * application's own subclass.
     */
    static ChannelKind of(Class<?> type) {
        return BY_NAME.get(type.getName());
    }

    /** Returns whether a channel of RPMA can replace this kind of channel. */
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
