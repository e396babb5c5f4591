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
package io.rpma.benchmark;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.rpma.Rpma;
import io.rpma.RpmaUnavailableException;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** The Netty transports. Each is bootstrapped in the usual way, without setting any option. */
enum NettyTransport implements Engine {
    RPMA(RpmaEventLoopGroup::new, RpmaServerChannel.class, RpmaChannel.class, false),
    EPOLL(of(EpollIoHandler::newFactory), EpollServerSocketChannel.class, EpollSocketChannel.class, false),
    EPOLL_DOMAIN(of(EpollIoHandler::newFactory), EpollServerDomainSocketChannel.class, EpollDomainSocketChannel.class, true),
    IO_URING(of(IoUringIoHandler::newFactory), IoUringServerSocketChannel.class, IoUringSocketChannel.class, false),
    NIO(of(NioIoHandler::newFactory), NioServerSocketChannel.class, NioSocketChannel.class, false);

    /** The system property that names the host of the server. */
    static final String HOST_PROPERTY = "io.rpma.benchmark.host";

    private final IntFunction<EventLoopGroup> groups;
    private final Class<? extends ServerChannel> serverChannel;
    private final Class<? extends Channel> channel;
    private final boolean isDomain;

    NettyTransport(IntFunction<EventLoopGroup> groups, Class<? extends ServerChannel> serverChannel,
            Class<? extends Channel> channel, boolean isDomain) {
        this.groups = groups;
        this.serverChannel = serverChannel;
        this.channel = channel;
        this.isDomain = isDomain;
    }

    /**
     * Creates event loops.
     *
     * @param threads the number of event loops, 0 for the default of the group
     */
    EventLoopGroup newGroup(int threads) {
        return groups.apply(threads);
    }

    private static IntFunction<EventLoopGroup> of(Supplier<IoHandlerFactory> ioHandlers) {
        return threads -> new MultiThreadIoEventLoopGroup(threads, ioHandlers.get());
    }

    Class<? extends ServerChannel> serverChannel() {
        return serverChannel;
    }

    Class<? extends Channel> channel() {
        return channel;
    }

    @Override
    public Throwable unavailabilityCause() {
        return switch (this) {
            case RPMA -> Epoll.isAvailable() ? rpmaUnavailabilityCause() : Epoll.unavailabilityCause();
            case EPOLL, EPOLL_DOMAIN -> Epoll.unavailabilityCause();
            case IO_URING -> IoUring.unavailabilityCause();
            case NIO -> null;
        };
    }

    private static Throwable rpmaUnavailabilityCause() {
        try {
            Rpma.provider();
            return null;
        } catch (RpmaUnavailableException e) {
            return e;
        }
    }

    @Override
    public boolean measures(Measurement measurement) {
        return true;
    }

    @Override
    public Server serve(Measurement measurement) throws IOException {
        return new NettyServer(this, measurement);
    }

    @Override
    public Outcome measure(Measurement measurement, Timing timing, String address, Meter meter) throws Exception {
        return measurement.kind() == Kind.CONNECT ? new ConnectClient(this, measurement, timing, meter).run(parse(address))
            : new NettyClient(this, measurement, timing, meter).run(parse(address));
    }

    /** Returns an unused address to bind to. */
    SocketAddress newLocalAddress() throws IOException {
        if (!isDomain) {
            return new InetSocketAddress(host(), 0);
        }
        Path folder = Files.createTempDirectory("benchmark");
        folder.toFile().deleteOnExit();
        Path socket = folder.resolve("socket");
        socket.toFile().deleteOnExit();
        return new DomainSocketAddress(socket.toFile());
    }

    /** Formats an address as one word. */
    String format(SocketAddress address) {
        return isDomain ? ((DomainSocketAddress) address).path() : Integer.toString(((InetSocketAddress) address).getPort());
    }

    /** Parses the result of {@link #format}. */
    SocketAddress parse(String address) throws IOException {
        return isDomain ? new DomainSocketAddress(address)
            : new InetSocketAddress(host(), Integer.parseInt(address));
    }

    private static InetAddress host() throws IOException {
        return InetAddress.getByName(System.getProperty(HOST_PROPERTY, "127.0.0.1"));
    }
}
