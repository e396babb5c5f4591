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

/**
 * Sends a stream of random data in messages of random sizes, as fast as the channel accepts it, and receives the echo of the
 * stream at the same time. The result is the time in nanoseconds from the first write to the last received byte.
 */
final class StreamPhase extends EchoPhase<Long> {
    private final long bytes;
    private final RandomBytes random;
    private long unsent;
    private long received;
    private long started;

    StreamPhase(long bytes, RandomBytes random) {
        this.bytes = bytes;
        this.random = random;
        this.unsent = bytes;
    }

    @Override
    void begin(ChannelHandlerContext ctx) {
        started = System.nanoTime();
        send(ctx);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        send(ctx);
    }

    private void send(ChannelHandlerContext ctx) {
        while (unsent > 0 && ctx.channel().isWritable()) {
            int length = (int) Math.min(unsent, random.nextSize(EchoPlan.LARGEST_MESSAGE));
            unsent -= length;
            ctx.writeAndFlush(random.next(ctx.alloc(), length), ctx.voidPromise());
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf echo) {
        received += echo.readableBytes();
        progress = received;
        if (received >= bytes) {
            finish(ctx, System.nanoTime() - started);
        }
    }
}
