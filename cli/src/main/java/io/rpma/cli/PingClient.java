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
package io.rpma.cli;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.util.concurrent.Promise;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaPath;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;

/** Sends one message at a time to a server that returns it, checks the returned bytes, and measures the time. */
final class PingClient implements AutoCloseable {
    /** The size of the shortest message in bytes. Such a message contains only its number. */
    static final int SMALLEST = 8;

    private static final long LOOK_MILLIS = 200;

    private final EventLoopGroup group = new RpmaEventLoopGroup(1);
    private final SingleWriterRecorder recorder = new SingleWriterRecorder(3);
    private final int timeoutSeconds;
    private final RoundTrips roundTrips;
    private final Promise<Void> finished;
    private final ChannelFuture connected;

    /**
     * Starts to connect to the server.
     *
     * @param address the address of the echo server
     * @param path the path of the connection
     * @param size the size of a message in bytes, at least {@link #SMALLEST}
     * @param count the number of round trips, 0 for no limit
     * @param intervalNanos the pause after each round trip, in nanoseconds
     * @param timeoutSeconds how long the connection, or an echo, may take
     */
    PingClient(InetSocketAddress address, RpmaPath path, int size, long count, long intervalNanos, int timeoutSeconds) {
        this.timeoutSeconds = timeoutSeconds;
        roundTrips = new RoundTrips(size, count, intervalNanos);
        finished = group.next().newPromise();
        try {
            connected = new Bootstrap().group(group).channel(RpmaChannel.class).handler(roundTrips)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) TimeUnit.SECONDS.toMillis(timeoutSeconds))
                .option(RpmaChannelOption.RPMA_PATHS, List.of(path)).connect(address);
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /**
     * Waits for the connection, and closes the client if there is none.
     *
     * @throws IOException if the connection fails, or if {@link #stop()} is called before; the message gives the reason
     */
    void connect() throws IOException {
        try {
            connected.syncUninterruptibly();
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /** Returns the channel, which is connected if {@link #connect()} has returned. */
    RpmaChannel channel() {
        return (RpmaChannel) connected.channel();
    }

    /**
     * Sends and receives messages until the number of round trips is reached or the time has expired.
     *
     * @param nanos the longest duration of the run, in nanoseconds
     * @param watch called about five times per second with the times of all round trips so far and the nanoseconds since the
     *     start
     * @return the times of all round trips, in nanoseconds
     * @throws IOException if an echo was wrong or did not arrive in time
     */
    Histogram run(long nanos, BiConsumer<Histogram, Long> watch) throws IOException, InterruptedException {
        Histogram all = new Histogram(3);
        Histogram recent = null;
        long began = System.nanoTime();
        long lastAnswer = began;
        group.execute(roundTrips::next);
        while (!finished.await(LOOK_MILLIS)) {
            recent = recorder.getIntervalHistogram(recent);
            all.add(recent);
            long now = System.nanoTime();
            if (recent.getTotalCount() > 0) {
                lastAnswer = now;
            } else if (now - lastAnswer > TimeUnit.SECONDS.toNanos(timeoutSeconds) + roundTrips.intervalNanos) {
                throw new IOException("no answer from " + channel().remoteAddress() + " for " + timeoutSeconds
                    + " s after " + all.getTotalCount() + " round trips; does an echo server listen there?");
            }
            watch.accept(all, now - began);
            if (now - began >= nanos) {
                group.execute(roundTrips::stop);
            }
        }
        all.add(recorder.getIntervalHistogram());
        if (!finished.isSuccess()) {
            throw new IOException("after " + all.getTotalCount() + " round trips: " + FailureText.of(finished.cause()),
                finished.cause());
        }
        return all;
    }

    /**
     * Ends the attempt to connect, or the run, without waiting for the server, which may never answer. Any thread may call this
     * method, also when the run has ended.
     */
    void stop() {
        try {
            // A task of the event loop finds the channel registered, because the constructor has registered it before.
            group.execute(() -> {
                if (!connected.isDone()) {
                    connected.channel().close();
                }
                finished.trySuccess(null);
            });
        } catch (RejectedExecutionException e) {
            // The client was closed at the same time, so there is nothing to end.
            return;
        }
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** The part of the client that runs on the event loop. */
    private final class RoundTrips extends SimpleChannelInboundHandler<ByteBuf> {
        private final int size;
        private final long count;
        private final long intervalNanos;
        private ChannelHandlerContext context;
        private long number;
        private int arrived;
        private long started;
        private boolean underWay;
        private boolean stopping;

        RoundTrips(int size, long count, long intervalNanos) {
            this.size = size;
            this.count = count;
            this.intervalNanos = intervalNanos;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            context = ctx;
        }

        void next() {
            if (stopping || finished.isDone()) {
                finished.trySuccess(null);
                return;
            }
            ByteBuf message = context.alloc().directBuffer(size, size);
            for (int at = 0; at < size; at++) {
                message.writeByte(expected(at));
            }
            arrived = 0;
            underWay = true;
            started = System.nanoTime();
            context.writeAndFlush(message).addListener(sent -> {
                // If the channel is closed, channelInactive() follows, which gives the reason in words.
                if (!sent.isSuccess() && !(sent.cause() instanceof ClosedChannelException)) {
                    finished.tryFailure(sent.cause());
                }
            });
        }

        /** Ends the run after the echo that is outstanding. */
        void stop() {
            stopping = true;
            if (!underWay) {
                finished.trySuccess(null);
            }
        }

        // Returns the expected byte at an index: first the bytes of the message's number, then bytes that differ from message to
        // message.
        private byte expected(int at) {
            return at < SMALLEST ? (byte) (number >>> 8 * at) : (byte) (number + at);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf echo) {
            long now = System.nanoTime();
            for (; echo.isReadable(); arrived++) {
                byte got = echo.readByte();
                if (!underWay || arrived >= size || got != expected(arrived)) {
                    finished.tryFailure(new IOException("byte " + arrived + " of message " + number + " came back as "
                        + Byte.toUnsignedInt(got) + (arrived < size ? ", not " + Byte.toUnsignedInt(expected(arrived))
                        : ", although the message has " + size) + ": the server is not an echo server"));
                    return;
                }
            }
            if (arrived < size) {
                return;
            }
            underWay = false;
            recorder.recordValue(now - started);
            number++;
            if (number == count) {
                stopping = true;
            }
            if (intervalNanos > 0 && !stopping) {
                ctx.executor().schedule(this::next, intervalNanos, TimeUnit.NANOSECONDS);
            } else {
                next();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            finished.tryFailure(new IOException("the server closed the connection"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            finished.tryFailure(cause);
            ctx.close();
        }
    }
}
