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

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import org.HdrHistogram.Histogram;

/**
 * Sends a message, waits for the last byte of its echo, and gives the turn to the next connection of its event loop, which is the
 * same one if all connections talk at the same time.
 */
final class RoundTripHandler extends ClientHandler {
    private final Histogram times;
    private final Turns turns;
    private final int bytes;
    private int outstanding;
    private long number;
    private long began;

    RoundTripHandler(Measurement measurement, Window window, Histogram times, Turns turns) {
        super(window);
        this.times = times;
        this.turns = turns;
        bytes = measurement.bytes();
    }

    @Override
    void begin(ChannelHandlerContext ctx) {
        begin(System.nanoTime());
    }

    /**
     * Begins a turn, unless no new operation may start. Called on the event loop of the connection.
     *
     * @param now {@code System.nanoTime()}
     */
    void begin(long now) {
        if (!isFinishing()) {
            began = now;
            next(context());
        }
    }

    private void next(ChannelHandlerContext ctx) {
        outstanding = bytes;
        ctx.writeAndFlush(ctx.alloc().directBuffer(bytes).writeLong(++number).writerIndex(bytes), ctx.voidPromise());
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf echo = (ByteBuf) message;
        int length = echo.readableBytes();
        boolean isOther = outstanding == bytes && length >= Long.BYTES && echo.getLong(echo.readerIndex()) != number;
        echo.release();
        if (length > outstanding || isOther) {
            window.fail(new IllegalStateException("message " + number + " came back as another one"));
            return;
        }
        outstanding -= length;
        if (outstanding == 0) {
            long now = System.nanoTime();
            if (window.counts(began)) {
                times.recordValue(now - began);
            }
            arrived(number);
            turns.ended(this, now);
        }
    }

    @Override
    boolean isQuiet() {
        return outstanding == 0;
    }
}
