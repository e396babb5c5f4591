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

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Sends back every byte that it receives. When the client has shut down its output, the server sends a report with the number of
 * bytes in each direction and their checksums, and closes the connection.
 */
final class EchoServer implements AutoCloseable {
    private final EventLoopGroup group = new RpmaEventLoopGroup();
    private final Channel channel;

    /**
     * Starts to listen.
     *
     * @param address the address and port to listen on; port 0 lets the system choose a port
     * @param served is called on an event loop for every connection that ended normally
     */
    EchoServer(InetSocketAddress address, Consumer<String> served) {
        try {
            channel = new ServerBootstrap()
                .group(group)
                .channel(RpmaServerChannel.class)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(4 << 20, 8 << 20))
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        ChecksumHandler checksums = new ChecksumHandler();
                        connection.pipeline().addLast(checksums, new EchoHandler(checksums, served));
                    }
                })
                .bind(address).syncUninterruptibly().channel();
        } catch (Throwable e) {
            group.shutdownGracefully();
            throw e;
        }
    }

    InetSocketAddress address() {
        return (InetSocketAddress) channel.localAddress();
    }

    Channel channel() {
        return channel;
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Sends back the received data. It stops reading while the client does not accept the data that is sent to it. */
    private static final class EchoHandler extends ChannelInboundHandlerAdapter {
        private final ChecksumHandler checksums;
        private final Consumer<String> served;
        private boolean failed;

        EchoHandler(ChecksumHandler checksums, Consumer<String> served) {
            this.checksums = checksums;
            this.served = served;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.write(message, ctx.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            ctx.channel().config().setAutoRead(ctx.channel().isWritable());
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == ChannelInputShutdownEvent.INSTANCE) {
                EchoReport report = checksums.report();
                served.accept(ctx.channel().remoteAddress() + " " + report);
                ctx.writeAndFlush(report.encode(ctx.alloc())).addListener(ChannelFutureListener.CLOSE);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // When a connection breaks, every outstanding write fails, but the failure is only handled once.
            if (!failed) {
                failed = true;
                System.err.println("echo server: the connection from " + ctx.channel().remoteAddress() + " failed: " + cause);
                ctx.close();
            }
        }
    }
}
