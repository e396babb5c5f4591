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

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.util.NetUtil;
import io.rpma.netty.pair.OpenPairs;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests established connections of a process that has no free file descriptors. A connection may need a further one when it waits
 * for the completions of its sends for the first time. It must continue to work without.
 */
@Timeout(90)
class DescriptorShortageTest {
    private static final int LIMIT = 256;
    private static final int PIECE = 1 << 20;
    private static final int PIECES = 128;
    private static final long TOTAL = (long) PIECES * PIECE;

    /** Counts what it receives. */
    @ChannelHandler.Sharable
    private static final class Receiver extends SimpleChannelInboundHandler<ByteBuf> {
        private final BlockingQueue<Channel> accepted;
        private volatile long received;

        Receiver(BlockingQueue<Channel> accepted) {
            this.accepted = accepted;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            accepted.add(ctx.channel());
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) {
            received += data.readableBytes();
        }
    }

    /** A handler without a function. */
    @ChannelHandler.Sharable
    private static final class Client extends ChannelInboundHandlerAdapter {
    }

    /** Both ends of one connection, in a process with few descriptors. */
    static final class BothEnds {
        private BothEnds() {
        }

        public static void main(String... arguments) {
            int status = 1;
            try {
                run();
                status = 0;
            } catch (Exception e) {
                e.printStackTrace();
            }
            // The event loops keep the process alive, so the process exits explicitly.
            System.exit(status);
        }

        private static void run() throws Exception {
            RpmaEventLoopGroup group = new RpmaEventLoopGroup(2, RpmaPolling.BLOCK);
            BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
            Receiver receiver = new Receiver(accepted);
            Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
                .childHandler(receiver).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            Bootstrap bootstrap = new Bootstrap().group(group).channel(RpmaChannel.class).handler(new Client());
            // The first connection loads the classes that connections need, because loading them needs descriptors too.
            Channel first = bootstrap.connect(server.localAddress()).sync().channel();
            accepted.take();
            send(first, receiver);
            first.close().sync();
            FileLimitTest.Server.loadClasses();
            OpenPairs.awaitOpen(0);
            Channel client = bootstrap.connect(server.localAddress()).sync().channel();
            Channel child = accepted.take();
            List<FileInputStream> files = new ArrayList<>();
            try {
                while (true) {
                    files.add(new FileInputStream("/dev/null"));
                }
            } catch (IOException e) {
                System.out.println("FULL");
            }
            send(client, receiver);
            for (FileInputStream file : files) {
                file.close();
            }
            send(client, receiver);
            System.out.println("OPEN " + (client.isActive() && child.isActive()));
        }

        /** Sends far more than the socket or the shared memory of a connection holds, so that the loops wait for each other. */
        private static void send(Channel client, Receiver receiver) {
            receiver.received = 0;
            ByteBuf piece = client.alloc().directBuffer(PIECE).writeZero(PIECE);
            for (int i = 0; i < PIECES; i++) {
                client.write(piece.retainedDuplicate());
            }
            piece.release();
            client.flush();
            while (client.isActive() && receiver.received < TOTAL) {
                Thread.onSpinWait();
            }
            System.out.println("RECEIVED " + receiver.received);
        }
    }

    @Test
    void aConnectionWorksThoughADescriptorIsMissing() throws Exception {
        List<String> limiting = List.of("bash", "-c", "ulimit -n " + LIMIT + " && exec \"$@\"", "limited");
        try (ChildJvm child = new ChildJvm(limiting, ChildJvm.ordinary(), BothEnds.class)) {
            child.await("FULL");
            assertEquals("" + TOTAL, child.await("RECEIVED"));
            assertEquals("" + TOTAL, child.await("RECEIVED"));
            assertEquals("true", child.await("OPEN"));
        }
    }
}
