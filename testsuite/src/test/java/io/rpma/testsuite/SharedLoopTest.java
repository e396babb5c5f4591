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
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.DatagramPacket;
import io.netty.util.NetUtil;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests epoll's TCP and UDP channels and RPMA channels on the same loops of one {@link RpmaEventLoopGroup}, all of them busy at
 * once.
 */
@Timeout(300)
class SharedLoopTest {
    private static final int LIMIT_SECONDS = 100;
    private static final long STREAM_BYTES = 8L << 20;
    private static final int ROUND_TRIPS = 2_000;
    /** The limit is far more than a turn of the loop takes on a busy machine. The bulk stream does not finish before. */
    private static final long SLOWEST_ROUND_TRIP_NANOS = TimeUnit.SECONDS.toNanos(30);

    private EventLoopGroup group;

    @AfterEach
    void end() throws InterruptedException {
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    /** With one loop, it has both ends of all connections. With three, the connections are assigned to them in turn. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void streamsAndDatagramsTogether(int loops) throws Exception {
        group = new RpmaEventLoopGroup(loops);
        PatternChecker rpma = new PatternChecker(STREAM_BYTES);
        PatternChecker tcp = new PatternChecker(STREAM_BYTES);
        Channel rpmaServer = listen(RpmaServerChannel.class, EchoHandler::new);
        Channel tcpServer = listen(EpollServerSocketChannel.class, EchoHandler::new);
        DatagramPinger udp = ping();
        Channel rpmaClient = connect(RpmaChannel.class, rpmaServer, new PatternSender(STREAM_BYTES, 60_000, () -> { }), rpma);
        Channel tcpClient = connect(EpollSocketChannel.class, tcpServer, new PatternSender(STREAM_BYTES, 60_000, () -> { }), tcp);
        assertEquals(STREAM_BYTES, get(rpma.done()));
        assertEquals(STREAM_BYTES, get(tcp.done()));
        assertEquals(ROUND_TRIPS, get(udp.done));
        if (loops == 1) {
            Set<Object> used = new HashSet<>(List.of(rpmaServer.eventLoop(), tcpServer.eventLoop(), udp.loop));
            used.add(rpmaClient.eventLoop());
            used.add(tcpClient.eventLoop());
            assertEquals(1, used.size(), "all channels are on one loop");
        }
    }

    /** No kind of channel starves another one on the loop that they share, whichever of them is busy. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void smallMessagesBesideABulkStream(boolean rpmaIsBusy) throws Exception {
        group = new RpmaEventLoopGroup(1);
        Class<? extends ServerChannel> busyServer = rpmaIsBusy ? RpmaServerChannel.class : EpollServerSocketChannel.class;
        Class<? extends Channel> busyClient = rpmaIsBusy ? RpmaChannel.class : EpollSocketChannel.class;
        Class<? extends ServerChannel> smallServer = rpmaIsBusy ? EpollServerSocketChannel.class : RpmaServerChannel.class;
        Class<? extends Channel> smallClient = rpmaIsBusy ? EpollSocketChannel.class : RpmaChannel.class;
        // This connection is busy until the small messages have been exchanged.
        PatternChecker bulk = new PatternChecker(Long.MAX_VALUE);
        Channel busy = connect(busyClient, listen(busyServer, EchoHandler::new),
            new PatternSender(Long.MAX_VALUE, 200_000, () -> { }), bulk);
        StreamPinger pinger = new StreamPinger();
        connect(smallClient, listen(smallServer, EchoHandler::new), pinger);
        List<Long> nanos = get(pinger.roundTrips);
        busy.close().sync();
        assertTrue(get(bulk.done()) > 0, "the bulk stream has transferred data");
        long slowest = nanos.stream().mapToLong(Long::longValue).max().orElseThrow();
        assertTrue(slowest < SLOWEST_ROUND_TRIP_NANOS, () -> "slowest round trip: " + slowest + " ns");
    }

    private Channel listen(Class<? extends ServerChannel> type, Supplier<ChannelHandler> handler)
            throws InterruptedException {
        return new ServerBootstrap().group(group).channel(type).childHandler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addLast(handler.get());
            }
        }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
    }

    private Channel connect(Class<? extends Channel> type, Channel server, ChannelHandler... handlers)
            throws InterruptedException {
        return new Bootstrap().group(group).channel(type).handler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addLast(handlers);
            }
        }).connect(server.localAddress()).sync().channel();
    }

    private DatagramPinger ping() throws InterruptedException {
        Channel answers = datagrams(new SimpleChannelInboundHandler<DatagramPacket>() {
            @Override
            protected void channelRead0(ChannelHandlerContext ctx, DatagramPacket packet) {
                ctx.writeAndFlush(new DatagramPacket(packet.content().retain(), packet.sender()));
            }
        });
        DatagramPinger pinger = new DatagramPinger((InetSocketAddress) answers.localAddress());
        Channel asks = datagrams(pinger);
        pinger.loop = asks.eventLoop();
        asks.eventLoop().execute(() -> pinger.send(asks));
        return pinger;
    }

    private Channel datagrams(ChannelHandler handler) throws InterruptedException {
        return new Bootstrap().group(group).channel(EpollDatagramChannel.class).handler(handler)
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    /** Sends one datagram at a time, so that none is dropped by the loopback interface. */
    private static final class DatagramPinger extends SimpleChannelInboundHandler<DatagramPacket> {
        final CompletableFuture<Integer> done = new CompletableFuture<>();
        private final InetSocketAddress target;
        private Object loop;
        private int answered;

        DatagramPinger(InetSocketAddress target) {
            this.target = target;
        }

        void send(Channel channel) {
            channel.writeAndFlush(new DatagramPacket(channel.alloc().buffer(Integer.BYTES).writeInt(answered), target));
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, DatagramPacket packet) {
            int number = packet.content().readInt();
            if (number != answered) {
                done.completeExceptionally(new IllegalStateException("answer " + number + " instead of " + answered));
            } else if (++answered == ROUND_TRIPS) {
                done.complete(answered);
            } else {
                send(ctx.channel());
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            done.completeExceptionally(cause);
        }
    }

    /** Measures round trips of eight bytes. */
    private static final class StreamPinger extends SimpleChannelInboundHandler<ByteBuf> {
        final CompletableFuture<List<Long>> roundTrips = new CompletableFuture<>();
        private final List<Long> nanos = new ArrayList<>();
        private int pending;
        private long started;

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            send(ctx);
        }

        private void send(ChannelHandlerContext ctx) {
            pending = Long.BYTES;
            started = System.nanoTime();
            ctx.writeAndFlush(ctx.alloc().buffer(Long.BYTES).writeLong(started));
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) {
            pending -= data.readableBytes();
            if (pending == 0) {
                nanos.add(System.nanoTime() - started);
                if (nanos.size() == ROUND_TRIPS) {
                    roundTrips.complete(nanos);
                } else {
                    send(ctx);
                }
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            roundTrips.completeExceptionally(cause);
        }
    }
}
