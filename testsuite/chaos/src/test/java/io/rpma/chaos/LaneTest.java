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

package io.rpma.chaos;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.rpma.Rpma;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaPath;
import io.rpma.netty.RpmaServerChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests that a lane detects each fault of a server, and reports none for a server without faults. */
@Timeout(120)
class LaneTest {
    private static final int FAULT_AT = 5;

    private final EventLoopGroup group = new RpmaEventLoopGroup(2);
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private Lane lane;

    private interface Fault {
        void on(ChannelHandlerContext ctx, ByteBuf data);
    }

    /**
     * Starts a server that echoes, except for the fifth piece of its first connection to receive so many, for which it runs the
     * fault. It runs the fault once, because a lane connects again after a failure.
     */
    private void start(Fault fault) throws Exception {
        AtomicBoolean due = new AtomicBoolean(true);
        InetAddress address = Rpma.provider().reachable(InetAddress.getLoopbackAddress());
        Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                        private int pieces;

                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object data) {
                            if (++pieces == FAULT_AT && due.getAndSet(false)) {
                                fault.on(ctx, (ByteBuf) data);
                            } else {
                                ctx.writeAndFlush(data);
                            }
                        }
                    });
                }
            }).bind(new InetSocketAddress(address, 0)).sync().channel();
        lane = new StreamLane("lane", RpmaPath.of(Rpma.provider()), (InetSocketAddress) server.localAddress(), 100, 200,
            RunDelay.of("/nowhere"), 1);
        lane.start(group.next(), said::add);
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private String failure() throws InterruptedException {
        String line = said.take();
        while (!line.startsWith("failure")) {
            line = said.take();
        }
        return line;
    }

    @Test
    void honest() throws Exception {
        start((ctx, data) -> {
            ctx.writeAndFlush(data);
            ctx.executor().schedule(() -> said.add("enough"), 100, TimeUnit.MILLISECONDS);
        });
        while (!said.take().equals("enough")) {
            // The machine may be busy, so the lane may report pauses.
        }
        lane.stop().sync();
        assertTrue(lane.exchanges() >= FAULT_AT);
        assertEquals(0, lane.lost());
        assertEquals(0, lane.corrupt());
    }

    @Test
    void aChangedByteIsCorrupt() throws Exception {
        start((ctx, data) -> ctx.writeAndFlush(data.setByte(7, data.getByte(7) ^ 1)));
        assertTrue(failure().contains("corrupt"));
        lane.stop().sync();
        assertEquals(1, lane.corrupt());
        assertEquals(0, lane.lost());
    }

    @Test
    void aForeignByteIsCorrupt() throws Exception {
        start((ctx, data) -> ctx.writeAndFlush(data.writeByte(1)));
        assertTrue(failure().contains("corrupt"));
        lane.stop().sync();
        assertEquals(1, lane.corrupt());
    }

    @Test
    void aConnectionThatEndsIsLost() throws Exception {
        start((ctx, data) -> {
            data.release();
            ctx.close();
        });
        failure();
        lane.stop().sync();
        assertTrue(lane.lost() >= 1);
        assertEquals(0, lane.corrupt());
    }

    @Test
    void aMissingByteIsLost() throws Exception {
        start((ctx, data) -> {
            ctx.writeAndFlush(data.skipBytes(0).writerIndex(data.writerIndex() - 1));
            said.add("dropped");
        });
        while (!said.take().equals("dropped")) {
            // The lane may report pauses.
        }
        lane.stop().sync();
        assertEquals(1, lane.lost());
    }

    @Test
    void aLateAnswerIsAPause() throws Exception {
        start((ctx, data) -> ctx.executor().schedule(() -> ctx.writeAndFlush(data), 300, TimeUnit.MILLISECONDS));
        String[] words = said.take().split(" ");
        while (Long.parseLong(words[3]) - Long.parseLong(words[2]) < 300_000_000) {
            words = said.take().split(" ");
        }
        assertEquals("pause", words[0]);
        lane.stop().sync();
        assertEquals(0, lane.lost());
    }
}
