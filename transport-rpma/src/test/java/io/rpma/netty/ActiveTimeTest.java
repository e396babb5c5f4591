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

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.rpma.netty.ConnectedChannels.End;
import java.net.InetSocketAddress;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the time that an event loop reports to Netty as busy, by which Netty decides how many loops of a group are needed. */
@Timeout(120)
class ActiveTimeTest {
    private static final int MESSAGES = 50;
    private static final long WORK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** A group whose only loop tells how long it was busy. */
    private static final class MeasuredGroup extends MultiThreadIoEventLoopGroup {
        MeasuredGroup(RpmaPolling polling) {
            super(1, new DefaultThreadFactory("measured"), RpmaIoHandler.newFactory(polling));
        }

        @Override
        protected IoEventLoop newChild(Executor executor, IoHandlerFactory factory, Object... arguments) {
            return new MeasuredLoop(this, executor, factory);
        }
    }

    private static final class MeasuredLoop extends SingleThreadIoEventLoop {
        MeasuredLoop(MeasuredGroup group, Executor executor, IoHandlerFactory factory) {
            super(group, executor, factory);
        }

        /** Returns for how many nanoseconds the loop was busy since the last call. */
        long takeBusyNanos() {
            return getAndResetAccumulatedActiveTimeNanos();
        }
    }

    /** Computes for a while, and sends the message back. */
    private static final class Worker extends ChannelInboundHandlerAdapter {
        volatile long worked;
        /** How often the loop had been idle when the last message was handled. */
        volatile long idleTimes;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            idleTimes = idleTimes();
            long began = System.nanoTime();
            while (System.nanoTime() - began < WORK_NANOS) {
                Thread.onSpinWait();
            }
            worked += System.nanoTime() - began;
            ctx.writeAndFlush(msg);
        }
    }

    /** Returns how often the measured loop has begun to poll or to block because it had nothing to do. */
    private static long idleTimes() {
        RpmaLoopCounters loop = RpmaMetrics.loops().stream().filter(each -> each.name().startsWith("measured")).findFirst()
            .orElseThrow();
        return loop.spins() + loop.blocks();
    }

    /** Sends a message to the worker and back, and waits until the loop of the worker is idle. */
    private static void exchange(Channel client, End end, Worker worker) throws InterruptedException {
        client.writeAndFlush(Unpooled.copyInt(7));
        ((ByteBuf) end.next()).release();
        while (idleTimes() <= worker.idleTimes) {
            Thread.yield();
        }
    }

    /** Each message arrives while the loop is idle: while it polls, or while it blocks. */
    @ParameterizedTest
    @EnumSource(RpmaPolling.class)
    void aLoopThatWasIdleIsBusyWhileItHandlesAMessage(RpmaPolling polling) throws Exception {
        MeasuredGroup measured = new MeasuredGroup(polling);
        RpmaEventLoopGroup others = new RpmaEventLoopGroup(1, RpmaPolling.BLOCK);
        try {
            Worker worker = new Worker();
            Channel server = new ServerBootstrap().group(measured).channel(RpmaServerChannel.class).childHandler(worker)
                .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            End end = new End();
            Channel client = new Bootstrap().group(others).channel(RpmaChannel.class).handler(end).connect(server.localAddress())
                .sync().channel();
            MeasuredLoop loop = (MeasuredLoop) server.eventLoop();
            // The connection has been made, and the time that this took is dropped.
            exchange(client, end, worker);
            loop.submit(() -> { }).sync();
            loop.takeBusyNanos();
            worker.worked = 0;
            for (int i = 0; i < MESSAGES; i++) {
                exchange(client, end, worker);
            }
            // The time is counted at the end of the turn in which the message is handled.
            loop.submit(() -> { }).sync();
            long busy = loop.takeBusyNanos();
            assertTrue(busy >= worker.worked, () -> "busy for " + busy + " ns, of " + worker.worked + " ns of work");
            client.close().sync();
        } finally {
            others.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
            measured.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }
}
