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
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import io.rpma.Rpma;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Tests the differences of iWARP devices. Skipped on other devices; {@code testsuite/softroce/verify.sh siw} runs it. */
@Timeout(60)
class IwarpTest {
    private static final int MESSAGES = 60;

    private RpmaEventLoopGroup group;
    private ConnectedChannels channels;
    // The buffer that is being compared.
    private ByteBuf received = Unpooled.EMPTY_BUFFER;

    @BeforeEach
    void start() throws Exception {
        assumeTrue(Rpma.provider().localDevice(Rpma.provider().reachable(NetUtil.LOCALHOST)).isIwarp(), "not an iWARP device");
        group = new RpmaEventLoopGroup(2);
    }

    @AfterEach
    void stop() {
        received.release();
        if (channels != null) {
            channels.close();
        }
        if (group != null) {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private void connect() throws InterruptedException {
        // On iWARP, a message without a receive ends the connection, so there are enough receives.
        channels = new ConnectedChannels(group, ConnectedChannels.Kind.MESSAGES,
            server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, MESSAGES),
            client -> client.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, MESSAGES));
    }

    private static void assertNumber(int number, Object message) {
        ByteBuf buf = assertInstanceOf(ByteBuf.class, message);
        assertEquals(number, buf.readInt());
        buf.release();
    }

    @Test
    void immediateDataCostsOnlyItsOwnPromise() throws Exception {
        connect();
        ChannelFuture before = channels.client.write(Unpooled.copyInt(1));
        ChannelFuture with = channels.client.write(new RpmaMessage(Unpooled.copyInt(2), 3));
        ChannelFuture after = channels.client.writeAndFlush(Unpooled.copyInt(4));
        before.sync();
        after.sync();
        Throwable cause = with.await().cause();
        assertEquals(RpmaError.NOT_SUPPORTED, assertInstanceOf(RpmaException.class, cause).error());
        assertTrue(cause.getMessage().contains("does not support immediate data, like every iWARP device: write the bytes"
            + " without it"),
            cause.getMessage());
        assertNumber(1, channels.atServer.next());
        assertNumber(4, channels.atServer.next());
    }

    /** If a channel closes after its promises have succeeded, no data is lost and neither end gets a failure. */
    @Test
    void anOrderlyGoodbyeLosesNothingAndIsNoFailure() throws Exception {
        for (int round = 0; round < 20; round++) {
            connect();
            List<ChannelFuture> writes = new ArrayList<>();
            for (int i = 0; i < MESSAGES; i++) {
                writes.add(channels.client.write(Unpooled.copyInt(i)));
            }
            channels.client.flush();
            for (ChannelFuture write : writes) {
                write.sync();
            }
            channels.client.close().sync();
            for (int i = 0; i < MESSAGES; i++) {
                assertNumber(i, channels.atServer.next());
            }
            assertTrue(channels.server.closeFuture().await(20, TimeUnit.SECONDS));
            assertEquals(List.of(), channels.atServer.allFailures());
            assertEquals(List.of(), channels.atClient.allFailures());
            channels.close();
        }
    }

