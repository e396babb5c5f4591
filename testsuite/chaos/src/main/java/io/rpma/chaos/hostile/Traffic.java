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

package io.rpma.chaos.hostile;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.ReferenceCountUtil;
import io.rpma.chaos.Addresses;
import io.rpma.chaos.Signals;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.soft.FaultPlaces;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Sends as fast as possible on a stream with small pieces, a stream with large pieces and a message channel, so that it can be
 * killed or stopped in the middle of operations. A connection that closes is replaced. After the order {@code stop PLACE N}, the
 * process prints {@code at PLACE} and stops itself when it reaches this place in the middle of an operation for the n-th time.
 */
final class Traffic implements Attack {
    private static final byte FOREIGN = 0x5a;
    private static final int SMALL = 1000;
    private static final int LARGE = 1 << 20;
    private static final int MESSAGE = 3000;
    private static final int UNDER_WAY = 4;

    private final AtomicInteger left = new AtomicInteger();
    private volatile String place = "";
    private EventLoopGroup group;

    @Override
    public void run(Addresses addresses, SplittableRandom random, long end) throws Exception {
        if (Boolean.getBoolean("io.rpma.soft.faults")) {
            FaultPlaces.hook(this::reached);
        }
        group = new RpmaEventLoopGroup(1);
        Report.say(HostileMain.CONNECTING);
        EventLoop loop = group.next();
        connect(loop, addresses.stream(), RpmaChannel.class, SMALL).sync();
        connect(loop, addresses.stream(), RpmaChannel.class, LARGE).sync();
        connect(loop, addresses.message(), RpmaMessageChannel.class, MESSAGE).sync();
        Report.say("ready");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            String[] words = order.split(" ");
            left.set(Integer.parseInt(words[2]));
            place = words[1];
        }
    }

    private void reached(String where) {
        if (where.equals(place) && left.decrementAndGet() == 0) {
            Report.say("at " + where);
            Signals.stopHere();
            Report.say("on");
        }
    }

    private ChannelFuture connect(EventLoop loop, InetSocketAddress address, Class<? extends Channel> type, int bytes) {
        return new Bootstrap().group(loop).channel(type).handler(new Sender(bytes) {
            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                if (!group.isShuttingDown()) {
                    loop.schedule(() -> connect(loop, address, type, bytes), 50, TimeUnit.MILLISECONDS);
                }
            }
        }).connect(address);
    }

    /** Sends pieces of equal length as long as the channel is active, and drops what it receives. */
    private static class Sender extends ChannelInboundHandlerAdapter {
        private final int bytes;
        private int under;

        Sender(int bytes) {
            this.bytes = bytes;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            send(ctx);
        }

        private void send(ChannelHandlerContext ctx) {
            while (under < UNDER_WAY && ctx.channel().isActive()) {
                under++;
                ByteBuf data = ctx.alloc().directBuffer(bytes);
                for (int i = 0; i < bytes; i += 8) {
                    data.writeLong(FOREIGN * 0x0101010101010101L);
                }
                ctx.writeAndFlush(data.writerIndex(bytes)).addListener(sent -> {
                    under--;
                    ctx.executor().execute(() -> send(ctx));
                });
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object data) {
            ReferenceCountUtil.release(data);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }
}
