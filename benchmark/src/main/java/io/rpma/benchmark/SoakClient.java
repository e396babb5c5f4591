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
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.DuplexChannel;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * The client of a soak test. It sends messages on all connections in turn, limits the number of outstanding messages, and checks
 * every echo. All connections are on one event loop. Everything except connecting and waiting happens there.
 */
final class SoakClient implements AutoCloseable {
    private static final int STALLED_SECONDS = 30;
    private static final int CLOSE_SECONDS = 30;

    private final EventLoopGroup group;
    private final EventLoop loop;
    private final Connection[] connections;
    private final int depth;
    private final CompletableFuture<Void> failure = new CompletableFuture<>();
    private final AtomicLong received = new AtomicLong();
    private volatile boolean closing;
    private long sent;
    private long goal;
    private int turn;
    private CompletableFuture<Void> reached;

    /**
     * Opens the connections.
     *
     * @param transport the transport of both ends
     * @param server the address of the server
     * @param count the number of connections
     * @param bytes the size of a message in bytes
     * @param depth the maximum number of outstanding messages, over all connections
     */
    SoakClient(NettyTransport transport, SocketAddress server, int count, int bytes, int depth) throws InterruptedException {
        this.depth = depth;
        connections = new Connection[count];
        group = transport.newGroup(1);
        loop = (EventLoop) group.iterator().next();
        Bootstrap bootstrap = new Bootstrap().group(group).channel(transport.channel());
        try {
            for (int i = 0; i < count; i++) {
                Connection connection = new Connection(i, bytes);
                connections[i] = connection;
                bootstrap.clone().handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new SoakFrameDecoder(bytes), connection);
                    }
                }).connect(server).sync();
            }
        } catch (Throwable e) {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            throw e;
        }
    }

    /**
     * Sends the given number of messages and waits until all of them have come back.
     *
     * @param messages the number of messages
     * @param progress called every second with the total number of messages that have come back
     * @return the duration in nanoseconds
     * @throws IOException if a message is lost, damaged or out of order, if a connection fails, or if nothing happens for a long
     *     time
     */
    long run(long messages, LongConsumer progress) throws IOException, InterruptedException {
        CompletableFuture<Void> done = new CompletableFuture<>();
        long began = System.nanoTime();
        loop.execute(() -> {
            reached = done;
            goal += messages;
            send();
        });
        long seen = -1;
        for (int quiet = 0; quiet <= STALLED_SECONDS; quiet++) {
            try {
                CompletableFuture.anyOf(done, failure).get(1, TimeUnit.SECONDS);
                return System.nanoTime() - began;
            } catch (TimeoutException e) {
                long now = received.get();
                progress.accept(now);
                quiet = now == seen ? quiet : 0;
                seen = now;
            } catch (ExecutionException e) {
                throw new IOException("after " + received.get() + " messages: " + e.getCause(), e.getCause());
            }
        }
        throw new IOException("stalled: after " + seen + " messages nothing has come back for " + STALLED_SECONDS + " s");
    }

    /** Sends as many messages as may be outstanding, and flushes them. */
    private void send() {
        int first = turn;
        long written = 0;
        while (sent < goal && sent - received.getPlain() < depth) {
            connections[turn].send();
            turn = turn + 1 == connections.length ? 0 : turn + 1;
            sent++;
            written++;
        }
        for (int i = 0; i < Math.min(written, connections.length); i++) {
            connections[(first + i) % connections.length].context.flush();
        }
    }

    /** Closes all connections gracefully. Any data that arrives after the last echo is an error. */
    void finish() throws IOException, InterruptedException {
        closing = true;
        for (Connection connection : connections) {
            ((DuplexChannel) connection.context.channel()).shutdownOutput();
        }
        for (Connection connection : connections) {
            if (!connection.context.channel().closeFuture().await(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("connection " + connection.id + " is still open " + CLOSE_SECONDS
                    + " s after this end has finished");
            }
        }
        if (failure.isCompletedExceptionally()) {
            throw new IOException("at the end: " + failure.exceptionNow(), failure.exceptionNow());
        }
    }

    @Override
    public void close() {
        closing = true;
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** One connection. */
    private final class Connection extends ChannelInboundHandlerAdapter {
        private final int id;
        private final SoakMessage format;
        private ChannelHandlerContext context;
        private long nextSent;
        private long nextReceived;

        Connection(int id, int bytes) {
            this.id = id;
            format = new SoakMessage(bytes);
        }

        void send() {
            ByteBuf message = context.alloc().directBuffer(format.bytes());
            format.write(message, id, nextSent++);
            context.write(message, context.voidPromise());
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            context = ctx;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf echo = (ByteBuf) message;
            try {
                if (nextReceived == nextSent) {
                    throw new IllegalStateException("an echo of nothing came on connection " + id);
                }
                format.check(echo, id, nextReceived++);
            } finally {
                echo.release();
            }
            // Only this thread writes the value, so a plain read is sufficient.
            received.setRelease(received.getPlain() + 1);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            if (received.getPlain() == goal) {
                reached.complete(null);
            } else {
                SoakClient.this.send();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (!closing) {
                failure.completeExceptionally(new IOException("the server has closed connection " + id));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failure.completeExceptionally(cause);
            ctx.close();
        }
    }
}
