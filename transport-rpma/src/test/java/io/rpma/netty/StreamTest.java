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
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests streams through bootstraps, on the provider that the process has chosen. */
@Timeout(120)
class StreamTest {
    private static RpmaEventLoopGroup group;

    @BeforeAll
    static void start() {
        group = new RpmaEventLoopGroup(2);
    }

    @AfterAll
    static void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static Channel serve(ChannelHandler child) throws InterruptedException {
        return new ServerBootstrap().group(group).channel(RpmaServerChannel.class).childHandler(child)
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
    }

    private static ChannelFuture connect(Channel server, ChannelHandler handler) {
        return new Bootstrap().group(group).channel(RpmaChannel.class).handler(handler).connect(server.localAddress());
    }

    @ChannelHandler.Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.write(msg, ctx.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }
    }

    private static final class Collector extends ChannelInboundHandlerAdapter {
        final BlockingQueue<byte[]> received = new LinkedBlockingQueue<>();
        final CompletableFuture<Throwable> failure = new CompletableFuture<>();
        final CompletableFuture<Void> inactive = new CompletableFuture<>();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            received.add(ByteBufUtil.getBytes((ByteBuf) msg));
            ReferenceCountUtil.release(msg);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failure.complete(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            inactive.complete(null);
        }

        byte[] take(int bytes) throws InterruptedException {
            byte[] all = new byte[bytes];
            for (int n = 0; n < bytes;) {
                byte[] part = received.poll(30, TimeUnit.SECONDS);
                assertNotNull(part, "only " + n + " of " + bytes + " bytes came");
                System.arraycopy(part, 0, all, n, part.length);
                n += part.length;
            }
            return all;
        }
    }

    @Test
    void smallMessageComesBack() throws Exception {
        Channel server = serve(new Echo());
        Collector collector = new Collector();
        Channel client = connect(server, collector).sync().channel();
        client.writeAndFlush(Unpooled.copiedBuffer("hello", java.nio.charset.StandardCharsets.US_ASCII)).sync();
        assertEquals("hello", new String(collector.take(5), java.nio.charset.StandardCharsets.US_ASCII));
        assertNotNull(client.localAddress());
        assertEquals(server.localAddress(), client.remoteAddress());
        client.close().sync();
        server.close().sync();
    }

    @Test
    void randomSizesKeepTheirOrderAndContent() throws Exception {
        Channel server = serve(new Echo());
        CRC32C in = new CRC32C();
        CompletableFuture<Long> done = new CompletableFuture<>();
        int total = 32 << 20;
        Channel client = connect(server, new ChannelInboundHandlerAdapter() {
            private long received;

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ByteBuf buf = (ByteBuf) msg;
                in.update(buf.nioBuffer());
                received += buf.readableBytes();
                buf.release();
                if (received == total) {
                    done.complete(in.getValue());
                }
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                done.completeExceptionally(cause);
            }
        }).sync().channel();
        Random random = new Random(42);
        CRC32C out = new CRC32C();
        for (int sent = 0; sent < total;) {
            int n = Math.min(total - sent, 1 + random.nextInt(random.nextBoolean() ? 300 : 300_000));
            byte[] bytes = new byte[n];
            random.nextBytes(bytes);
            out.update(bytes);
            ByteBuf buf = random.nextBoolean() ? Unpooled.wrappedBuffer(bytes)
                : RpmaByteBufAllocator.DEFAULT.directBuffer(n).writeBytes(bytes);
            ChannelFuture future = random.nextInt(4) == 0 ? client.writeAndFlush(buf) : client.write(buf);
            sent += n;
            if (!client.isWritable()) {
                client.flush();
                future.sync();
            }
        }
        client.flush();
        assertEquals(out.getValue(), done.get(40, TimeUnit.SECONDS));
        client.close().sync();
        server.close().sync();
    }

    @Test
    void everythingWrittenBeforeAnOrderlyCloseArrivesAndNoExceptionComes() throws Exception {
        Collector collector = new Collector();
        Channel server = serve(collector);
        byte[] bytes = new byte[100_000];
        new Random(1).nextBytes(bytes);
        Channel client = connect(server, new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.config().setOption(ChannelOption.AUTO_READ, false);
            }
        }).sync().channel();
        client.writeAndFlush(Unpooled.wrappedBuffer(bytes)).addListener(ChannelFutureListener.CLOSE);
        org.junit.jupiter.api.Assertions.assertArrayEquals(bytes, collector.take(bytes.length));
        collector.inactive.get(30, TimeUnit.SECONDS);
        assertNull(collector.failure.getNow(null));
        server.close().sync();
    }

    @Test
    void anAbortIsSeenAsAReset() throws Exception {
        Collector collector = new Collector();
        CompletableFuture<Channel> child = new CompletableFuture<>();
        Channel server = serve(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addLast(collector);
                child.complete(ch);
            }
        });
        Channel client = connect(server, new Collector()).sync().channel();
        client.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {1})).sync();
        collector.take(1);
        client.config().setOption(ChannelOption.SO_LINGER, 0);
        client.close().sync();
        Throwable failure = collector.failure.get(30, TimeUnit.SECONDS);
        assertInstanceOf(IOException.class, failure);
        assertTrue(failure.getMessage().contains("reset"), failure.getMessage());
        collector.inactive.get(30, TimeUnit.SECONDS);
        server.close().sync();
    }

    @Test
    void whatIsNotReadStopsTheSenderAtABoundedAmount() throws Exception {
        CompletableFuture<Channel> child = new CompletableFuture<>();
        Collector collector = new Collector();
        Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childOption(ChannelOption.AUTO_READ, false).childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    ch.pipeline().addLast(collector);
                    child.complete(ch);
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        Channel client = connect(server, new Collector()).sync().channel();
        int total = 8 << 20;
        ChannelFuture last = null;
        for (int sent = 0; sent < total; sent += 1 << 16) {
            last = client.writeAndFlush(Unpooled.wrappedBuffer(new byte[1 << 16]));
        }
        Channel accepted = child.get(30, TimeUnit.SECONDS);
        // The last write does not complete while the server does not read.
        assertTrue(!last.await(500), "8 MiB were accepted although the server does not read");
        assertTrue(collector.received.isEmpty());
        accepted.config().setAutoRead(true);
        assertTrue(last.await(30, TimeUnit.SECONDS));
        collector.take(total);
        client.close().sync();
        server.close().sync();
    }

    @Test
    void aBufferThatIsHeldElsewhereMayBeWrittenOnceThePromiseHasSucceeded() throws Exception {
        Collector collector = new Collector();
        Channel server = serve(collector);
        Channel client = connect(server, new Collector()).sync().channel();
        // There are several messages, so that some are still under way when the first promises succeed.
        ByteBuf shared = RpmaByteBufAllocator.DEFAULT.directBuffer(64 << 10).writeZero(64 << 10);
        byte[] expected = new byte[20 * (64 << 10)];
        for (int round = 0; round < 20; round++) {
            shared.setZero(0, 64 << 10).setByte(1000, round);
            expected[round * (64 << 10) + 1000] = (byte) round;
            client.writeAndFlush(shared.retainedDuplicate()).sync();
        }
        org.junit.jupiter.api.Assertions.assertArrayEquals(expected, collector.take(expected.length));
        assertTrue(shared.release());
        client.close().sync();
        server.close().sync();
    }

    @Test
    void aBufferSentInPlaceIsReleasedWhenItHasBeenDelivered() throws Exception {
        Collector collector = new Collector();
        Channel server = serve(collector);
        Channel client = connect(server, new Collector()).sync().channel();
        ByteBuf buf = RpmaByteBufAllocator.DEFAULT.directBuffer(1 << 20);
        byte[] bytes = new byte[1 << 20];
        new Random(8).nextBytes(bytes);
        client.writeAndFlush(buf.writeBytes(bytes)).sync();
        org.junit.jupiter.api.Assertions.assertArrayEquals(bytes, collector.take(bytes.length));
        // After another round trip, the last completion has been handled.
        client.writeAndFlush(Unpooled.copyInt(1)).sync();
        collector.take(4);
        client.close().sync();
        server.close().sync();
        try {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        } finally {
            start();
        }
        assertEquals(0, buf.refCnt());
    }

    @Test
    void nobodyListening() throws Exception {
        Channel server = serve(new Echo());
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        server.close().sync();
        ChannelFuture future = new Bootstrap().group(group).channel(RpmaChannel.class).handler(new Collector())
            .connect(address).await();
        assertInstanceOf(ConnectException.class, future.cause());
        assertTrue(future.channel().closeFuture().await(30, TimeUnit.SECONDS));
    }

    @Test
    void portInUse() throws Exception {
        Channel server = serve(new Echo());
        ChannelFuture second = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childHandler(new Echo()).bind(server.localAddress()).await();
        assertInstanceOf(java.net.BindException.class, second.cause());
        server.close().sync();
    }

    @Test
    void manyConnections() throws Exception {
        Channel server = serve(new Echo());
        // The device siw0 supports no more connections, see testsuite/softroce/README.md.
        int connections = RawPeer.isPrefixed() ? 8 : 25;
        for (int round = 0; round < 4; round++) {
            Channel[] clients = new Channel[connections];
            Collector[] collectors = new Collector[clients.length];
            for (int i = 0; i < clients.length; i++) {
                collectors[i] = new Collector();
                clients[i] = connect(server, collectors[i]).sync().channel();
                clients[i].writeAndFlush(Unpooled.copyInt(i));
            }
            for (int i = 0; i < clients.length; i++) {
                assertEquals(i, Unpooled.wrappedBuffer(collectors[i].take(4)).readInt());
            }
            for (Channel client : clients) {
                client.close().sync();
            }
        }
        server.close().sync();
    }
}
