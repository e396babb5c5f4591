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
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.rpma.chaos.Addresses;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaMessageChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The well-behaved connections of a hostile process. They have traffic, so that there is something to attack. */
final class OwnSockets {
    private static final int BYTES = 3000;
    private static final int WAIT_SECONDS = 5;

    private final Addresses addresses;
    private final EventLoopGroup group = new RpmaEventLoopGroup(1);
    private final List<Channel> channels = new ArrayList<>();

    OwnSockets(Addresses addresses) {
        this.addresses = addresses;
    }

    /** Creates a stream channel and a message channel, and sends data over both that must come back. Returns whether it did. */
    boolean connect() throws Exception {
        for (Class<? extends Channel> type : List.of(RpmaChannel.class, RpmaMessageChannel.class)) {
            CompletableFuture<Void> answered = new CompletableFuture<>();
            Channel channel = new Bootstrap().group(group).channel(type).handler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object data) {
                    ReferenceCountUtil.release(data);
                    answered.complete(null);
                }

                @Override
                public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    answered.completeExceptionally(cause);
                    ctx.close();
                }

                @Override
                public void channelInactive(ChannelHandlerContext ctx) {
                    answered.completeExceptionally(new java.io.IOException("closed"));
                }
            }).connect(type == RpmaChannel.class ? addresses.stream() : addresses.message()).await().channel();
            channels.add(channel);
            channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[BYTES]));
            try {
                answered.get(WAIT_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException | TimeoutException e) {
                return false;
            }
        }
        return true;
    }

    /** Sends data on both channels, regardless of their state. */
    void touch() {
        for (Channel channel : channels) {
            channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[BYTES]));
        }
    }

    /**
     * Runs a task on the event loop of the connections, while the connections execute no operation.
     *
     * @return whether the task ran in time
     * @throws Exception if the task has failed
     */
    boolean betweenOperations(Runnable task) throws Exception {
        Future<?> done = group.submit(task);
        return done.await(WAIT_SECONDS, TimeUnit.SECONDS) && done.sync().isSuccess();
    }

    List<Integer> descriptors() {
        return Sockets.own();
    }

    /** Closes the connections. New connections can be made afterwards. */
    void close() throws Exception {
        for (Channel channel : channels) {
            if (!channel.close().await(WAIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("a connection does not close: " + channel);
            }
        }
        channels.clear();
    }
}
