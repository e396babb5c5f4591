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

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.NetUtil;
import io.rpma.CompletionQueue;
import io.rpma.WorkCompletions;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.stream.Handshake;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that a loop which is shut down closes its channels, at whatever point of its turn it learns of the shutdown. */
@Timeout(60)
class ShutdownTest {
    private static final int CONNECTIONS = 50;
    private static final int MESSAGE_CONNECTIONS = 20;
    /** Four fifths of the time that the connections would take if each of them took half a second. */
    private static final long MOST_MILLIS = CONNECTIONS * 400;

    /** Records the channels that became active, and those that became inactive. */
    @Sharable
    private static final class Life extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<Channel> active = new LinkedBlockingQueue<>();
        private final BlockingQueue<Channel> inactive = new LinkedBlockingQueue<>();

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            active.add(ctx.channel());
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            inactive.add(ctx.channel());
        }
    }

    /** Returns a server channel, a client's channel and the server's child of it, all on the only loop of the group. */
    private static List<Channel> open(EventLoopGroup group, Life life) throws Exception {
        List<Channel> channels = new ArrayList<>();
        channels.add(new ServerBootstrap().group(group).channel(RpmaServerChannel.class).childHandler(life)
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel());
        channels.add(new Bootstrap().group(group).channel(RpmaChannel.class).handler(life)
            .connect(channels.get(0).localAddress()).sync().channel());
        for (int i = 0; i < 2; i++) {
            Channel active = life.active.poll(20, TimeUnit.SECONDS);
            if (active != channels.get(1)) {
                channels.add(active);
            }
        }
        return channels;
    }

    /**
     * Shuts the group down in a task of its loop. In that turn the loop has already decided not to prepare for the shutdown, and
     * it terminates before another turn begins.
     */
    private static void shutDownInTheMiddleOfATurn(EventLoopGroup group) throws InterruptedException {
        group.next().execute(() -> group.shutdownGracefully(0, 5, TimeUnit.SECONDS));
        group.terminationFuture().sync();
    }

    private static void assertThatAllAreClosed(EventLoopGroup group) throws Exception {
        Life life = new Life();
        List<Channel> channels = open(group, life);
        shutDownInTheMiddleOfATurn(group);
        for (Channel channel : channels) {
            assertTrue(channel.closeFuture().isDone(), channel::toString);
        }
        assertTrue(life.inactive.containsAll(channels.subList(1, 3)), life.inactive::toString);
    }

    @Test
    void aShutdownInTheMiddleOfATurnClosesTheChannelsAndTellsTheirPipelines() throws Exception {
        assertThatAllAreClosed(new RpmaEventLoopGroup(1));
    }

    @Test
    void aShutdownOfAGroupOfNettysOwnClassDoesTheSame() throws Exception {
        assertThatAllAreClosed(new MultiThreadIoEventLoopGroup(1, RpmaIoHandler.newFactory()));
    }

    /**
     * Each connection has sent more messages than its peer has receives, so its sends never complete. All connections together
     * take no longer than one.
     */
    @Test
    void manyConnectionsWhosePeersTakeNothingDoNotHoldUpTheShutdown() throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        List<RawPeer> peers = new ArrayList<>();
        List<Channel> channels = new ArrayList<>();
        try {
            for (int i = 0; i < CONNECTIONS; i++) {
                RawPeer peer = new RawPeer();
                peers.add(peer);
                ChannelFuture connecting = new Bootstrap().group(group).channel(RpmaChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(peer.listen());
                peer.accept(new Handshake(Handshake.MINOR, 0, 16 << 10, 2 * RawPeer.SLOTS, 0).encode());
                Channel channel = connecting.sync().channel();
                channels.add(channel);
                for (int j = 0; j <= RawPeer.SLOTS; j++) {
                    channel.writeAndFlush(Unpooled.copyInt(j)).sync();
                }
            }
            long start = System.nanoTime();
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            for (Channel channel : channels) {
                assertTrue(channel.closeFuture().isDone(), channel::toString);
            }
            assertTrue(millis < MOST_MILLIS, () -> CONNECTIONS + " connections took " + millis + " ms");
        } finally {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            for (RawPeer peer : peers) {
                peer.close();
            }
        }
    }

    /**
     * Each connection has sent more messages than its peer has receives, so the last message is never delivered. All connections
     * together take no longer than one, all promises are completed, and all pipelines are notified of the end.
     */
    @Test
    void manyMessageChannelsWhosePeersTakeNothingDoNotHoldUpTheShutdown() throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        EventLoopGroup peers = new RpmaEventLoopGroup(1);
        Life life = new Life();
        List<Channel> channels = new ArrayList<>();
        List<ChannelFuture> waiting = new ArrayList<>();
        try {
            Channel server = new ServerBootstrap().group(peers).channel(RpmaMessageServerChannel.class)
                .childOption(ChannelOption.AUTO_READ, false)
                .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1)
                .childHandler(new Life())
                .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            for (int i = 0; i < MESSAGE_CONNECTIONS; i++) {
                Channel channel = new Bootstrap().group(group).channel(RpmaMessageChannel.class).handler(life)
                    .connect(server.localAddress()).sync().channel();
                channels.add(channel);
                channel.writeAndFlush(Unpooled.copyInt(0)).sync();
                waiting.add(channel.writeAndFlush(Unpooled.copyInt(1)));
                waiting.add(channel.write(Unpooled.copyInt(2)));
            }
            long start = System.nanoTime();
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            for (Channel channel : channels) {
                assertTrue(channel.closeFuture().isDone(), channel::toString);
            }
            for (ChannelFuture each : waiting) {
                assertInstanceOf(ClosedChannelException.class, each.cause());
            }
            assertTrue(life.inactive.containsAll(channels), life.inactive::toString);
            assertTrue(millis < MESSAGE_CONNECTIONS * 400, () -> MESSAGE_CONNECTIONS + " connections took " + millis + " ms");
        } finally {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            peers.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        }
    }

    /** A handle whose registration is cancelled by another thread while the loop terminates. */
    private static final class CancelledElsewhere implements RpmaIoHandle {
        private IoRegistration registration;
        private Throwable failure;

        @Override
        public boolean hasEvents() {
            return false;
        }

        @Override
        public int[] eventFds(Runnable ready) {
            return new int[0];
        }

        @Override
        public void eventsReady() {
            // This handle has no events.
        }

        @Override
        public CompletionQueue completionQueue() {
            return null;
        }

        @Override
        public int poll(WorkCompletions batch) {
            return 0;
        }

        @Override
        public void close() {
            // The handle stays registered until the loop terminates.
        }

        @Override
        public void destroy() {
            Thread other = new Thread(registration::cancel);
            other.setUncaughtExceptionHandler((thread, e) -> failure = e);
            other.start();
            try {
                other.join();
            } catch (InterruptedException e) {
                failure = e;
            }
        }
    }

    @Test
    void aRegistrationThatAnotherThreadCancelsDoesNotKeepTheLoop() throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        CancelledElsewhere handle = new CancelledElsewhere();
        handle.registration = ((IoEventLoop) group.next()).register(handle).sync().getNow();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        assertTrue(group.terminationFuture().await(20, TimeUnit.SECONDS));
        assertNull(handle.failure);
    }
}
