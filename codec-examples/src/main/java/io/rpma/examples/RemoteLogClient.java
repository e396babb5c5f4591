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
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.util.ReferenceCountUtil;
import io.rpma.FlushType;
import io.rpma.MemoryUsage;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.netty.RpmaOperation;
import io.rpma.netty.RpmaRegion;
import io.rpma.netty.RpmaRemoteRegion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Appends to one lane of a log in another process's memory. That process is only involved if a flush is not sufficient to make
 * the log durable. Not safe for use by several threads.
 */
final class RemoteLogClient implements AutoCloseable {
    private static final int PIECE = 1 << 20;
    private static final long PATIENCE_SECONDS = 20;

    private final RpmaMessageChannel channel;
    private final RpmaRemoteRegion region;
    private final LogDurability durability;
    private final LogCommits commits = new LogCommits();
    private final FlushType flush;
    private final int laneBytes;
    private final long base;
    private long offset;
    private long count;

    /** Connects, waits until the server grants the lane, and reads the records of the lane. */
    RemoteLogClient(EventLoopGroup group, InetSocketAddress server, int lane) throws IOException {
        Grant grant = new Grant(lane);
        ChannelFuture connect = new Bootstrap().group(group).channel(RpmaMessageChannel.class)
            .handler(new ChannelInitializer<RpmaMessageChannel>() {
                @Override
                protected void initChannel(RpmaMessageChannel connecting) {
                    connecting.pipeline().addLast(grant, commits);
                }
            })
            .option(RpmaChannelOption.RPMA_PRIVATE_DATA, ByteBuffer.allocate(8).putInt(RemoteLogServer.HELLO).putInt(lane).flip())
            .connect(server);
        RpmaRemoteRegion opened = null;
        try {
            await(connect);
            channel = (RpmaMessageChannel) connect.channel();
            grant.await();
            ByteBuffer told = channel.peerPrivateData();
            opened = RpmaRemoteRegion.open(told);
            await(channel.applyPeerConfig(told.slice(told.position(), 1)));
            durability = LogDurability.told(told.get(told.position() + 1));
            laneBytes = told.getInt(told.position() + 2);
            base = (long) lane * laneBytes;
            if (laneBytes < LogFormat.HEADER_BYTES || base + laneBytes > opened.size()) {
                throw new IOException("lane " + lane + " of " + laneBytes + " bytes lies outside of a log of " + opened.size());
            }
            flush = durability == LogDurability.PERSISTENT_MEMORY ? FlushType.PERSISTENT : FlushType.VISIBILITY;
            region = opened;
            recover();
            // The previous client may not have flushed its last records. They belong to the log now, so they are flushed here.
            await(channel.writeAndFlush(RpmaOperation.flush(region, base, offset, flush)));
        } catch (IOException | RuntimeException e) {
            if (opened != null) {
                opened.release();
            }
            connect.channel().close();
            throw e;
        }
    }

    RpmaMessageChannel channel() {
        return channel;
    }

    /** Returns which failures an acknowledged record survives. */
    LogDurability durability() {
        return durability;
    }

    /** Returns the number of records that the lane contained at first or has received since. */
    long count() {
        return count;
    }

    /** Reads the lane by one-sided reads, and finds its end. */
    void recover() throws IOException {
        ByteBuf word = Unpooled.buffer(Long.BYTES);
        await(channel.writeAndFlush(RpmaOperation.read(region, base, Long.BYTES, word)));
        long tail = Math.max(LogFormat.HEADER_BYTES, word.nioBuffer().order(ByteOrder.nativeOrder()).getLong());
        if (tail > laneBytes) {
            throw new IOException("the tail is " + tail + ", beyond the lane's " + laneBytes + " bytes");
        }
        RpmaRegion copy = RpmaRegion.allocate(tail, MemoryUsage.READ_DST);
        try {
            for (long from = 0; from < tail; from += PIECE) {
                await(channel.writeAndFlush(RpmaOperation.read(region, base + from, Math.min(PIECE, tail - from), copy, from)));
            }
            LogFormat.Reader reader = new LogFormat.Reader();
            reader.read(copy.memory().asByteBuffer(), (number, payload) -> { });
            offset = reader.offset();
            count = reader.count();
        } finally {
            copy.release();
        }
    }

    /**
     * Appends a record. It writes the record, flushes it, and only then moves the tail behind it. If the flush does not make the
     * record durable, the server is asked to do so.
     *
     * @return succeeds when the record is part of the log and has the durability of {@link #durability()}
     */
    ChannelFuture append(byte[] payload) {
        ChannelPromise appended = channel.newPromise();
        int bytes = LogFormat.recordBytes(payload.length);
        if (bytes > laneBytes - offset) {
            return appended.setFailure(new IOException("the lane is full: a record of " + bytes + " bytes does not fit behind "
                + offset + " of " + laneBytes));
        }
        long at = offset;
        long number = count++;
        offset += bytes;
        // This runs on the event loop, where a write that fails immediately has already failed when the call returns. The tail
        // must not be moved in that case.
        channel.eventLoop().execute(() -> {
            ChannelFuture written =
                channel.write(RpmaOperation.write(LogFormat.record(channel.alloc(), number, payload), region, base + at));
            if (written.isDone() && !written.isSuccess()) {
                appended.setFailure(written.cause());
                channel.close();
                return;
            }
            channel.write(RpmaOperation.flush(region, base + at, bytes, flush));
            channel.write(RpmaOperation.atomicWrite(region, base, at + bytes));
            ChannelFuture flushed = channel.writeAndFlush(RpmaOperation.flush(region, base, Long.BYTES, flush));
            flushed.addListener(done -> {
                if (!done.isSuccess()) {
                    appended.setFailure(done.cause());
                } else if (durability.isByServer()) {
                    commits.appended(at + bytes, appended);
                } else {
                    appended.setSuccess();
                }
            });
        });
        return appended;
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        region.release();
    }

    private static void await(ChannelFuture future) throws IOException {
        if (!future.awaitUninterruptibly(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("the log's server did not answer within " + PATIENCE_SECONDS + " s");
        }
        if (!future.isSuccess()) {
            throw new IOException(future.cause().getMessage(), future.cause());
        }
    }

    /** Waits for the first message of the server, which grants the lane to this client. */
    private static final class Grant extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Void> granted = new CompletableFuture<>();
        private final int lane;

        Grant(int lane) {
            this.lane = lane;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (granted.complete(null)) {
                ReferenceCountUtil.release(message);
            } else {
                ctx.fireChannelRead(message);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            granted.completeExceptionally(new IOException("the server closed the connection instead of granting lane "
                + lane + ": another client has the lane, the log has no such lane (--clients of the server is how many it has),"
                + " or the server is not a remote-log"));
            ctx.fireChannelInactive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            granted.completeExceptionally(cause);
            ctx.fireExceptionCaught(cause);
        }

        void await() throws IOException {
            try {
                granted.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                throw new IOException(e.getCause().getMessage(), e.getCause());
            } catch (TimeoutException e) {
                throw new IOException("the log's server did not grant the lane within " + PATIENCE_SECONDS + " s", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while the lane was granted", e);
            }
        }
    }
}
