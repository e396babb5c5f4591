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
package io.rpma.benchmark;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import java.net.SocketAddress;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;

/**
 * Opens connections that the server closes, a fixed number of them at a time. A connection counts when this end has seen it
 * become active and closed. The server has then accepted and closed it.
 */
final class ConnectClient {
    private final EventLoopGroup group;
    private final Bootstrap bootstrap;
    private final Measurement measurement;
    private final Timing timing;
    private final Meter meter;
    private final Window window = new Window();
    private final LongAdder closed = new LongAdder();
    private final ConcurrentLinkedQueue<Slot> slots = new ConcurrentLinkedQueue<>();

    ConnectClient(NettyTransport transport, Measurement measurement, Timing timing, Meter meter) {
        this.measurement = measurement;
        this.timing = timing;
        this.meter = meter;
        group = transport.newGroup(0);
        bootstrap = new Bootstrap().group(group).channel(transport.channel());
    }

    /** Runs the measurement against a server that listens at an address. */
    Outcome run(SocketAddress server) throws Exception {
        try {
            for (int i = 0; i < measurement.connections(); i++) {
                Slot slot = new Slot(server);
                slots.add(slot);
                slot.next();
            }
            window.open(timing.warmUpNanos(), () -> closed.sum() >= measurement.warmUpOperations());
            Usage before = meter.read();
            long nanos = window.close(timing.windowNanos());
            Usage used = meter.since(before);
            window.end();
            Histogram times = Outcome.newTimes();
            for (Slot slot : slots) {
                synchronized (slot) {
                    times.add(slot.times);
                }
            }
            return Outcome.ofOperations(times, nanos, used);
        } finally {
            window.end();
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    /** Opens one connection after another. Each of them may be on a different event loop. */
    private final class Slot {
        private final Histogram times = Outcome.newTimes();
        private final Bootstrap connect;
        private long began;

        Slot(SocketAddress server) {
            connect = bootstrap.clone().remoteAddress(server).handler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new Connection());
                }
            });
        }

        synchronized void next() {
            if (window.isOver()) {
                return;
            }
            began = System.nanoTime();
            connect.connect().addListener((ChannelFuture connected) -> {
                if (!connected.isSuccess()) {
                    window.fail(connected.cause());
                } else {
                    connected.channel().closeFuture().addListener(future -> done());
                }
            });
        }

        private synchronized void done() {
            closed.increment();
            if (window.counts(began)) {
                times.recordValue(System.nanoTime() - began);
            }
            next();
        }
    }

    /** A connection. Like every channel, it closes when the server has closed its end. */
    private final class Connection extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            window.fail(cause);
            ctx.close();
        }
    }
}
