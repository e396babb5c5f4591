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
package io.rpma.testsuite;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ReflectiveChannelFactory;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.internal.SystemPropertyUtil;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaIoHandler;
import io.rpma.netty.RpmaServerChannel;

import java.util.Locale;

/**
 * The channels and event loops under test. The property {@code -Dio.rpma.testsuite.transport} selects them: {@code rpma} (the
 * default), {@code epoll} (Netty's epoll, which is the baseline to compare with) or {@code epoll-on-rpma} (Netty's epoll channels
 * on RPMA's event loop).
 */
enum TestTransport {
    RPMA("RPMA channels", RpmaServerChannel.class, RpmaChannel.class) {
        @Override
        IoHandlerFactory newIoHandlerFactory() {
            return RpmaIoHandler.newFactory();
        }

        @Override
        EventLoopGroup newGroup(int threads, String name) {
            return new RpmaEventLoopGroup(threads, new DefaultThreadFactory(name, true));
        }
    },
    EPOLL("epoll channels on Netty's epoll loop", EpollServerSocketChannel.class, EpollSocketChannel.class) {
        @Override
        IoHandlerFactory newIoHandlerFactory() {
            return EpollIoHandler.newFactory();
        }
    },
    EPOLL_ON_RPMA("epoll channels on the RPMA loop", EpollServerSocketChannel.class, EpollSocketChannel.class) {
        @Override
        IoHandlerFactory newIoHandlerFactory() {
            return RpmaIoHandler.newFactory();
        }

        @Override
        EventLoopGroup newGroup(int threads, String name) {
            return new RpmaEventLoopGroup(threads, new DefaultThreadFactory(name, true));
        }
    };

    static final String PROPERTY = "io.rpma.testsuite.transport";

    /** The transport of this run. */
    static final TestTransport CURRENT = parse(SystemPropertyUtil.get(PROPERTY, "rpma"));

    private final String description;
    private final Class<? extends ServerSocketChannel> serverChannel;
    private final Class<? extends SocketChannel> channel;

    TestTransport(String description, Class<? extends ServerSocketChannel> serverChannel,
            Class<? extends SocketChannel> channel) {
        this.description = description;
        this.serverChannel = serverChannel;
        this.channel = channel;
    }

    private static TestTransport parse(String name) {
        for (TestTransport transport : values()) {
            if (transport.propertyValue().equals(name)) {
                return transport;
            }
        }
        throw new IllegalArgumentException("-D" + PROPERTY + "=" + name + ": rpma, epoll or epoll-on-rpma is needed");
    }

    abstract IoHandlerFactory newIoHandlerFactory();

    /** Returns a group of daemon threads. */
    EventLoopGroup newGroup(int threads, String name) {
        return new MultiThreadIoEventLoopGroup(threads, new DefaultThreadFactory(name, true), newIoHandlerFactory());
    }

    Class<? extends ServerSocketChannel> serverChannel() {
        return serverChannel;
    }

    /** Returns a server channel that is not registered yet. */
    ServerSocketChannel newServerChannel() {
        return new ReflectiveChannelFactory<>(serverChannel).newChannel();
    }

    Class<? extends SocketChannel> channel() {
        return channel;
    }

    String description() {
        return description;
    }

    String propertyValue() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns whether the run uses RPMA, and with it one of its providers. */
    boolean usesRpma() {
        return this != EPOLL;
    }
}
