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
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.concurrent.Future;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Sends a stream to an echo server and receives it back, then measures round trips, then compares checksums with the server. Each
 * of these three phases is a handler. This class owns the connection, and starts each phase when the previous one has ended.
 */
final class EchoClient implements AutoCloseable {
    private static final long STALL_SECONDS = 30;

    private final EventLoopGroup group = new RpmaEventLoopGroup(1);
    private final ChecksumHandler checksums = new ChecksumHandler();
    private final Channel channel;
    private final Watch watch;

    /** Is called regularly while the client waits. */
    interface Watch {
        /**
         * Called about ten times per second.
         *
         * @param what the name of the current phase
         * @param done how many bytes or round trips have been completed
         * @param of the total number of bytes or round trips
         * @throws IOException if the client should stop waiting
         */
        void look(String what, long done, long of) throws IOException;
    }

    EchoClient(InetSocketAddress server, Watch watch) throws IOException {
        this.watch = watch;
        try {
            channel = new Bootstrap()
                .group(group)
                .channel(RpmaChannel.class)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(4 << 20, 8 << 20))
                .handler(checksums)
                .connect(server).syncUninterruptibly().channel();
        } catch (Throwable e) {
            group.shutdownGracefully();
            throw e;
        }
    }

    /** Runs the whole plan and returns its result, even if the checksums differ. */
    EchoResult run(EchoPlan plan) throws IOException {
        RandomBytes random = new RandomBytes(plan.seed());
        long streamNanos = await("stream", plan.bytes(), new StreamPhase(plan.bytes(), random));
        Histogram roundTrips = null;
        if (plan.roundTrips() > 0) {
            roundTrips = await("round trips", plan.messages(),
                new RoundTripPhase(plan.warmUp(), plan.roundTrips(), random));
        }
        EchoReport client = channel.eventLoop().submit(checksums::report).syncUninterruptibly().getNow();
        EchoReport server = await("report", EchoReport.LENGTH, new ReportPhase());
        return new EchoResult(plan, streamNanos, roundTrips, client, server);
    }

    private <T> T await(String what, long total, EchoPhase<T> phase) throws IOException {
        Future<T> result = phase.start(channel);
        long last = 0;
        long lastMove = System.nanoTime();
        while (!result.awaitUninterruptibly(100, TimeUnit.MILLISECONDS)) {
            long done = phase.progress;
            watch.look(what, done, total);
            if (done != last) {
                last = done;
                lastMove = System.nanoTime();
            } else if (System.nanoTime() - lastMove > TimeUnit.SECONDS.toNanos(STALL_SECONDS)) {
                throw new IOException("nothing has arrived for " + STALL_SECONDS + " s: " + what + ", " + done + " of " + total);
            }
        }
        if (result.isSuccess()) {
            return result.getNow();
        }
        String how = result.cause() instanceof ClosedChannelException ? "the server closed the connection"
            : "the connection failed";
        throw new IOException(how + ": " + what + ", " + phase.progress + " of " + total, result.cause());
    }

    Channel channel() {
        return channel;
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
