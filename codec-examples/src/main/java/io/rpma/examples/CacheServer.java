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

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.rpma.MemoryUsage;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaMessageServerChannel;
import io.rpma.netty.RpmaRegion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * Holds a table that clients read by one-sided reads. The server only receives puts, each as one message that contains the length
 * of the key, the key and the value. It answers the puts in order, each with an empty message.
 */
final class CacheServer implements AutoCloseable {
    /** The maximum number of unanswered puts of one client. */
    static final int WINDOW = 16;

    // A single event loop, so that puts change the table one after the other.
    private final EventLoopGroup group = new RpmaEventLoopGroup(1);
    private final RpmaRegion region;
    private final Channel channel;

    CacheServer(InetSocketAddress address, int buckets) throws IOException {
        region = RpmaRegion.allocate((long) buckets * CacheTable.BUCKET_BYTES, MemoryUsage.READ_SRC);
        try {
            CacheTable table = new CacheTable(region.memory().asByteBuffer());
            channel = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
                .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, WINDOW)
                .option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, CacheTable.SLOT_BYTES)
                .option(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, region::descriptor)
                .childHandler(new Puts(table)).bind(address).syncUninterruptibly().channel();
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    Channel channel() {
        return channel;
    }

    InetSocketAddress address() {
        return (InetSocketAddress) channel.localAddress();
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        region.release();
    }

    /** Stores the received entries in the table. */
    @Sharable
    private static final class Puts extends SimpleChannelInboundHandler<ByteBuf> {
        private final CacheTable table;

        Puts(CacheTable table) {
            this.table = table;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf put) {
            byte[] key = new byte[put.readUnsignedShort()];
            put.readBytes(key);
            table.put(key, put.nioBuffer());
            ctx.writeAndFlush(Unpooled.EMPTY_BUFFER);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // A message that is not a valid put closes its connection.
            System.err.println("memory-cache: the connection of " + ctx.channel().remoteAddress() + " ends: " + cause);
            ctx.close();
        }
    }
}
