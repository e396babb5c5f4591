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
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A typical use of Netty: an echo server, and a client that sends it a mebibyte. */
public final class NettyEcho {
    static final int BYTES = 1 << 20;

    private NettyEcho() {
    }

    /** The first argument selects the transport, the second one how the class of the channels is passed to the bootstraps. */
    public static void main(String[] arguments) throws Exception {
        String transport = arguments[0];
        String how = arguments[1];
        int port = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 0;
        EventLoopGroup group = group(transport);
        ServerBootstrap server = new ServerBootstrap().group(group).childHandler(new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(new Echo());
            }
        }).option(ChannelOption.SO_BACKLOG, 128).childOption(ChannelOption.SO_KEEPALIVE, true);
        Bootstrap client = new Bootstrap().group(group).option(ChannelOption.TCP_NODELAY, true);
        switch (transport + ' ' + how) {
            case "nio class", "legacy-nio class" -> {
                server.channel(NioServerSocketChannel.class);
                client.channel(NioSocketChannel.class);
            }
            case "nio reference" -> {
                server.channelFactory(NioServerSocketChannel::new);
                client.channelFactory(NioSocketChannel::new);
            }
            case "nio reflection" -> {
                Class<?> serverType = Class.forName("io.netty.channel.socket.nio.NioServerSocketChannel");
                Class<?> clientType = Class.forName("io.netty.channel.socket.nio.NioSocketChannel");
                server.channelFactory(() -> (ServerSocketChannel) create(serverType));
                client.channelFactory(() -> (SocketChannel) create(clientType));
            }
            case "epoll class", "legacy-epoll class" -> {
                server.channel(EpollServerSocketChannel.class);
                client.channel(EpollSocketChannel.class);
            }
            case "epoll reference" -> {
                server.channelFactory(EpollServerSocketChannel::new);
                client.channelFactory(EpollSocketChannel::new);
            }
            case "uring class" -> {
                server.channel(IoUringServerSocketChannel.class);
                client.channel(IoUringSocketChannel.class);
            }
            default -> throw new IllegalArgumentException(transport + ' ' + how);
        }
        CompletableFuture<Long> sum = new CompletableFuture<>();
        client.handler(new Sum(sum));
        Channel listening = server.bind(new InetSocketAddress("127.0.0.1", port)).sync().channel();
        Channel connection = client.connect(listening.localAddress()).sync().channel();
        byte[] data = new byte[BYTES];
        for (int i = 0; i < BYTES; i++) {
            data[i] = (byte) (i * 31 >> 3);
        }
        connection.writeAndFlush(Unpooled.wrappedBuffer(data)).sync();
        System.out.println("result: sum " + sum.get(30, TimeUnit.SECONDS));
        System.out.println("channels: " + listening.getClass().getSimpleName() + ", " + connection.getClass().getSimpleName());
        connection.close().sync();
        listening.close().sync();
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    @SuppressWarnings("deprecation")
    private static EventLoopGroup group(String transport) {
        return switch (transport) {
            case "nio" -> new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
            case "epoll" -> new MultiThreadIoEventLoopGroup(2, EpollIoHandler.newFactory());
            case "uring" -> new MultiThreadIoEventLoopGroup(2, IoUringIoHandler.newFactory());
            case "legacy-nio" -> new io.netty.channel.nio.NioEventLoopGroup(2);
            default -> new io.netty.channel.epoll.EpollEventLoopGroup(2);
        };
    }

    private static Object create(Class<?> type) {
        try {
            return type.getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Echoes what it reads. */
    static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    /** Counts the bytes up to a mebibyte. */
    static final class Sum extends SimpleChannelInboundHandler<ByteBuf> {
        private final CompletableFuture<Long> result;
        private long sum;
        private int count;

        Sum(CompletableFuture<Long> result) {
            this.result = result;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf data) {
            while (data.isReadable()) {
                sum = sum * 31 + data.readByte();
                count++;
            }
            if (count == BYTES) {
                result.complete(sum);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            result.completeExceptionally(cause);
        }
    }
}
