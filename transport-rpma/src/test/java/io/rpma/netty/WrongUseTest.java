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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.rpma.netty.ConnectedChannels.Kind;
import java.net.InetSocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests groups and channel types that do not go together, and options that RDMA cannot support. */
@Timeout(60)
class WrongUseTest {
    private static final InetSocketAddress LOOPBACK = new InetSocketAddress("127.0.0.1", 0);

    private final RpmaEventLoopGroup ours = new RpmaEventLoopGroup(1);

    @AfterEach
    void stop() {
        ours.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    static Stream<Named<Supplier<EventLoopGroup>>> foreign() {
        return Stream.of(
            Named.of("epoll", () -> new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory())),
            Named.of("NIO", () -> new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory())),
            Named.of("local", () -> new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory())));
    }

    private static ChannelHandler nothing() {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new ChannelInboundHandlerAdapter());
            }
        };
    }

    private static Throwable failure(Future<?> future) throws InterruptedException {
        assertTrue(future.await(30, TimeUnit.SECONDS), "the future was not completed");
        assertNotNull(future.cause(), "it succeeded");
        return assertInstanceOf(IllegalStateException.class, future.cause());
    }

    @ParameterizedTest
    @MethodSource("foreign")
    void ourChannelsOnTheLoopsOfAnotherTransport(Supplier<EventLoopGroup> groups) throws Exception {
        EventLoopGroup group = groups.get();
        try {
            var connecting = new Bootstrap().group(group).channel(RpmaChannel.class).handler(nothing()).connect("127.0.0.1", 7);
            assertEquals("RpmaChannel needs an event loop of RpmaEventLoopGroup, or of another group with"
                + " RpmaIoHandler.newFactory(), and was given one of " + group.getClass().getName() + " for another transport",
                failure(connecting).getMessage());
            assertFalse(connecting.channel().isOpen(), "the channel stayed open");
            var binding = new ServerBootstrap().group(group).channel(RpmaServerChannel.class).childHandler(nothing())
                .bind(LOOPBACK);
            assertTrue(failure(binding).getMessage().startsWith("RpmaServerChannel needs an event loop of RpmaEventLoopGroup"));
            assertFalse(binding.channel().isOpen(), "the channel stayed open");
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    @Test
    void anotherTransportsChannelsOnOurLoops() throws Exception {
        String words = "incompatible event loop type: io.rpma.netty.RpmaEventLoop";
        assertEquals(words, failure(new Bootstrap().group(ours).channel(NioSocketChannel.class).handler(nothing())
            .connect("127.0.0.1", 7)).getMessage());
        assertEquals(words, failure(new ServerBootstrap().group(ours).channel(NioServerSocketChannel.class)
            .childHandler(nothing()).bind(LOOPBACK)).getMessage());
    }

    /**
     * The channel type of the server is right, but the event loops of its children are not. The connection of each client is
     * closed.
     */
    @Test
    void aChildGroupOfAnotherTransport() throws Exception {
        EventLoopGroup epoll = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        try {
            Channel server = new ServerBootstrap().group(ours, epoll).channel(RpmaServerChannel.class).childHandler(nothing())
                .bind(LOOPBACK).sync().channel();
            for (int i = 0; i < 2; i++) {
                Channel client = new Bootstrap().group(ours).channel(RpmaChannel.class).handler(nothing())
                    .connect(server.localAddress()).sync().channel();
                assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS), "the connection stayed open");
            }
            server.close().sync();
        } finally {
            epoll.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    /**
     * Options that many users of Netty set on every channel are accepted and returned, although they have no effect with RDMA.
     */
    @Test
    void harmlessOptionsAreAccepted() {
        Map<ChannelOption<?>, Object> harmless = Map.of(ChannelOption.TCP_NODELAY, false, ChannelOption.SO_KEEPALIVE, true,
            ChannelOption.SO_REUSEADDR, true, ChannelOption.SO_RCVBUF, 4711, ChannelOption.SO_SNDBUF, 4711,
            ChannelOption.IP_TOS, 8, ChannelOption.SO_LINGER, 3);
        RpmaChannel channel = new RpmaChannel();
        assertTrue(channel.config().setOptions(harmless));
        harmless.forEach((option, value) -> assertEquals(value, channel.config().getOption(option), option::toString));
        channel.unsafe().closeForcibly();
        RpmaServerChannel server = new RpmaServerChannel();
        assertTrue(server.config().setOptions(Map.of(ChannelOption.SO_REUSEADDR, true, ChannelOption.SO_RCVBUF, 4711,
            ChannelOption.SO_BACKLOG, 7)));
        server.unsafe().closeForcibly();
    }

    /** Netty's bootstraps warn about an option that is not accepted, and go on. */
    @Test
    void otherOptionsAreNot() throws Exception {
        RpmaChannel channel = new RpmaChannel();
        for (ChannelOption<?> option : List.of(EpollChannelOption.TCP_CORK, ChannelOption.IP_MULTICAST_TTL,
                ChannelOption.SO_TIMEOUT)) {
            assertFalse(accepts(channel, option), option::toString);
            assertFalse(channel.config().getOptions().containsKey(option), option::toString);
        }
        channel.unsafe().closeForcibly();
        Channel server = new ServerBootstrap().group(ours).channel(RpmaServerChannel.class)
            .option(ChannelOption.SO_TIMEOUT, 7).childOption(EpollChannelOption.TCP_CORK, true)
            .childHandler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelActive(ChannelHandlerContext ctx) {
                    ctx.writeAndFlush(ctx.alloc().buffer().writeByte(1));
                }
            }).bind(LOOPBACK).sync().channel();
        var received = ours.next().<Object>newPromise();
        Channel client = new Bootstrap().group(ours).channel(RpmaChannel.class).option(EpollChannelOption.TCP_CORK, true)
            .handler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object message) {
                    ReferenceCountUtil.release(message);
                    received.trySuccess(message);
                }
            }).connect(server.localAddress()).sync().channel();
        assertTrue(received.await(30, TimeUnit.SECONDS), "nothing came");
        client.close().sync();
        server.close().sync();
    }

    /** A channel of messages has no half-close: if a write throws, the channel is closed, and its pipeline is notified. */
    @Test
    void aMessageThatIsReleasedTooEarlyClosesItsChannel() throws Exception {
        ConnectedChannels channels = new ConnectedChannels(ours, Kind.MESSAGES);
        Channel client = channels.client;
        CountDownLatch inactive = new CountDownLatch(1);
        client.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                inactive.countDown();
            }
        });
        ChannelFuture last = client.eventLoop().submit(() -> {
            ByteBuf message = RpmaByteBufAllocator.DEFAULT.directBuffer(4).writeInt(1);
            client.write(Unpooled.copyInt(0));
            ChannelFuture written = client.write(message);
            message.release();
            client.flush();
            return written;
        }).get();
        assertTrue(last.await(30, TimeUnit.SECONDS));
        assertInstanceOf(IllegalReferenceCountException.class, last.cause().getCause());
        assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS), "nobody is notified of the close");
        assertTrue(inactive.await(30, TimeUnit.SECONDS));
        assertTrue(channels.server.closeFuture().await(30, TimeUnit.SECONDS));
        client.eventLoop().submit(() -> { }).sync();
        assertFalse(client.isRegistered());
        channels.close();
    }

    /** As with TCP: the connection has a local address already. */
    @Test
    void aConnectedChannelCannotBeBound() throws Exception {
        ConnectedChannels channels = new ConnectedChannels(ours, Kind.STREAM);
        ChannelFuture binding = channels.client.bind(LOOPBACK);
        assertTrue(binding.await(30, TimeUnit.SECONDS));
        assertInstanceOf(AlreadyBoundException.class, binding.cause());
        assertTrue(channels.client.isActive());
        channels.close();
    }

    @SuppressWarnings("unchecked")
    private static boolean accepts(RpmaChannel channel, ChannelOption<?> option) {
        Object value = option == EpollChannelOption.TCP_CORK ? (Object) true : (Object) 7;
        return channel.config().setOption((ChannelOption<Object>) option, value);
    }
}
