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
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.AutoScalingEventExecutorChooserFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests event loops that Netty suspends because they have nothing to do, and resumes. */
@Timeout(120)
class SuspendedLoopTest {
    private static final long SUSPENSION_SECONDS = 40;

    private RpmaEventLoopGroup servers;
    private MultiThreadIoEventLoopGroup scaling;
    private Channel server;

    @BeforeEach
    void start() throws InterruptedException {
        servers = new RpmaEventLoopGroup(1);
        // The loop is suspended if it was busy for less than half of a second.
        scaling = new MultiThreadIoEventLoopGroup(1, (Executor) null,
            new AutoScalingEventExecutorChooserFactory(0, 1, 1, TimeUnit.SECONDS, 0.5, 0.9, 1, 1, 1), RpmaIoHandler.newFactory());
        server = new ServerBootstrap().group(servers).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    ctx.writeAndFlush(msg);
                }

                @Override
                public boolean isSharable() {
                    return true;
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
    }

    @AfterEach
    void stop() {
        scaling.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        servers.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Sends a number to the server and back, and closes the connection. Returns the thread of the loop that did it. */
    private Thread exchange() throws InterruptedException {
        ConnectedChannels.End end = new ConnectedChannels.End();
        Bootstrap bootstrap = new Bootstrap().group(scaling).channel(RpmaChannel.class).handler(end);
        // The loop is chosen in the thread in which Netty decides what to suspend. In another thread, it could be chosen between
        // its suspension and the update of the number of running loops. Netty would then regard the loop, which runs again, as
        // suspended, and would not suspend it again (AutoScalingEventExecutorChooserFactory, Netty 4.2.17).
        Channel client = GlobalEventExecutor.INSTANCE.submit(() -> bootstrap.connect(server.localAddress())).sync().getNow()
            .sync().channel();
        Thread thread = client.eventLoop().submit(Thread::currentThread).sync().getNow();
        client.writeAndFlush(Unpooled.copyInt(7)).sync();
        ByteBuf answer = (ByteBuf) end.next();
        assertEquals(7, answer.readInt());
        answer.release();
        client.close().sync();
        return thread;
    }

    /** A loop that has had streams can be suspended when they are closed. Its next stream resumes it. */
    @Test
    void aLoopIsSuspendedAfterItsStreamsHaveClosed() throws Exception {
        for (int i = 0; i < 2; i++) {
            Thread thread = exchange();
            // The thread of a suspended loop ends.
            assertTrue(thread.join(Duration.ofSeconds(SUSPENSION_SECONDS)), "the loop was not suspended");
        }
    }
}
