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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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

    @BeforeEach
    void start() throws Exception {
        assumeTrue(Rpma.provider().localDevice(Rpma.provider().reachable(NetUtil.LOCALHOST)).isIwarp(), "not an iWARP device");
        group = new RpmaEventLoopGroup(2);
    }

    @AfterEach
    void stop() {
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
