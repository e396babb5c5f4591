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
 * Provides the memory of a log to its writers. The private data of a connection describes the memory to the client, and one
 * message grants the client its lane. The records of a client are durable after its own flush. If a flush is not sufficient, they
 * are durable after the client has requested this by a message and has received the new tail as the answer. Only a separate
 * thread waits for the disk.
 */
final class RemoteLogServer implements AutoCloseable {
    /** The prefix of the client's private data; the number of its lane follows it. */
    static final int HELLO = 0x6c6f6732;

    private final LogStore store;
    private final EventExecutor disk = new DefaultEventExecutor(new DefaultThreadFactory("remote-log-disk", true));
    private final Channel channel;

    /** Starts the server. */
    RemoteLogServer(EventLoopGroup group, InetSocketAddress address, LogStore store, int lanes, int laneBytes) {
        this.store = store;
        channel = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .option(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, device -> told(device, laneBytes))
            .childHandler(new Lanes(lanes)).bind(address).syncUninterruptibly().channel();
    }

    /** Returns the private data for a client. The memory has a different descriptor for each device. */
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
     * Grants each lane to one client at a time. The next client gets the lane after the connection of the previous one has
     * closed, so that no write of the previous client is outstanding.
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
            // This runs after all requests of the previous client.
            ctx.channel().attr(COMMITTING).set(true);
            onDisk(ctx, () -> {
                store.cut(lane);
                return Unpooled.copyInt(lane);
            });
        }

        /**
         * Handles the request of a client to make its records durable. A client may send the next request only after it has
         * received the answer.
         */
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf request) throws IOException {
            Integer lane = ctx.channel().attr(LANE).get();
            if (lane == null || !store.durability().isByServer() || ctx.channel().attr(COMMITTING).getAndSet(true) != null) {
                throw new IOException("a client asked the log's server for what it does not do, or before it was answered");
            }
            onDisk(ctx, () -> Unpooled.copyLong(store.commit(lane)));
        }

        /** Executes work on the thread for the disk, and sends the result to the client. */
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
            // The client ended, its connection broke, or it violated the protocol. The next client finds all acknowledged
            // records.
            if (ctx.channel().isActive()) {
                System.err.println("remote-log: " + cause.getMessage());
            }
            ctx.close();
        }
    }
}
