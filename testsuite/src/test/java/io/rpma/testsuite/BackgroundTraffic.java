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
package io.rpma.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.util.NetUtil;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaServerChannel;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * RPMA traffic on the loops of {@link Permutations} while epoll channels are tested on them. Each loop has a client that sends a
 * piece of {@link Pattern} at most once a millisecond, and checks the echo.
 */
final class BackgroundTraffic {
    private static final int LARGEST_PIECE = 4096;
    private static final int LIMIT_SECONDS = 60;

    private static final List<Client> CLIENTS = new ArrayList<>();

    private BackgroundTraffic() {
    }

    /** Starts the traffic, once for the whole life of the process. */
    static synchronized void start(EventLoopGroup group, int loops) {
        if (!CLIENTS.isEmpty()) {
            return;
        }
        Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    ch.pipeline().addLast(new EchoHandler());
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).syncUninterruptibly().channel();
        for (int i = 0; i < loops; i++) {
            Client client = new Client();
            // The group assigns its loops in turn, so each loop gets one client.
            new Bootstrap().group(group).channel(RpmaChannel.class).handler(client).connect(server.localAddress())
                .syncUninterruptibly();
            CLIENTS.add(client);
        }
    }

    /** Waits until each client has received another echo, and fails otherwise. */
    static synchronized void assertFlows() throws InterruptedException {
        for (Client client : CLIENTS) {
            client.awaitEcho();
        }
    }

    private static final class Client extends ChannelInboundHandlerAdapter {
        private long sent;
        private long received;
        private long echoes;
        private Throwable failure;

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            sendPiece(ctx);
        }

        private void sendPiece(ChannelHandlerContext ctx) {
            int length = 1 + (int) (sent % LARGEST_PIECE);
            ctx.writeAndFlush(Pattern.write(ctx.alloc().buffer(length), sent, length));
            sent += length;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf data = (ByteBuf) msg;
            try {
                Pattern.check(data, received);
                received += data.readableBytes();
            } finally {
                data.release();
            }
            if (received == sent) {
                echoed();
                ctx.executor().schedule(() -> sendPiece(ctx), 1, TimeUnit.MILLISECONDS);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            failed(new IllegalStateException("closed after " + received + " bytes"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failed(cause);
        }

        private synchronized void echoed() {
            echoes++;
            notifyAll();
        }

        private synchronized void failed(Throwable cause) {
            if (failure == null) {
                failure = cause;
            }
            notifyAll();
        }

        synchronized void awaitEcho() throws InterruptedException {
            long before = echoes;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
            while (failure == null && echoes == before) {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (left <= 0) {
                    throw new AssertionError("RPMA traffic in the background stopped after " + echoes + " echoes");
                }
                wait(left);
            }
            if (failure != null) {
                throw new AssertionError("RPMA traffic in the background failed after " + echoes + " echoes", failure);
            }
        }
    }
}
