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

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import io.rpma.ConnectionEvent;
import io.rpma.netty.pair.OpenPairs;
import io.rpma.netty.stream.Handshake;
import io.rpma.netty.stream.Immediate;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests streams that no event loop uses, because their server does not accept them or the application has deregistered their
 * channels. Whatever their peers send, the other streams that share receives with them continue.
 */
@Timeout(90)
class UnusedStreamsTest {
    private static final int DATA = Immediate.of(Immediate.DATA, 0);
    private static final int CREDITS = StreamOptions.DEFAULT_CREDITS;
    /** So many clients that one receive for each of their credits would be more receives than the queue of a loop has. */
    private static final int CROWD = 80;

    private static long firstChildMillis;

    private RpmaEventLoopGroup listeners;
    private RpmaEventLoopGroup children;
    private RpmaEventLoopGroup clients;
    private Channel server;
    private Channel first;
    private Channel working;
    private final Echo echo = new Echo();

    /** Sends everything back, and records failures. */
    @ChannelHandler.Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<RpmaChannel> active = new LinkedBlockingQueue<>();
        private final Map<Channel, CompletableFuture<Throwable>> failures = new ConcurrentHashMap<>();

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            active.add((RpmaChannel) ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            // If the connection has ended, the write fails, and closes the channel after the last message that was received.
            ctx.writeAndFlush(msg).addListener(written -> {
                if (!written.isSuccess()) {
                    failed(ctx.channel()).complete(written.cause());
                }
            });
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failed(ctx.channel()).complete(cause);
        }

