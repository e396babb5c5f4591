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
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.util.AttributeKey;
import io.rpma.Device;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.netty.RpmaMessageServerChannel;
import io.rpma.netty.RpmaPeerConfig;
import io.rpma.netty.RpmaRegion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Lends a file's memory to those who append to it. A client is told in the private data where the memory is, and granted its lane
 * by one message; from then on this process does nothing for it.
 */
final class RemoteLogServer implements AutoCloseable {
    /** What the client's private data begins with; the number of its lane follows. */
    static final int HELLO = 0x6c6f6731;

    private final RpmaRegion region;
    private final Channel channel;

    /**
     * Starts to serve.
     *
     * @param persistent whether the file lies in persistent memory, and flushes are to reach it
     */
    RemoteLogServer(EventLoopGroup group, InetSocketAddress address, Path file, int lanes, int laneBytes, boolean persistent)
            throws IOException {
        List<MemoryUsage> usages = new ArrayList<>(Arrays.asList(MemoryUsage.READ_SRC, MemoryUsage.WRITE_DST,
            MemoryUsage.FLUSH_VISIBILITY));
        if (persistent) {
            usages.add(MemoryUsage.FLUSH_PERSISTENT);
        }
        try (FileChannel log = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            region = RpmaRegion.map(log, 0, (long) lanes * laneBytes, usages.toArray(MemoryUsage[]::new));
        }
        try {
            channel = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
                .option(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, device -> told(device, persistent, laneBytes))
                .childHandler(new Lanes(lanes)).bind(address).syncUninterruptibly().channel();
        } catch (Throwable e) {
            region.release();
            throw e;
        }
    }

    /** What a client is told. The memory has another descriptor on each device. */
    private ByteBuffer told(Device device, boolean persistent, int laneBytes) throws RpmaException {
        ByteBuffer told = ByteBuffer.allocate(RpmaRegion.DESCRIPTOR_BYTES + 1 + Integer.BYTES);
        return told.put(region.descriptor(device)).put(RpmaPeerConfig.descriptor(persistent)).putInt(laneBytes).flip();
    }

    Channel channel() {
        return channel;
    }

    InetSocketAddress address() {
        return (InetSocketAddress) channel.localAddress();
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        region.release();
    }

    /**
     * Grants each lane to one client at a time: a new one gets it when the connection of the one before is gone, and with it the
     * last write that was under way.
     */
    @Sharable
    private static final class Lanes extends ChannelInboundHandlerAdapter {
        private static final AttributeKey<Integer> LANE = AttributeKey.valueOf("lane");

        private final Set<Integer> granted = ConcurrentHashMap.newKeySet();
        private final int lanes;

        Lanes(int lanes) {
            this.lanes = lanes;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ByteBuffer hello = ((RpmaMessageChannel) ctx.channel()).peerPrivateData();
            boolean understood = hello.remaining() >= 8 && hello.getInt() == HELLO;
            int lane = understood ? hello.getInt() : -1;
            if (lane < 0 || lane >= lanes || !granted.add(lane)) {
                ctx.close();
                return;
            }
            ctx.channel().attr(LANE).set(lane);
            ctx.writeAndFlush(Unpooled.copyInt(lane));
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            Integer lane = ctx.channel().attr(LANE).getAndSet(null);
            if (lane != null) {
                granted.remove(lane);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // A client died, or broke its connection: the next one finds what it has acknowledged.
            ctx.close();
        }
    }
}
