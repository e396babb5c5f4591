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
package io.rpma.benchmark;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.rpma.MemoryUsage;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.netty.RpmaRegion;
import io.rpma.netty.RpmaRemoteRegion;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The client's end of a connection to a {@link OneSidedServer}: the peer's memory, its own memory, and the messages from the
 * server.
 */
final class OneSidedConnection extends ChannelInboundHandlerAdapter implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 60;

    private final OneSidedSize size;
    private final RpmaMessageChannel channel;
    private final RpmaRegion local;
    private final RpmaRemoteRegion remote;
    private volatile CompletableFuture<Answer> asked = new CompletableFuture<>();
    /** Accessed on the event loop only. */
    private OneSidedRun run;

    /**
     * An answer of the server.
     *
     * @param count the number of messages, or writes with immediate data, that the server received
     * @param sum a checksum
     */
    record Answer(long count, int sum) {
    }

    OneSidedConnection(EventLoopGroup group, SocketAddress address, OneSidedSize size) throws Exception {
        this.size = size;
        local = RpmaRegion.allocate((long) size.bytes() * size.depth(), MemoryUsage.READ_DST, MemoryUsage.WRITE_SRC);
        channel = (RpmaMessageChannel) new Bootstrap().group(group).channel(RpmaMessageChannel.class)
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, size.longestMessage())
            .option(RpmaChannelOption.RPMA_SEND_QUEUE_SIZE, size.requests())
            .handler(this).connect(address).sync().channel();
        remote = RpmaRemoteRegion.open(channel.peerPrivateData());
    }

    OneSidedSize size() {
        return size;
    }

    RpmaMessageChannel channel() {
        return channel;
    }

    RpmaRegion local() {
        return local;
    }

    RpmaRemoteRegion remote() {
        return remote;
    }

    /** Sets the run that receives credits and echoes. Called on the event loop. */
    void run(OneSidedRun running) {
        run = running;
    }

    /** Sends an order, or the message that ends an order, and waits for the answer. */
    Answer ask(ByteBuf message) throws IOException, InterruptedException {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        asked = answer;
        channel.writeAndFlush(message).addListener(sent -> {
            if (!sent.isSuccess()) {
                answer.completeExceptionally(sent.cause());
            }
        });
        if (!channel.isActive()) {
            answer.completeExceptionally(new IOException("the connection has ended"));
        }
        return await(answer);
    }

    Answer ask(OneSidedOrder.Task task, int bytes, long seed) throws IOException, InterruptedException {
        return ask(new OneSidedOrder(task, bytes, seed).toMessage(channel.alloc()));
    }

    private static <T> T await(CompletableFuture<T> future) throws IOException, InterruptedException {
        return await(future, 0);
    }

    /**
     * Waits for the end of something that takes up to a certain time on a fast machine.
     *
     * @param nanos the time in nanoseconds
     */
    static <T> T await(CompletableFuture<T> future, long nanos) throws IOException, InterruptedException {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(nanos) + PATIENCE_SECONDS;
        try {
            return future.get(seconds, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new IOException("the connection failed: " + e.getCause(), e.getCause());
        } catch (TimeoutException e) {
            throw new IOException("it has not ended within " + seconds + " s", e);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf buf = (ByteBuf) message;
        try {
            if (buf.readableBytes() == OneSidedOrder.ANSWER_BYTES) {
                asked.complete(new Answer(buf.readLong(), buf.readInt()));
            } else if (run != null) {
                run.received(buf);
            }
        } finally {
            buf.release();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        failed(cause);
        ctx.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        failed(new IOException("the server has closed the connection"));
        super.channelInactive(ctx);
    }

    private void failed(Throwable cause) {
        asked.completeExceptionally(cause);
        if (run != null) {
            run.fail(cause);
        }
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        remote.release();
        local.release();
    }
}
