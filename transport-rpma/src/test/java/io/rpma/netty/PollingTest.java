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
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import io.rpma.netty.loop.SpinPolicy;
import java.net.InetSocketAddress;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests how idle event loops wait: each kind of polling processes data and tasks. */
@Timeout(120)
class PollingTest {
    @Test
    void spinNeverGivesUpAndBlockNeverBegins() {
        SpinPolicy spin = RpmaIoHandler.spin(RpmaPolling.SPIN);
        spin.failed();
        assertTrue(spin.pays());
        assertFalse(RpmaIoHandler.spin(RpmaPolling.BLOCK).pays());
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg, ctx.voidPromise());
        }
    }

    /** A loop that polls offers its processor to other threads. A loop that blocks does not have to. */
    @ParameterizedTest
    @EnumSource(value = RpmaPolling.class, names = {"SPIN", "BLOCK"})
    void aLoopThatPollsYields(RpmaPolling polling) throws Exception {
        RpmaEventLoopGroup group = new RpmaEventLoopGroup(1, polling);
        try {
            Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class).childHandler(new Echo())
                .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            Channel client = new Bootstrap().group(group).channel(RpmaChannel.class).handler(new ChannelInboundHandlerAdapter())
                .connect(server.localAddress()).sync().channel();
            String thread = group.submit(() -> Thread.currentThread().getName()).get();
            RpmaLoopCounters loop = RpmaMetrics.loops().stream().filter(each -> each.name().equals(thread)).findFirst()
                .orElseThrow();
            while (polling == RpmaPolling.SPIN ? loop.yields() < 100 : loop.blocks() < 100) {
                // Each task ends the idle time of the loop, and the next idle time begins.
                group.schedule(() -> { }, 1, TimeUnit.MILLISECONDS).sync();
            }
            assertEquals(polling == RpmaPolling.SPIN, loop.yields() > 0);
            client.close().sync();
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    /** One event loop has both ends. While it spins, tasks and other channels are processed too. */
    @ParameterizedTest
    @EnumSource(RpmaPolling.class)
    void dataAndTasksGetTheirTurn(RpmaPolling polling) throws Exception {
        RpmaEventLoopGroup group = new RpmaEventLoopGroup(1, polling);
        try {
            Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class).childHandler(new Echo())
                .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            Semaphore echoes = new Semaphore(0);
            Channel client = new Bootstrap().group(group).channel(RpmaChannel.class).handler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    ReferenceCountUtil.release(msg);
                    echoes.release();
                }
            }).connect(server.localAddress()).sync().channel();
            for (int i = 0; i < 200; i++) {
                client.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {1})).sync();
                assertTrue(echoes.tryAcquire(30, TimeUnit.SECONDS));
                if (i % 20 == 0) {
                    // During this time, the event loop only has this task.
                    assertTrue(group.schedule(() -> { }, 3, TimeUnit.MILLISECONDS).await(30, TimeUnit.SECONDS));
                }
            }
            client.close().sync();
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }
}
