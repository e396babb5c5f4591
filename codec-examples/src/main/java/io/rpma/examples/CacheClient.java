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
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.rpma.netty.RpmaByteBufAllocator;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.netty.RpmaOperation;
import io.rpma.netty.RpmaRemoteRegion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Reads the table of a {@link CacheServer} by one-sided reads, and changes it by messages. Not safe for use by several threads.
 */
final class CacheClient implements AutoCloseable {
    private static final int MAX_TORN = 10_000;
    private static final long PATIENCE_SECONDS = 20;

    private final RpmaMessageChannel channel;
    private final RpmaRemoteRegion table;
    private final Answers answers = new Answers();
    private final ByteBuf bucket = RpmaByteBufAllocator.DEFAULT.directBuffer(CacheTable.BUCKET_BYTES);
    private long torn;

    CacheClient(EventLoopGroup group, InetSocketAddress server) throws IOException {
        ChannelFuture connect = new Bootstrap().group(group).channel(RpmaMessageChannel.class).handler(answers)
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, CacheServer.WINDOW).connect(server);
        try {
            await(connect);
            channel = (RpmaMessageChannel) connect.channel();
            table = RpmaRemoteRegion.open(channel.peerPrivateData());
        } catch (IOException | RuntimeException e) {
            bucket.release();
            connect.channel().close();
            throw e;
        }
    }

    RpmaMessageChannel channel() {
        return channel;
    }

    /** Returns how many reads found a slot that was being changed. */
    long torn() {
        return torn;
    }

    /**
     * Reads a value. The server is not involved.
     *
     * @return the value, or {@code null} if the table does not contain the key
     */
    byte[] get(byte[] key) throws IOException {
        long at = CacheTable.bucket(key, table.size() / CacheTable.BUCKET_BYTES) * CacheTable.BUCKET_BYTES;
        for (int attempt = 0; attempt < MAX_TORN; attempt++) {
            await(channel.writeAndFlush(RpmaOperation.read(table, at, CacheTable.BUCKET_BYTES, bucket.clear())));
            ByteBuffer read = bucket.nioBuffer();
            switch (CacheTable.find(read, key)) {
                case FOUND -> {
                    byte[] value = new byte[read.remaining()];
                    read.get(value);
                    return value;
                }
                case ABSENT -> {
                    return null;
                }
                case TORN -> torn++;
            }
        }
        throw new IOException("a bucket was being changed in each of " + MAX_TORN + " reads");
    }

    /** Starts to change a value. Waits if the maximum number of puts is unanswered. */
    void put(byte[] key, byte[] value) throws IOException {
        if (key.length == 0 || key.length + value.length > CacheTable.MAX_ENTRY_BYTES) {
            throw new IllegalArgumentException("a key of " + key.length + " and a value of " + value.length
                + " bytes; the key has at least 1, both together at most " + CacheTable.MAX_ENTRY_BYTES);
        }
        answers.take(1);
        ByteBuf message = channel.alloc().directBuffer(2 + key.length + value.length);
        channel.writeAndFlush(message.writeShort(key.length).writeBytes(key).writeBytes(value), channel.voidPromise());
    }

    /** Waits until the server has answered every put. */
    void settle() throws IOException {
        answers.take(CacheServer.WINDOW);
        answers.free.release(CacheServer.WINDOW);
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        table.release();
        bucket.release();
    }

    private static void await(ChannelFuture future) throws IOException {
        if (!future.awaitUninterruptibly(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("the cache's server did not answer within " + PATIENCE_SECONDS + " s");
        }
        if (!future.isSuccess()) {
            throw new IOException(future.cause().getMessage(), future.cause());
        }
    }

    /** Counts the answers, so that the server always has a posted receive for the next put. */
    private static final class Answers extends SimpleChannelInboundHandler<ByteBuf> {
        private final Semaphore free = new Semaphore(CacheServer.WINDOW);
        private volatile Throwable failure;

        void take(int puts) throws IOException {
            try {
                if (failure == null && !free.tryAcquire(puts, PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                    throw new IOException("the cache's server did not answer within " + PATIENCE_SECONDS + " s");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while a put was answered", e);
            }
            if (failure != null) {
                throw new IOException("the connection to the cache's server has ended", failure);
            }
        }

        private void fail(Throwable cause) {
            failure = cause;
            free.release(CacheServer.WINDOW);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf answer) {
            free.release();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            fail(new ClosedChannelException());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            fail(cause);
            ctx.close();
        }
    }
}
