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
package io.rpma.examples;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.rpma.FlushType;
import io.rpma.MemoryUsage;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.netty.RpmaMessageServerChannel;
import io.rpma.netty.RpmaOperation;
import io.rpma.netty.RpmaRegion;
import io.rpma.netty.RpmaRemoteRegion;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** A client writes a text into the server's memory, then the length, atomically; and reads both back. */
public final class OneSided {
    private OneSided() {
    }

    /** Plays both ends. */
    public static void main(String... arguments) throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        try {
            // The server lends 4 KiB, and says so to everyone who connects. After that it does nothing.
            RpmaRegion lent = RpmaRegion.allocate(4096, MemoryUsage.READ_SRC, MemoryUsage.WRITE_DST,
                MemoryUsage.FLUSH_VISIBILITY);
            Channel server = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
                .option(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, lent::descriptor)
                .childHandler(new ChannelInboundHandlerAdapter())
                .bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();

            // The client opens what it was told, which is checked.
            RpmaMessageChannel channel = (RpmaMessageChannel) new Bootstrap().group(group).channel(RpmaMessageChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
            RpmaRemoteRegion remote = RpmaRemoteRegion.open(channel.peerPrivateData());

            int length = write(channel, remote, "written by the client alone");

            // The server's own program sees it without having been told.
            System.out.println("the server has " + lent.memory().get(ValueLayout.JAVA_LONG, 0) + " bytes");

            ByteBuf back = channel.alloc().directBuffer(length);
            channel.writeAndFlush(RpmaOperation.read(remote, 8, length, back)).sync();
            System.out.println("the client reads: " + back.toString(StandardCharsets.UTF_8));
            back.release();

            // What is wrong by itself fails its own promise, and harms nothing.
            Throwable refused = channel.writeAndFlush(RpmaOperation.atomicWrite(remote, 4, 1)).await().cause();
            System.out.println(refused.getMessage());

            channel.close().sync();
            server.close().sync();
            remote.release();
            lent.release();
        } finally {
            group.shutdownGracefully().sync();
        }
    }

    /** Writes a text behind its length, and returns the length. */
    private static int write(Channel channel, RpmaRemoteRegion remote, String text) throws InterruptedException {
        ByteBuf bytes = Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
        int length = bytes.readableBytes();
        // In this order, in one flush. The last promise tells of all of them: each completes after those before it.
        channel.write(RpmaOperation.write(bytes, remote, 8));
        channel.write(RpmaOperation.flush(remote, 8, length, FlushType.VISIBILITY));
        channel.write(RpmaOperation.atomicWrite(remote, 0, length));
        channel.writeAndFlush(RpmaOperation.flush(remote, 0, 8, FlushType.VISIBILITY)).sync();
        return length;
    }
}
