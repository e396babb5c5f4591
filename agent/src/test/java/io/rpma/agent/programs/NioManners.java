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
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Uses of NIO by an application beyond plain bootstraps. */
public final class NioManners {
    private NioManners() {
    }

    /** Runs the program, and prints the result. */
    public static void main(String[] arguments) throws Exception {
        IoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        switch (arguments[0]) {
            case "asks" -> System.out.println("result: " + group.isIoType(NioIoHandler.class) + ' '
                + group.isIoType(EpollIoHandler.class) + ' ' + group.isCompatible(NioIoHandle.class) + ' '
                + group.isCompatible(EpollIoHandle.class));
            case "servers" -> {
                for (String host : arguments[1].split(",")) {
                    echo(group, server(group).bind(new InetSocketAddress(host, 0)).sync().channel(), true);
                }
            }
            case "insists" -> echo(group, new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<NioSocketChannel>() {
                    @Override
                    protected void initChannel(NioSocketChannel channel) {
                        channel.pipeline().addLast(new NettyEcho.Echo());
                    }
                }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel(), false);
            case "optional" -> echo(group, new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new WithOptionalLibrary()).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel(), true);
            case "optional-insists" -> echo(group, new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new WithOptionalLibraryForNio()).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel(),
                false);
            case "own-class" -> echo(group, new ServerBootstrap().group(group).channel(OwnServerChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new NettyEcho.Echo());
                    }
                }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel(), false);
            case "relays" -> relays(group);
            case "ends" -> ends(group);
            case "datagram" -> datagram(group);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    /** A relay connects to the other server by the event loop of the channel that it has accepted. */
    private static void relays(IoEventLoopGroup group) throws Exception {
        Channel other = server(group).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        CompletableFuture<String> connected = new CompletableFuture<>();
        Channel relay = new ServerBootstrap().group(group).channel(OwnServerChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelActive(ChannelHandlerContext ctx) {
                    new Bootstrap().group(ctx.channel().eventLoop()).channel(ctx.channel().getClass())
                        .handler(new NettyEcho.Echo()).connect(other.localAddress())
                        .addListener((ChannelFuture future) -> connected.complete(future.isSuccess()
                            ? future.channel().getClass().getSimpleName() : future.cause().toString()));
                }
            }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        try (Socket client = new Socket()) {
            client.connect(relay.localAddress());
            System.out.println("channels: " + connected.get(30, TimeUnit.SECONDS));
        }
    }

    /**
     * Shuts the group down while the event loop of a channel executes a task. The end of the channel takes longer than everything
     * else.
     */
    private static void ends(IoEventLoopGroup group) throws Exception {
        CompletableFuture<Boolean> early = new CompletableFuture<>();
        EventLoop loop = new ServerBootstrap().group(group).channel(OwnServerChannel.class)
            .handler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelInactive(ChannelHandlerContext ctx) throws InterruptedException {
                    early.complete(group.terminationFuture().await(500, TimeUnit.MILLISECONDS));
                }
            }).childHandler(new NettyEcho.Echo()).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel().eventLoop();
        loop.execute(() -> {
            group.shutdownGracefully(100, 10_000, TimeUnit.MILLISECONDS);
            for (long start = System.nanoTime(); !loop.isShuttingDown() && System.nanoTime() - start < 300_000_000;) {
                Thread.onSpinWait();
            }
        });
        group.terminationFuture().sync();
        System.out.println("result: group ended before its channel " + early.get(10, TimeUnit.SECONDS));
    }

    private static ServerBootstrap server(IoEventLoopGroup group) {
        return new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new NettyEcho.Echo());
                }
            });
    }

    /** Uses a bootstrap, or a channel that the application creates and registers itself. */
    private static void echo(EventLoopGroup group, Channel server, boolean byBootstrap) throws Exception {
        CompletableFuture<Long> sum = new CompletableFuture<>();
        Channel client;
        if (byBootstrap) {
            client = new Bootstrap().group(group).channel(NioSocketChannel.class).handler(new NettyEcho.Sum(sum))
                .connect(server.localAddress()).sync().channel();
        } else {
            client = new NioSocketChannel();
            client.pipeline().addLast(new NettyEcho.Sum(sum));
            group.register(client).sync();
            client.connect(server.localAddress()).sync();
        }
        client.writeAndFlush(Unpooled.wrappedBuffer(new byte[NettyEcho.BYTES])).sync();
        System.out.println("result: sum " + sum.get(30, TimeUnit.SECONDS));
        System.out.println("channels: " + server.getClass().getSimpleName() + ", " + client.getClass().getSimpleName());
        client.close().sync();
        server.close().sync();
    }

    private static void datagram(IoEventLoopGroup group) throws Exception {
        CompletableFuture<Integer> received = new CompletableFuture<>();
        Channel one = new Bootstrap().group(group).channel(NioDatagramChannel.class)
            .handler(new SimpleChannelInboundHandler<DatagramPacket>() {
                @Override
                protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
                    received.complete(packet.content().readableBytes());
                }
            }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        Channel other = new Bootstrap().group(group).channel(NioDatagramChannel.class).handler(new NettyEcho.Echo())
            .bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        other.writeAndFlush(new DatagramPacket(Unpooled.wrappedBuffer(new byte[100]), (InetSocketAddress) one.localAddress()))
            .sync();
        System.out.println("result: received " + received.get(30, TimeUnit.SECONDS));
        System.out.println("channels: " + one.getClass().getSimpleName() + ", " + other.getClass().getSimpleName());
    }

    /** An initializer with a method for a library that need not be there. */
    private static final class WithOptionalLibrary extends ChannelInitializer<SocketChannel> {
        @Override
        protected void initChannel(SocketChannel channel) {
            if (Boolean.getBoolean("library")) {
                use(new OptionalLibrary());
            }
            channel.pipeline().addLast(new NettyEcho.Echo());
        }

        private static void use(OptionalLibrary library) {
            System.out.println(library);
        }
    }

    /** An initializer with a method for a library that need not be there. It takes one class of channels only. */
    private static final class WithOptionalLibraryForNio extends ChannelInitializer<NioSocketChannel> {
        @Override
        protected void initChannel(NioSocketChannel channel) {
            if (Boolean.getBoolean("library")) {
                System.out.println(library());
            }
            channel.pipeline().addLast(new NettyEcho.Echo());
        }

        private static OptionalLibrary library() {
            return new OptionalLibrary();
        }
    }

    /** A channel class of the application. */
    public static final class OwnServerChannel extends NioServerSocketChannel {
    }
}
