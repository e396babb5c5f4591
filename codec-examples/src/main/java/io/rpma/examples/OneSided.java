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

/**
 * A client writes a text to the server's memory, and then its length by an atomic write. It reads the text back, and the server
 * reads the length.
 */
public final class OneSided {
    private OneSided() {
    }

    /** Runs the server and the client in this process. */
    public static void main(String... arguments) throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        try {
            // The server provides 4 KiB of memory, and sends its descriptor to each client as private data. It does nothing else.
            RpmaRegion lent = RpmaRegion.allocate(4096, MemoryUsage.READ_SRC, MemoryUsage.WRITE_DST,
                MemoryUsage.FLUSH_VISIBILITY);
            Channel server = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
                .option(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, lent::descriptor)
                .childHandler(new ChannelInboundHandlerAdapter())
                .bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();

            // The client opens the region from the descriptor, whose form is checked.
            RpmaMessageChannel channel = (RpmaMessageChannel) new Bootstrap().group(group).channel(RpmaMessageChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
            RpmaRemoteRegion remote = RpmaRemoteRegion.open(channel.peerPrivateData());

            int length = write(channel, remote, "written by the client alone");

            // The server reads the length from its own memory. It was not notified of the write.
            System.out.println("the server has " + lent.memory().get(ValueLayout.JAVA_LONG, 0) + " bytes");

            ByteBuf back = channel.alloc().directBuffer(length);
            channel.writeAndFlush(RpmaOperation.read(remote, 8, length, back)).sync();
            System.out.println("the client reads: " + back.toString(StandardCharsets.UTF_8));
            back.release();

            // An invalid operation (the offset must be a multiple of 8) fails its promise. The channel remains usable.
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

    /** Writes a text at offset 8 and its length at offset 0, and returns the length. */
    private static int write(Channel channel, RpmaRemoteRegion remote, String text) throws InterruptedException {
        ByteBuf bytes = Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
        int length = bytes.readableBytes();
        // The operations are sent by one flush and complete in this order, so waiting for the last promise is sufficient.
        channel.write(RpmaOperation.write(bytes, remote, 8));
        channel.write(RpmaOperation.flush(remote, 8, length, FlushType.VISIBILITY));
        channel.write(RpmaOperation.atomicWrite(remote, 0, length));
        channel.writeAndFlush(RpmaOperation.flush(remote, 0, 8, FlushType.VISIBILITY)).sync();
        return length;
    }
}
