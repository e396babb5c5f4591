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
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.NetUtil;
import io.rpma.Device;
import io.rpma.MemoryUsage;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.netty.ConnectedChannels.Kind;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests private data that is computed when the device of a connection is known. */
@Timeout(60)
class PrivateDataFactoryTest {
    private RpmaEventLoopGroup group;
    private ConnectedChannels channels;

    @BeforeEach
    void start() {
        group = new RpmaEventLoopGroup(1);
    }

    @AfterEach
    void stop() {
        if (channels != null) {
            channels.close();
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private Channel listen(RpmaPrivateDataFactory factory) throws InterruptedException {
        return new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .option(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, factory)
            .childHandler(new ConnectedChannels.End()).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
    }

    private Bootstrap client(RpmaPrivateDataFactory factory) {
        return new Bootstrap().group(group).channel(RpmaMessageChannel.class).handler(new ChannelInboundHandlerAdapter())
            .option(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, factory);
    }

    /** The server reads the memory of each client that connects, as in the examples 03 and 06 of librpma. */
    @Test
    void clientsLendMemoryInTheirRequests() throws Exception {
        BlockingQueue<RpmaMessageChannel> accepted = new LinkedBlockingQueue<>();
        Channel listener = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter() {
                @Override
                public boolean isSharable() {
                    return true;
                }

                @Override
                public void channelActive(ChannelHandlerContext ctx) {
                    accepted.add((RpmaMessageChannel) ctx.channel());
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        List<RpmaRegion> lent = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            RpmaRegion region = RpmaRegion.allocate(4096, MemoryUsage.READ_SRC);
            lent.add(region);
            region.memory().set(ValueLayout.JAVA_LONG, 8, 1000 + i);
            Channel client = client(region::descriptor).connect(listener.localAddress()).sync().channel();
            RpmaMessageChannel server = accepted.poll(20, TimeUnit.SECONDS);
            RpmaRemoteRegion remote = RpmaRemoteRegion.open(server.peerPrivateData());
            ByteBuf read = server.alloc().directBuffer(8);
            server.writeAndFlush(RpmaOperation.read(remote, 8, 8, read)).sync();
            assertEquals(1000 + i, read.readLongLE());
            read.release();
            remote.release();
            client.close().sync();
        }
        lent.forEach(RpmaRegion::release);
    }

    @Test
    void theFactoryIsAskedOnceForEachConnectionWithItsDevice() throws Exception {
        List<Device> atServer = new CopyOnWriteArrayList<>();
        List<Device> atClient = new CopyOnWriteArrayList<>();
        Channel listener = listen(device -> {
            atServer.add(device);
            return ByteBuffer.wrap(new byte[] {(byte) atServer.size()});
        });
        assertEquals(1, atServer.size(), "the factory is also called when the channel is bound, so that an error fails the bind");
        for (int i = 1; i <= 3; i++) {
            RpmaMessageChannel connected = (RpmaMessageChannel) client(device -> {
                atClient.add(device);
                return ByteBuffer.allocate(0);
            }).connect(listener.localAddress()).sync().channel();
            assertEquals(i, atClient.size());
            assertEquals(i + 1, atServer.size());
            assertEquals(i + 1, connected.peerPrivateData().get(0));
            assertSame(ChannelFabric.of(connected).device(), atClient.get(i - 1));
            assertSame(ChannelFabric.of(listener).device(), atServer.get(i));
            connected.close().sync();
        }
    }

    /** The returned bytes are copied, so the factory may change them afterwards. The position of its buffer is not moved. */
    @Test
    void whatTheFactoryReturnedIsCopied() throws Exception {
        ByteBuffer own = ByteBuffer.wrap(new byte[] {1, 2, 3, 4}).position(1);
        Channel listener = listen(device -> own);
        RpmaMessageChannel connected = (RpmaMessageChannel) client(device -> ByteBuffer.allocate(0))
            .connect(listener.localAddress()).sync().channel();
        assertEquals(ByteBuffer.wrap(new byte[] {2, 3, 4}), connected.peerPrivateData().slice(0, 3));
        assertEquals(1, own.position());
    }

    static Stream<Arguments> badFactories() {
        return Stream.of(
            arguments((RpmaPrivateDataFactory) device -> null, "it returned null; return an empty buffer for none"),
            arguments((RpmaPrivateDataFactory) device -> ByteBuffer.allocate(197), "it returned 197 bytes; allowed are 0 to "),
            arguments((RpmaPrivateDataFactory) device -> {
                throw new IllegalStateException("no region yet");
            }, "no region yet"),
            arguments((RpmaPrivateDataFactory) device -> {
                throw new AssertionError("not expected");
            }, "not expected"),
            arguments((RpmaPrivateDataFactory) device -> {
                throw new RpmaException(RpmaError.NO_MEMORY, "cannot register");
            }, "cannot register"));
    }

    @ParameterizedTest
    @MethodSource("badFactories")
    void aFactoryThatFailsFailsTheConnect(RpmaPrivateDataFactory bad, String words) throws Exception {
        Channel listener = listen(device -> ByteBuffer.allocate(1));
        // The first connect happens before it is known that a device reaches the address, the second one after.
        for (int i = 0; i < 2; i++) {
            ChannelFuture connect = client(bad).connect(listener.localAddress()).await();
            assertInstanceOf(ConnectException.class, connect.cause());
            assertTrue(connect.cause().getMessage().contains("RPMA_PRIVATE_DATA_FACTORY failed for the device "),
                connect.cause().getMessage());
            assertTrue(connect.cause().getMessage().contains(words), connect.cause().getMessage());
            connect.channel().closeFuture().sync();
            client(device -> ByteBuffer.allocate(56)).connect(listener.localAddress()).sync().channel().close().sync();
        }
    }

    @ParameterizedTest
    @MethodSource("badFactories")
    void aFactoryThatFailsFailsTheBind(RpmaPrivateDataFactory bad, String words) throws Exception {
        ChannelFuture bind = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .option(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, bad)
            .childHandler(new ConnectedChannels.End()).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).await();
        assertInstanceOf(IOException.class, bind.cause());
        assertTrue(bind.cause().getMessage().contains(words), bind.cause().getMessage());
    }

    @ParameterizedTest
    @MethodSource("badFactories")
    void aFactoryThatFailsLaterFailsOneClientAlone(RpmaPrivateDataFactory bad, String words) throws Exception {
        AtomicReference<RpmaPrivateDataFactory> current = new AtomicReference<>(device -> ByteBuffer.allocate(1));
        BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        Channel listener = listen(device -> current.get().newPrivateData(device));
        listener.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                failures.add(cause);
            }
        });
        current.set(bad);
        ChannelFuture refused = client(device -> ByteBuffer.allocate(0)).connect(listener.localAddress()).await();
        assertFalse(refused.isSuccess());
        Throwable told = failures.poll(20, TimeUnit.SECONDS);
        assertNotNull(told);
        assertTrue(told.getMessage().contains(words), told.getMessage());
        current.set(device -> ByteBuffer.allocate(196));
        client(device -> ByteBuffer.allocate(0)).connect(listener.localAddress()).sync();
    }

    /** The client that is being accepted must not stay connected to a server that nobody can reach any more. */
    @Test
    void aFactoryMayCloseTheServerChannel() throws Exception {
        AtomicReference<Channel> closing = new AtomicReference<>();
        Channel listener = listen(device -> {
            Channel server = closing.get();
            if (server != null) {
                server.close();
            }
            return ByteBuffer.allocate(1);
        });
        closing.set(listener);
        ChannelFuture connect = client(device -> ByteBuffer.allocate(0)).connect(listener.localAddress());
        assertTrue(connect.await(20, TimeUnit.SECONDS));
        assertTrue(listener.closeFuture().await(20, TimeUnit.SECONDS));
        assertTrue(connect.channel().closeFuture().await(20, TimeUnit.SECONDS), "the client is still connected");
    }

    @Test
    void theFactoryComesBeforeTheBytes() throws Exception {
        channels = new ConnectedChannels(group, Kind.MESSAGES,
            server -> server.option(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, device -> ByteBuffer.wrap(new byte[] {2}))
                .option(RpmaChannelOption.RPMA_PRIVATE_DATA, ByteBuffer.wrap(new byte[] {1})),
            client -> { });
        assertEquals(2, ((RpmaMessageChannel) channels.client).peerPrivateData().get(0));
    }
}
