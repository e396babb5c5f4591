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

package io.rpma.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests that the death of a process in the middle of its work is a reset for the other end, and affects no other connection. */
@Timeout(300)
class PeerDeathTest {
    private RpmaEventLoopGroup group;
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private final BlockingQueue<Boolean> inactive = new LinkedBlockingQueue<>();
    private final BlockingQueue<Integer> received = new LinkedBlockingQueue<>(1);

    @BeforeEach
    void start() {
        group = new RpmaEventLoopGroup(1);
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @ChannelHandler.Sharable
    private final class Recorder extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf buf = (ByteBuf) msg;
            received.offer(buf.readableBytes());
            buf.release();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failures.add(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            inactive.add(true);
        }
    }

    /** Writes continuously, as fast as the peer accepts the data. */
    private static final class Flood extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            write(ctx);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            write(ctx);
        }

        private static void write(ChannelHandlerContext ctx) {
            while (ctx.channel().isWritable()) {
                ctx.writeAndFlush(Unpooled.wrappedBuffer(new byte[10_000]));
            }
        }
    }

    /** The process that dies: a client that floods the address in its arguments. */
    static final class FloodingClient {
        public static void main(String[] arguments) throws Exception {
            Channel channel = new Bootstrap().group(new RpmaEventLoopGroup(1)).channel(RpmaChannel.class)
                .handler(new Flood())
                .connect(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]))).sync().channel();
            channel.closeFuture().sync();
        }
    }

    /** The process that dies: a server that floods every client. */
    static final class FloodingServer {
        public static void main(String[] arguments) throws Exception {
            Channel channel = new ServerBootstrap().group(new RpmaEventLoopGroup(1)).channel(RpmaServerChannel.class)
                .childHandler(new Flood()).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            InetSocketAddress address = (InetSocketAddress) channel.localAddress();
            System.out.println("LISTENING " + address.getAddress().getHostAddress() + " " + address.getPort());
            channel.closeFuture().sync();
        }
    }

    private Channel serve() throws InterruptedException {
        return new ServerBootstrap().group(group).channel(RpmaServerChannel.class).childHandler(new Recorder())
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
    }

    private void diesAndTheNextOneWorks(ChildJvm child, Channel server) throws Exception {
        assertNotNull(received.poll(60, TimeUnit.SECONDS));
        child.kill();
        Throwable failure = failures.poll(30, TimeUnit.SECONDS);
        assertInstanceOf(IOException.class, failure);
        assertTrue(failure.getMessage().contains("reset"), failure.getMessage());
        assertNotNull(inactive.poll(30, TimeUnit.SECONDS));
        received.clear();
        Channel client = new Bootstrap().group(group).channel(RpmaChannel.class)
            .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
        client.writeAndFlush(Unpooled.copyInt(1)).sync();
        assertNotNull(received.poll(30, TimeUnit.SECONDS));
        client.close().sync();
    }

    @Test
    void aClientKilledWhileItWrites() throws Exception {
        Channel server = serve();
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        try (ChildJvm child = new ChildJvm(ChildJvm.ordinary(), FloodingClient.class,
                address.getAddress().getHostAddress(), String.valueOf(address.getPort()))) {
            diesAndTheNextOneWorks(child, server);
        }
    }

    @Test
    void aServerKilledWhileItWritesAndIsWrittenTo() throws Exception {
        try (ChildJvm child = new ChildJvm(ChildJvm.ordinary(), FloodingServer.class)) {
            String[] address = child.await("LISTENING").split(" ");
            ChannelFuture connect = new Bootstrap().group(group).channel(RpmaChannel.class).handler(new Recorder())
                .connect(new InetSocketAddress(address[0], Integer.parseInt(address[1]))).sync();
            connect.channel().writeAndFlush(Unpooled.wrappedBuffer(new byte[1 << 20]));
            Channel server = serve();
            diesAndTheNextOneWorks(child, server);
            assertTrue(connect.channel().closeFuture().await(30, TimeUnit.SECONDS));
        }
    }
}
