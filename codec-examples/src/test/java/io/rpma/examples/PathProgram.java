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
package io.rpma.examples;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * A server that echoes, or a client that sends the number of bytes in each line of its standard input and checks the echo. Both
 * print the path of each connection, and when it has ended.
 */
final class PathProgram {
    static final String PATH = "path=";
    static final String ECHOED = "echoed=";
    static final String ENDED = "ended=";

    private PathProgram() {
    }

    /** Runs as {@code serve HOST} or {@code connect HOST PORT} until the standard input ends. */
    public static void main(String... arguments) throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        try {
            if (arguments[0].equals("serve")) {
                serve(group, new InetSocketAddress(arguments[1], 0));
            } else {
                connect(group, new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2])));
            }
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private static void serve(EventLoopGroup group, InetSocketAddress address) throws Exception {
        Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel child) {
                    child.pipeline().addLast(new Reporter(), new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object data) {
                            ctx.writeAndFlush(data);
                        }
                    });
                }
            })
            .bind(address).sync().channel();
        ServerProcess.say((InetSocketAddress) server.localAddress());
        while (System.in.read() >= 0) {
            // The input is ignored until its end.
            continue;
        }
    }

    private static void connect(EventLoopGroup group, InetSocketAddress address) throws Exception {
        Channel channel = new Bootstrap().group(group).channel(RpmaChannel.class).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel client) {
                client.pipeline().addLast(new Reporter(), new EchoChecker());
            }
        }).connect(address).sync().channel();
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            channel.pipeline().fireUserEventTriggered(Integer.valueOf(order));
        }
        channel.close().sync();
    }

    /** Prints the path and the end of a connection. */
    private static final class Reporter extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            System.out.println(PATH + ((RpmaChannel) ctx.channel()).path());
            ctx.fireChannelActive();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            System.out.println(ENDED + ((RpmaChannel) ctx.channel()).path());
            ctx.fireChannelInactive();
        }
    }

    /** Sends a pattern of the given number of bytes for each event, and compares the echo with it. */
    private static final class EchoChecker extends SimpleChannelInboundHandler<ByteBuf> {
        private long sent;
        private long echoed;

        private static byte pattern(long position) {
            return (byte) (position * 31 + (position >> 13));
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof Integer count) {
                byte[] bytes = new byte[count];
                for (int i = 0; i < count; i++) {
                    bytes[i] = pattern(sent++);
                }
                ctx.writeAndFlush(Unpooled.wrappedBuffer(bytes));
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) throws IOException {
            while (data.isReadable()) {
                if (data.readByte() != pattern(echoed)) {
                    throw new IOException("byte " + echoed + " of the echo is wrong");
                }
                echoed++;
            }
            if (echoed == sent) {
                System.out.println(ECHOED + echoed);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("the connection ends: " + cause);
            ctx.close();
        }
    }
}
