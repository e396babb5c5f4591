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
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import io.rpma.Rpma;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Tests how many descriptors a stream needs over TCP: as many as a channel of Netty's own TCP transports. */
@Timeout(60)
class DescriptorCountTest {
    private static final int LOOPS = 2;
    private static final int CONNECTIONS = 20;
    /** Connections that create what those of a loop share: enough for each loop to have some of both ends. */
    private static final int FIRST = 4 * LOOPS;

    @Test
    void aStreamOverTcpNeedsOnlyItsSocket() throws Exception {
        assumeTrue(Rpma.provider().name().equals("tcp"), "the number is that of the provider tcp");
        EventLoopGroup group = new RpmaEventLoopGroup(LOOPS);
        try {
            CountDownLatch arrived = new CountDownLatch(FIRST + CONNECTIONS);
            Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object message) {
                                ReferenceCountUtil.release(message);
                                arrived.countDown();
                            }
                        });
                    }
                }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            List<Channel> clients = new ArrayList<>();
            for (int i = 0; i < FIRST; i++) {
                clients.add(connect(group, server));
            }
            long before = descriptors();
            for (int i = 0; i < CONNECTIONS; i++) {
                clients.add(connect(group, server));
            }
            assertTrue(arrived.await(30, TimeUnit.SECONDS));
            assertEquals(before + 2 * CONNECTIONS, descriptors());
        } finally {
            group.shutdownGracefully(0, 20, TimeUnit.SECONDS).sync();
        }
    }

    /** Connects and sends a message, which establishes the connection at the server as well. */
    private static Channel connect(EventLoopGroup group, Channel server) throws InterruptedException {
        Channel client = new Bootstrap().group(group).channel(RpmaChannel.class).handler(new ChannelInboundHandlerAdapter())
            .connect(server.localAddress()).sync().channel();
        client.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {1})).sync();
        return client;
    }

    /** Returns the number of open descriptors, without that of the listing itself. */
    private static long descriptors() throws IOException {
        try (Stream<Path> list = Files.list(Path.of("/proc/self/fd"))) {
            return list.count();
        }
    }
}
