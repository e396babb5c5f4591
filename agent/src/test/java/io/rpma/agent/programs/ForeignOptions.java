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

package io.rpma.agent.programs;

import application.LaterOptions;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;

/** Options that only one transport has. */
public final class ForeignOptions {
    private ForeignOptions() {
    }

    /** Runs the program, and prints the results. The argument selects the transport. */
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("fast-open")) {
            fastOpen();
            return;
        }
        boolean isNio = arguments[0].equals("nio");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
            isNio ? NioIoHandler.newFactory() : IoUringIoHandler.newFactory());
        Bootstrap client = new Bootstrap().group(group).handler(new NettyEcho.Echo());
        ServerBootstrap server = new ServerBootstrap().group(group).childHandler(new NettyEcho.Echo());
        if (isNio) {
            connect(server.channel(NioServerSocketChannel.class), client.channel(NioSocketChannel.class)
                .option(NioChannelOption.of(StandardSocketOptions.SO_LINGER), 7),
                NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), true);
            datagrams(group);
        } else {
            connect(server.channel(IoUringServerSocketChannel.class), client.channel(IoUringSocketChannel.class)
                .option(ChannelOption.SO_LINGER, 7), IoUringChannelOption.TCP_KEEPIDLE, false);
        }
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    /** Sets options that are named by {@code ChannelOption}, but that only the channels of epoll and io_uring have. */
    private static void fastOpen() throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        Channel listening = new ServerBootstrap().group(group).channel(EpollServerSocketChannel.class)
            .option(ChannelOption.TCP_FASTOPEN, 10).childHandler(new NettyEcho.Echo())
            .bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        Channel channel = new Bootstrap().group(group).channel(EpollSocketChannel.class)
            .option(ChannelOption.TCP_FASTOPEN_CONNECT, true).handler(new NettyEcho.Echo())
            .connect(listening.localAddress()).sync().channel();
        System.out.println("channels: " + listening.getClass().getSimpleName() + ", " + channel.getClass().getSimpleName());
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    private static void connect(ServerBootstrap server, Bootstrap client, ChannelOption<Integer> keepIdle, boolean isNio)
            throws Exception {
        Channel listening = server.bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        Channel channel = client.option(keepIdle, 77).connect(listening.localAddress()).sync().channel();
        Integer idle = channel.config().getOption(keepIdle);
        System.out.println("result: linger " + channel.config().getOption(ChannelOption.SO_LINGER) + ", idle "
            + (idle != null ? idle : channel.config().getOption(EpollChannelOption.TCP_KEEPIDLE)));
        LaterOptions.set(channel, isNio);
        System.out.println("channels: " + channel.getClass().getSimpleName());
        channel.close().sync();
        listening.close().sync();
    }

    /** Binds two channels to the same port. */
    private static void datagrams(EventLoopGroup group) throws Exception {
        Bootstrap bootstrap = new Bootstrap().group(group).channel(NioDatagramChannel.class).handler(new NettyEcho.Echo())
            .option(NioChannelOption.of(StandardSocketOptions.SO_REUSEPORT), true);
        Channel first = bootstrap.bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        System.out.println("result: second bind "
            + bootstrap.clone().handler(new NettyEcho.Echo()).bind(first.localAddress()).await().isSuccess());
    }
}
