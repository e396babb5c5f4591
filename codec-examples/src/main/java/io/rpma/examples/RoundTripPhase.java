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

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Sends a small message, waits for its echo, and repeats this. The result is the distribution of the times in nanoseconds from
 * the write to the arrival of the last byte, without the warm-up.
 */
final class RoundTripPhase extends EchoPhase<Histogram> {
    private final Histogram times = new Histogram(TimeUnit.MINUTES.toNanos(1), 3);
    private final RandomBytes random;
    private final int warmUp;
    private final int roundTrips;
    // There may be more round trips than an int can count, because those for warming up are added to the measured ones.
    private long done;
    private int outstanding;
    private long started;

    RoundTripPhase(int warmUp, int roundTrips, RandomBytes random) {
        this.warmUp = warmUp;
        this.roundTrips = roundTrips;
        this.random = random;
        times.setAutoResize(true);
    }

    @Override
    void begin(ChannelHandlerContext ctx) {
        next(ctx);
    }

    private void next(ChannelHandlerContext ctx) {
        ByteBuf message = random.next(ctx.alloc(), EchoPlan.ROUND_TRIP_BYTES);
        outstanding = EchoPlan.ROUND_TRIP_BYTES;
        started = System.nanoTime();
        ctx.writeAndFlush(message, ctx.voidPromise());
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf echo) {
        outstanding -= echo.readableBytes();
        if (outstanding > 0) {
            return;
        }
        long time = System.nanoTime() - started;
        if (done >= warmUp) {
            times.recordValue(time);
        }
        done++;
        progress = done;
        if (done < (long) warmUp + roundTrips) {
            next(ctx);
        } else {
            finish(ctx, times);
        }
    }
}
