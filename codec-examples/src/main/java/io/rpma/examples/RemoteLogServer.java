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
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.rpma.Device;
import io.rpma.RpmaException;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.netty.RpmaMessageServerChannel;
import io.rpma.netty.RpmaPeerConfig;
import io.rpma.netty.RpmaRegion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Lends a log's memory to those who append to it. A client is told in the private data where the memory is, and granted its
 * lane by one message. What it appends is durable by its own flush, or, where a flush does not reach that far, when it has asked
 * for it by a message and got the new tail in answer. Nothing here waits for a disk but a thread of its own.
 */
final class RemoteLogServer implements AutoCloseable {
    /** What the client's private data begins with; the number of its lane follows. */
    static final int HELLO = 0x6c6f6732;

    private final LogStore store;
    private final EventExecutor disk = new DefaultEventExecutor(new DefaultThreadFactory("remote-log-disk", true));
    private final Channel channel;

    /** Starts to serve. */
    RemoteLogServer(EventLoopGroup group, InetSocketAddress address, LogStore store, int lanes, int laneBytes) {
        this.store = store;
        channel = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .option(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, device -> told(device, laneBytes))
            .childHandler(new Lanes(lanes)).bind(address).syncUninterruptibly().channel();
    }

    /** What a client is told. The memory has another descriptor on each device. */
    private ByteBuffer told(Device device, int laneBytes) throws RpmaException {
        ByteBuffer told = ByteBuffer.allocate(RpmaRegion.DESCRIPTOR_BYTES + 2 + Integer.BYTES);
        return told.put(store.region().descriptor(device))
            .put(RpmaPeerConfig.descriptor(store.durability() == LogDurability.PERSISTENT_MEMORY))
            .put((byte) store.durability().ordinal()).putInt(laneBytes).flip();
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
        disk.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /**
     * Grants each lane to one client at a time: a new one gets it when the connection of the one before is gone, and with it the
     * last write that was under way.
     */
    @Sharable
    private final class Lanes extends SimpleChannelInboundHandler<ByteBuf> {
        private static final AttributeKey<Integer> LANE = AttributeKey.valueOf("lane");
        private static final AttributeKey<Boolean> COMMITTING = AttributeKey.valueOf("committing");

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
            if (!store.durability().isByServer()) {
                ctx.writeAndFlush(Unpooled.copyInt(lane));
                return;
            }
            // After whatever the client before has asked for.
            ctx.channel().attr(COMMITTING).set(true);
            onDisk(ctx, () -> {
                store.cut(lane);
                return Unpooled.copyInt(lane);
            });
        }

        /** A client asks for what it has appended so far to be made durable. It does so again when it has been answered. */
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf request) throws IOException {
            Integer lane = ctx.channel().attr(LANE).get();
            if (lane == null || !store.durability().isByServer() || ctx.channel().attr(COMMITTING).getAndSet(true) != null) {
                throw new IOException("a client asked the log's server for what it does not do, or before it was answered");
            }
            onDisk(ctx, () -> Unpooled.copyLong(store.commit(lane)));
        }

        /** Answers a client when the disk's thread has done something for it. */
        private void onDisk(ChannelHandlerContext ctx, Callable<ByteBuf> work) {
            disk.submit(work).addListener(done -> ctx.executor().execute(() -> {
                ctx.channel().attr(COMMITTING).set(null);
                if (done.isSuccess()) {
                    ctx.writeAndFlush(done.getNow());
                } else {
                    exceptionCaught(ctx, done.cause());
                }
            }));
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
            // A client died, or broke its connection or the rules: the next one finds what it was acknowledged.
            if (ctx.channel().isActive()) {
                System.err.println("remote-log: " + cause.getMessage());
            }
            ctx.close();
        }
    }
}