    /**
     * The memory of a message may be used again when it has completed, although TCP may not have delivered the message. In this
     * test and the next two, all packets to the server are lost until the memory has been overwritten.
     */
    @Test
    void messageBufferMayChangeAfterItWasReleased() throws Exception {
        int bytes = 8192;
        channels = new ConnectedChannels(group, ConnectedChannels.Kind.MESSAGES,
            server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, bytes),
            client -> client.option(RpmaChannelOption.RPMA_PEER_RECEIVE_BUFFER_BYTES, bytes));
        ByteBuf sent = RpmaByteBufAllocator.DEFAULT.directBuffer(bytes);
        withoutNetwork(() -> {
            // Only the second message would be signalled on other devices.
            channels.client.write(filled(sent, 1).retainedDuplicate());
            channels.client.writeAndFlush(Unpooled.copyInt(1));
            awaitRelease(sent, 1);
            filled(sent, 2);
        });
        assertReceived(bytes, 1);
        sent.release();
    }

    /** A stream copies data to messages, whose memory it uses again. */
    @Test
    void streamMessagesMayBeUsedAgainAfterTheirCompletion() throws Exception {
        channels = new ConnectedChannels(group, ConnectedChannels.Kind.STREAM);
        int bytes = 100_000;
        withoutNetwork(() -> {
            // Each write takes two messages. Only the second one would be signalled on other devices.
            for (int i = 0; i < 5; i++) {
                channels.client.writeAndFlush(filled(Unpooled.buffer(bytes), i)).sync();
            }
        });
        for (int i = 0; i < 5; i++) {
            assertReceived(bytes, i);
        }
    }

    /** A stream writes large data from a buffer that nobody else holds to the memory of the server, without a copy. */
    @Test
    void largeDataMayChangeAfterItWasReleased() throws Exception {
        channels = new ConnectedChannels(group, ConnectedChannels.Kind.STREAM);
        int bytes = 1 << 20;
        RpmaChannel client = (RpmaChannel) channels.client;
        // The server grants memory for large data when it has received some in messages.
        while (client.counters().bulkSent() == 0) {
            client.writeAndFlush(filled(RpmaByteBufAllocator.DEFAULT.directBuffer(bytes), 1)).sync();
            assertReceived(bytes, 1);
        }
        long before = client.counters().bulkSent();
        withoutNetwork(() -> {
            ByteBuf sent = filled(RpmaByteBufAllocator.DEFAULT.directBuffer(bytes), 2);
            long address = sent.memoryAddress();
            client.writeAndFlush(sent);
            awaitRelease(sent, 0);
            List<ByteBuf> others = new ArrayList<>();
            do {
                others.add(filled(RpmaByteBufAllocator.DEFAULT.directBuffer(bytes), 3));
            } while (others.getLast().memoryAddress() != address && others.size() < 100);
            assertEquals(address, others.getLast().memoryAddress());
            others.forEach(ByteBuf::release);
        });
        assertReceived(bytes, 2);
        assertTrue(client.counters().bulkSent() > before, "nothing was sent as large data");
    }

    private static ByteBuf filled(ByteBuf buf, int with) {
        buf.clear();
        while (buf.isWritable()) {
            buf.writeByte(with);
        }
        return buf;
    }

    private void awaitRelease(ByteBuf sent, int references) throws Exception {
        long start = System.nanoTime();
        while (channels.client.eventLoop().submit(() -> sent.refCnt()).get() > references) {
            assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(20), "the buffer was not released");
        }
    }

    private void assertReceived(int bytes, int expected) throws InterruptedException {
        for (int i = 0; i < bytes; i++) {
            while (!received.isReadable()) {
                received.release();
                received = (ByteBuf) channels.atServer.next();
            }
            assertEquals(expected, received.readByte());
        }
    }

    /** Runs an action while all packets to the server are lost: they are routed to an interface that drops them. */
    private void withoutNetwork(Executable action) throws Exception {
        String address = ((InetSocketAddress) channels.client.remoteAddress()).getAddress().getHostAddress();
        ip("route del table local local " + address + " dev rdma0");
        try {
            action.execute();
        } catch (Throwable e) {
            throw new AssertionError(e);
        } finally {
            ip("route add table local local " + address + " dev rdma0 proto kernel scope host src " + address);
        }
    }

    private static void ip(String arguments) throws Exception {
        Process ip = new ProcessBuilder(("ip " + arguments).split(" ")).redirectErrorStream(true).start();
        String output = new String(ip.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, ip.waitFor(), "ip " + arguments + ": " + output);
    }

    /** An iWARP device waits for TCP when a connection is requested, and when an unanswered connection attempt is abandoned. */
    @Test
    void aServerThatDoesNotAnswerStopsNoLoop() throws Exception {
        // After this, the device is known and the memory is registered, so that the rest is done within the time limit.
        connect();
        try (RawPeer silent = new RawPeer()) {
            for (InetSocketAddress address : List.of(silent.listen(), new InetSocketAddress("192.0.2.254", 7471))) {
                RpmaEventLoopGroup one = new RpmaEventLoopGroup(1);
                long[] last = {System.nanoTime()};
                long[] longest = {0};
                one.next().scheduleAtFixedRate(() -> {
                    long now = System.nanoTime();
                    longest[0] = Math.max(longest[0], now - last[0]);
                    last[0] = now;
                }, 0, 20, TimeUnit.MILLISECONDS);
                ChannelFuture connect = new Bootstrap().group(one).channel(RpmaMessageChannel.class)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 2000).handler(new ChannelInboundHandlerAdapter())
                    .connect(address).await();
                assertTrue(connect.cause().getMessage().contains("timed out"), () -> address + ": " + connect.cause());
                connect.channel().closeFuture().sync();
                // All tasks that the close has left on the event loop run before this task.
                one.next().submit(() -> { }).sync();
                long pause = one.next().submit(() -> Math.max(longest[0], System.nanoTime() - last[0])).get();
                assertTrue(pause < TimeUnit.SECONDS.toNanos(3), address + ": the loop was blocked for " + pause + " ns");
                one.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
            }
        }
    }

    /** A connection to a server that closes at once succeeds, as with TCP. */
    @Test
    void aServerThatClosesAtOnceHasBeenConnectedTo() throws Exception {
        Channel listener = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter() {
                @Override
                public boolean isSharable() {
                    return true;
                }

                @Override
                public void channelActive(ChannelHandlerContext ctx) {
                    ctx.close();
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        for (int round = 0; round < 20; round++) {
            ConnectedChannels.End end = new ConnectedChannels.End();
            Channel client = new Bootstrap().group(group).channel(RpmaMessageChannel.class).handler(end)
                .connect(listener.localAddress()).sync().channel();
            assertTrue(client.closeFuture().await(20, TimeUnit.SECONDS));
            end.accepted();
            assertEquals(List.of(), end.allFailures());
        }
        listener.close().sync();
    }
}
