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

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.AttributeKey;
import java.io.DataInputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Channel factories of an application that prepare the channels before they return them. */
public final class PreparedChannels {
    private static final AttributeKey<String> NAME = AttributeKey.valueOf("name");

    private PreparedChannels() {
    }

    /** Runs the program, and prints the result. */
    public static void main(String[] arguments) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
            arguments[0].equals("connected") ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
        switch (arguments[0]) {
            case "bound" -> bound(group);
            case "connected" -> connected(group);
            case "handler" -> handler(group);
            case "settings" -> settings(group);
            case "ipv4" -> ipv4(group);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    private static ServerBootstrap server(EventLoopGroup group, ChannelFactory<NioServerSocketChannel> factory) {
        return new ServerBootstrap().group(group).channelFactory(factory)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new NettyEcho.Echo());
                }
            });
    }

    /** A socket that is bound before the channel is created, as one that another process passes on. */
    private static void bound(EventLoopGroup group) throws Exception {
        ServerSocketChannel socket = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
        SocketAddress address = socket.getLocalAddress();
        Channel server = server(group, () -> new NioServerSocketChannel(socket)).register().sync().channel();
        System.out.println("result: active " + server.isActive() + ", echo " + echo((InetSocketAddress) address));
        System.out.println("channels: " + server.getClass().getSimpleName());
        server.close().sync();
    }

    private static int echo(InetSocketAddress address) throws Exception {
        try (Socket client = new Socket(address.getAddress(), address.getPort())) {
            client.setSoTimeout(30_000);
            client.getOutputStream().write(7);
            return new DataInputStream(client.getInputStream()).readUnsignedByte();
        }
    }

    /** A channel of epoll that is created for the descriptor of a connected socket. */
    private static void connected(EventLoopGroup group) throws Exception {
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            io.netty.channel.unix.Socket socket = io.netty.channel.unix.Socket.newSocketStream();
            socket.connect(listening.getLocalSocketAddress());
            try (Socket accepted = listening.accept()) {
                accepted.setSoTimeout(30_000);
                Channel channel = new Bootstrap().group(group).channelFactory(() -> new EpollSocketChannel(socket.intValue()))
                    .handler(new NettyEcho.Echo()).register().sync().channel();
                accepted.getOutputStream().write(7);
                int echo = new DataInputStream(accepted.getInputStream()).readUnsignedByte();
                System.out.println("result: active " + channel.isActive() + ", echo " + echo);
                System.out.println("channels: " + channel.getClass().getSimpleName());
                channel.close().sync();
            }
        }
    }

    private static void handler(EventLoopGroup group) throws Exception {
        Channel server = server(group, NioServerSocketChannel::new).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        Channel client = new Bootstrap().group(group).channelFactory(() -> {
            NioSocketChannel channel = new NioSocketChannel();
            channel.pipeline().addLast("first", new NettyEcho.Echo());
            return channel;
        }).handler(new NettyEcho.Echo()).register().sync().channel();
        System.out.println("result: first handler " + client.pipeline().firstContext().name());
        System.out.println("channels: " + server.getClass().getSimpleName() + ", " + client.getClass().getSimpleName());
        client.close().sync();
        server.close().sync();
    }

    private static void settings(EventLoopGroup group) throws Exception {
        Channel server = server(group, NioServerSocketChannel::new).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        CompletableFuture<Long> sum = new CompletableFuture<>();
        Channel client = new Bootstrap().group(group).channelFactory(() -> {
            NioSocketChannel channel = new NioSocketChannel();
            channel.attr(NAME).set("prepared");
            channel.config().setAllowHalfClosure(true);
            channel.config().setConnectTimeoutMillis(12_345);
            channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
            return channel;
        }).handler(new NettyEcho.Sum(sum)).connect(server.localAddress()).sync().channel();
        client.writeAndFlush(Unpooled.wrappedBuffer(new byte[NettyEcho.BYTES])).sync();
        System.out.println("result: sum " + sum.get(30, TimeUnit.SECONDS) + ", " + client.attr(NAME).get() + ", "
            + client.config().getOption(ChannelOption.ALLOW_HALF_CLOSURE) + ", " + client.config().getConnectTimeoutMillis()
            + ", " + client.config().getWriteBufferWaterMark().high());
        System.out.println("channels: " + server.getClass().getSimpleName() + ", " + client.getClass().getSimpleName());
        client.close().sync();
        server.close().sync();
    }

    /** The address of a channel for IPv4 is one of IPv4, also on a host with IPv6. */
    private static void ipv4(EventLoopGroup group) throws Exception {
        Channel channel = new Bootstrap().group(group).channelFactory(() -> new NioDatagramChannel(SocketProtocolFamily.INET))
            .handler(new NettyEcho.Echo()).bind(new InetSocketAddress("0.0.0.0", 0)).sync().channel();
        System.out.println("result: " + ((InetSocketAddress) channel.localAddress()).getAddress().getHostAddress());
        System.out.println("channels: " + channel.getClass().getSimpleName());
        channel.close().sync();
    }
}