        /** Returns the future that is completed with the first failure of a channel. */
        private CompletableFuture<Throwable> failed(Channel channel) {
            return failures.computeIfAbsent(channel, any -> new CompletableFuture<>());
        }
    }

    /** Collects the bytes that it reads. */
    private static final class Collector extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<Byte> bytes = new LinkedBlockingQueue<>();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf buf = (ByteBuf) msg;
            while (buf.isReadable()) {
                bytes.add(buf.readByte());
            }
            buf.release();
        }
    }

    /** On a busy machine, the first child may take longer than the others wait for it. */
    @BeforeAll
    static void waitForTheFirstChild() {
        firstChildMillis = FirstChild.waitMillis;
        FirstChild.waitMillis = 60_000;
    }

    @AfterAll
    static void waitAsBefore() {
        FirstChild.waitMillis = firstChildMillis;
    }

    /** Connects two clients. The child of the second one receives in the queue of its loop. */
    @BeforeEach
    void start() throws Exception {
        listeners = new RpmaEventLoopGroup(1);
        children = new RpmaEventLoopGroup(1);
        clients = new RpmaEventLoopGroup(1);
        server = new ServerBootstrap().group(listeners, children).channel(RpmaServerChannel.class)
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, 512).childHandler(echo)
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        first = connect();
        child();
        working = connect();
        RpmaChannel child = child();
        assertSame(child.eventLoop(), child.home());
        exchange(working, 1);
    }

    @AfterEach
    void stop() {
        for (RpmaEventLoopGroup group : List.of(clients, children, listeners)) {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private Channel connect() throws InterruptedException {
        return new Bootstrap().group(clients).channel(RpmaChannel.class)
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, 1024).handler(new Collector())
            .connect(server.localAddress()).sync().channel();
    }

    private void connect(RawPeer peer, boolean prefixed) throws Exception {
        Handshake handshake = new Handshake(Handshake.MINOR, 0, 512, RawPeer.SLOTS / 2, 0, prefixed, ByteBuffer.allocate(0));
        assertEquals(ConnectionEvent.ESTABLISHED, peer.connect((InetSocketAddress) server.localAddress(), handshake.encode()));
    }

    private RpmaChannel child() throws InterruptedException {
        RpmaChannel child = echo.active.poll(20, TimeUnit.SECONDS);
        assertNotNull(child, "a connection is missing");
        return child;
    }

    private static void expect(Channel client, int value) throws InterruptedException {
        Byte next = client.pipeline().get(Collector.class).bytes.poll(20, TimeUnit.SECONDS);
        assertNotNull(next, () -> "byte " + value + " was not received");
        assertEquals((byte) value, next);
    }

    private static void exchange(Channel client, int value) throws InterruptedException {
        client.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {(byte) value})).sync();
        expect(client, value);
    }

    /** Lets the server accept no more channels, although connections are still established. */
    private void pauseAccepting() throws InterruptedException {
        server.config().setAutoRead(false);
        // A read that is requested already is cancelled by a task of the loop.
        server.eventLoop().submit(() -> { }).sync();
    }

    /** Lets a peer send more messages than all receives that are posted, and checks that another stream continues. */
    private void flood(RawPeer peer, int bytes, int immediate) throws Exception {
        for (int round = 0; round < 8; round++) {
            for (int i = 0; i < RawPeer.SLOTS - 1; i++) {
                peer.send(bytes, immediate);
            }
            if (round > 0) {
                exchange(working, round);
            }
            peer.awaitSends();
        }
        exchange(working, 99);
    }

    private void assertViolated(RpmaChannel child, RawPeer peer) throws Exception {
        assertTrue(child.closeFuture().await(20, TimeUnit.SECONDS));
        assertInstanceOf(ProtocolException.class, echo.failed(child).get(20, TimeUnit.SECONDS).getCause());
        assertEquals(ConnectionEvent.CLOSED, peer.nextEvent());
        exchange(working, 100);
    }

    @Test
    void aPeerInTheBacklogThatIgnoresItsCreditsDelaysNoOther() throws Exception {
        pauseAccepting();
        try (RawPeer peer = new RawPeer()) {
            connect(peer, RawPeer.isPrefixed());
            flood(peer, 1, DATA);
            server.config().setAutoRead(true);
            assertViolated(child(), peer);
        }
    }

    /** Messages that take no credit are counted as well. */
    @Test
    void aPeerInTheBacklogThatSendsMessagesWithoutDataDelaysNoOther() throws Exception {
        pauseAccepting();
        try (RawPeer peer = new RawPeer()) {
            connect(peer, RawPeer.isPrefixed());
            flood(peer, 0, Immediate.of(Immediate.FIN, 0));
            server.config().setAutoRead(true);
            assertViolated(child(), peer);
        }
    }

    @Test
    void aPeerOfADeregisteredChannelThatIgnoresItsCreditsDelaysNoOther() throws Exception {
        RpmaEventLoopGroup others = new RpmaEventLoopGroup(1);
        try (RawPeer peer = new RawPeer()) {
            connect(peer, RawPeer.isPrefixed());
            RpmaChannel child = child();
            child.deregister().sync();
            flood(peer, 1, DATA);
            EventLoop other = others.next();
            other.register(child).sync();
            assertViolated(child, peer);
        } finally {
            others.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    /** The connection of a peer that has ignored its credits can be closed without having been used. */
    @Test
    void aPeerThatIgnoresItsCreditsLeavesNothingInTheBacklogOfAClosedServer() throws Exception {
        int open = OpenPairs.count();
        pauseAccepting();
        try (RawPeer peer = new RawPeer()) {
            connect(peer, RawPeer.isPrefixed());
            flood(peer, 1, DATA);
            server.close().sync();
            assertEquals(ConnectionEvent.CLOSED, peer.nextEvent());
            OpenPairs.awaitOpen(open);
        }
        exchange(working, 101);
    }

    /** The peers follow the protocol. All of them together may send more messages than the queue of the loop has receives. */
    @Test
    void manyPeersInTheBacklogDelayNoOtherAndLoseNothing() throws Exception {
        pauseAccepting();
        List<Channel> waiting = new ArrayList<>();
        try (RawPeer prefixed = new RawPeer().prefixed()) {
            for (int i = 0; i < CROWD; i++) {
                Channel client = connect();
                waiting.add(client);
                for (int k = 0; k < CREDITS; k++) {
                    client.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {(byte) (i + k)})).sync();
                }
            }
            // These messages begin with their 32 bits, which move together with the data.
            connect(prefixed, true);
            byte[] data = {3, 1, 4, 1, 5};
            prefixed.send(data, DATA);
            prefixed.send(0, Immediate.of(Immediate.FIN, 0));
            exchange(working, 2);
            prefixed.awaitSends();
            server.config().setAutoRead(true);
            for (int i = 0; i < CROWD; i++) {
                for (int k = 0; k < CREDITS; k++) {
                    expect(waiting.get(i), i + k);
                }
            }
            assertEquals(Immediate.DATA, Immediate.kind(prefixed.receive()));
            assertEquals(data.length, prefixed.receivedBytes());
            assertArrayEquals(data, prefixed.received(data.length));
        }
        for (Channel client : waiting) {
            exchange(client, 7);
            client.close().sync();
        }
        assertEquals(Map.of(), echo.failures);
    }
}
