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

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FileRegion;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.util.NetUtil;
import io.rpma.netty.RpmaByteBufAllocator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests between two processes what the suite tests in one JVM: echo, TLS, half-close, reset and file regions. It also tests the
 * death of the other process.
 */
@Timeout(60)
class CrossProcessTest {
    private static final int MEBIBYTE = 1 << 20;
    private static final int FILE_BYTES = 3 * MEBIBYTE + 17;
    private static final int LIMIT_SECONDS = 30;

    private static EventLoopGroup group;
    private static ChildProcess child;
    private static File file;

    @BeforeAll
    static void startChild(@TempDir Path folder) throws Exception {
        Path path = folder.resolve("pattern");
        file = Files.write(path, Pattern.bytes(0, FILE_BYTES)).toFile();
        group = TestTransport.CURRENT.newGroup(2, "parent");
        child = new ChildProcess(file);
    }

    @AfterAll
    static void endChild() throws Exception {
        try {
            if (child != null) {
                assertEquals(List.of(), child.end(), "leaks in the child process");
            }
        } finally {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 700, 9_000, 2 * MEBIBYTE})
    void echo(int largestPiece) throws Exception {
        long total = Math.min(16L * MEBIBYTE, largestPiece * 20_000L);
        PatternChecker checker = new PatternChecker(total);
        Channel channel = connect("echo", new PatternSender(total, largestPiece, () -> { }), checker);
        assertEquals(total, get(checker.done()));
        channel.close().sync();
    }

    @Test
    void everythingEchoedBeforeTheEndOfTheStream() throws Exception {
        long total = 4L * MEBIBYTE;
        PatternChecker checker = new PatternChecker(Long.MAX_VALUE);
        AtomicReference<SocketChannel> channel = new AtomicReference<>();
        PatternSender sender = new PatternSender(total, 100_000, () -> channel.get().shutdownOutput());
        connect("echo", new ChannelInboundHandlerAdapter() {
            @Override
            public void handlerAdded(ChannelHandlerContext ctx) {
                channel.set((SocketChannel) ctx.channel());
            }
        }, sender, checker);
        assertEquals(total, get(checker.done()));
        channel.get().close().sync();
    }

    @ParameterizedTest
    @EnumSource(names = {"JDK", "OPENSSL"})
    void tls(SslProvider provider) throws Exception {
        long total = 4L * MEBIBYTE;
        SslContext context = SslContextBuilder.forClient().sslProvider(provider)
            .trustManager(InsecureTrustManagerFactory.INSTANCE).build();
        PatternChecker checker = new PatternChecker(total);
        Channel channel = connect("tls-" + provider, new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addLast(context.newHandler(ch.alloc()), new PatternSender(total, 40_000, () -> { }), checker);
            }
        });
        assertEquals(total, get(checker.done()));
        channel.close().sync();
    }

    @Test
    void answerAfterTheEndOfTheOwnStream() throws Exception {
        long total = 5L * MEBIBYTE + 1;
        AtomicReference<SocketChannel> channel = new AtomicReference<>();
        Gather answer = new Gather(channel);
        connect("digest", answer, new PatternSender(total, 30_000, () -> channel.get().shutdownOutput()));
        assertEquals(total, get(answer.all).getLong(0));
        assertEquals(Long.toString(total), child.next("digest"));
        get(answer.inactive);
    }

    @Test
    void writesGoOnAfterTheEndOfThePeersStream() throws Exception {
        long total = 2L * MEBIBYTE + 3;
        AtomicReference<SocketChannel> channel = new AtomicReference<>();
        Gather greeting = new Gather(channel);
        connect("speak-first", greeting);
        assertEquals(42, get(greeting.all).getByte(0));
        assertTrue(channel.get().isInputShutdown());
        assertTrue(channel.get().isActive());
        channel.get().pipeline().addLast(new PatternSender(total, 30_000, () -> channel.get().shutdownOutput()));
        channel.get().pipeline().fireChannelWritabilityChanged();
        assertEquals(Long.toString(total), child.next("digest"));
        channel.get().close().sync();
    }

    @Test
    void resetByThePeer() throws Exception {
        Ending ending = new Ending();
        connect("reset", ending).writeAndFlush(Unpooled.wrappedBuffer(new byte[1]));
        Throwable cause = get(ending.how);
        assertInstanceOf(IOException.class, cause);
        assertTrue(cause.getMessage().contains("reset"), cause::getMessage);
    }

    @Test
    void closeByThePeer() throws Exception {
        Ending ending = new Ending();
        connect("close", ending).writeAndFlush(Unpooled.wrappedBuffer(new byte[1]));
        assertEquals(Ending.IN_ORDER, get(ending.how));
    }

    @Test
    void resetSeenByThePeer() throws Exception {
        SocketChannel channel = connectToWitness();
        channel.config().setSoLinger(0);
        channel.close().sync();
        String seen = child.next("witness");
        assertTrue(seen.contains("reset"), seen);
    }

    @Test
    void closeSeenByThePeer() throws Exception {
        connectToWitness().close().sync();
        assertEquals("end of stream", child.next("witness"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "custom-file"})
    void fileRegionFromThePeer(String server) throws Exception {
        PatternChecker checker = new PatternChecker(Long.MAX_VALUE);
        Channel channel = connect(server, checker);
        assertEquals(FILE_BYTES, get(checker.done()));
        channel.close().sync();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void fileRegionToThePeer(boolean custom) throws Exception {
        AtomicReference<SocketChannel> channel = new AtomicReference<>();
        Gather answer = new Gather(channel);
        connect("digest", answer);
        FileRegion region = new DefaultFileRegion(file, 0, FILE_BYTES);
        channel.get().writeAndFlush(custom ? new WrappedFileRegion(region) : region).sync();
        channel.get().shutdownOutput().sync();
        assertEquals(FILE_BYTES, get(answer.all).getLong(0));
        assertEquals(Integer.toString(FILE_BYTES), child.next("digest"));
        get(answer.inactive);
    }

    /** When the other process is killed under load, no write may wait forever, and the channel must become inactive. */
    @Test
    void deathOfThePeer() throws Exception {
        ChildProcess victim = new ChildProcess(file);
        CountDownLatch flows = new CountDownLatch(1);
        Ending ending = new Ending() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
                flows.countDown();
                super.channelRead(ctx, msg);
            }
        };
        Channel channel = connectTo(victim.port("echo"), ending);
        List<ChannelFuture> writes = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            writes.add(channel.writeAndFlush(Pattern.write(channel.alloc().buffer(MEBIBYTE), 0, MEBIBYTE)));
        }
        assertTrue(flows.await(LIMIT_SECONDS, TimeUnit.SECONDS), "no echo was received");
        victim.kill();
        assertTrue(channel.closeFuture().await(LIMIT_SECONDS, TimeUnit.SECONDS), "the channel is still active");
        for (ChannelFuture write : writes) {
            assertTrue(write.await(LIMIT_SECONDS, TimeUnit.SECONDS), "the write was never completed");
        }
        assertNotNull(get(ending.how));
        assertInstanceOf(IOException.class, assertThrows(ExecutionException.class,
            () -> channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[1])).get()).getCause());
        assertInstanceOf(IOException.class, assertThrows(ExecutionException.class,
            () -> bootstrap().handler(new ChannelInboundHandlerAdapter()).connect(NetUtil.LOCALHOST, victim.port("echo")).get())
            .getCause(), "no server listens on the port");
        // The next connection works.
        PatternChecker checker = new PatternChecker(1_000);
        Channel next = connect("echo", new PatternSender(1_000, 10, () -> { }), checker);
        assertEquals(1_000L, get(checker.done()));
        next.close().sync();
    }

    private static Bootstrap bootstrap() {
        Bootstrap bootstrap = new Bootstrap().group(group).channel(TestTransport.CURRENT.channel())
            .option(ChannelOption.ALLOW_HALF_CLOSURE, true);
        if (Permutations.ownAllocator()) {
            bootstrap.option(ChannelOption.ALLOCATOR, RpmaByteBufAllocator.DEFAULT);
        }
        return bootstrap;
    }

    private static Channel connect(String server, ChannelHandler... handlers) throws InterruptedException {
        return connectTo(child.port(server), handlers);
    }

    private static Channel connectTo(int port, ChannelHandler... handlers) throws InterruptedException {
        return bootstrap().handler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addLast(handlers);
            }
        }).connect(new InetSocketAddress(NetUtil.LOCALHOST, port)).sync().channel();
    }

    /** Returns a connection over which the greeting has arrived, so that the other side knows the connection too. */
    private static SocketChannel connectToWitness() throws Exception {
        CompletableFuture<Void> greeted = new CompletableFuture<>();
        SocketChannel channel = (SocketChannel) connect("witness", new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
                super.channelRead(ctx, msg);
                greeted.complete(null);
            }
        });
        get(greeted);
        return channel;
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    /** Collects the received bytes until the other side ends its stream. */
    private static final class Gather extends ChannelInboundHandlerAdapter {
        final CompletableFuture<ByteBuf> all = new CompletableFuture<>();
        final CompletableFuture<Void> inactive = new CompletableFuture<>();
        private final ByteBuf gathered = Unpooled.buffer();
        private final AtomicReference<SocketChannel> channel;

        Gather(AtomicReference<SocketChannel> channel) {
            this.channel = channel;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            channel.set((SocketChannel) ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf data = (ByteBuf) msg;
            gathered.writeBytes(data);
            data.release();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownReadComplete) {
                all.complete(gathered);
                if (channel.get().isOutputShutdown()) {
                    ctx.close();
                }
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            all.complete(gathered);
            inactive.complete(null);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            all.completeExceptionally(cause);
            inactive.completeExceptionally(cause);
        }
    }

    /** Records whether a connection ended by an exception or in order. */
    private static class Ending extends ChannelInboundHandlerAdapter {
        static final Throwable IN_ORDER = new Throwable("end of stream, no exception");

        final CompletableFuture<Throwable> how = new CompletableFuture<>();

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownReadComplete) {
                ctx.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            how.complete(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            how.complete(IN_ORDER);
        }
    }
}
