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
 * Keeps a fixed number of messages outstanding. It sends another message for every echo that arrives, and flushes once for all
 * echoes that arrive together. It must be placed after a decoder that produces whole messages.
 */
final class PipelineHandler extends ClientHandler {
    private final Histogram times;
    private final int bytes;
    /** The start times of the outstanding messages, indexed by their numbers; the length is a power of two. */
    private final long[] began;
    private long sent;
    private long received;
    private boolean flush;

    PipelineHandler(Measurement measurement, Window window, Histogram times) {
        super(window);
        this.times = times;
        bytes = measurement.bytes();
        if (Integer.bitCount(measurement.depth()) != 1) {
            throw new IllegalArgumentException("depth " + measurement.depth() + ": a power of two is needed");
        }
        began = new long[measurement.depth()];
    }

    @Override
    void begin(ChannelHandlerContext ctx) {
        for (long now = System.nanoTime(); sent < began.length;) {
            send(ctx, now);
        }
        ctx.flush();
    }

    private void send(ChannelHandlerContext ctx, long now) {
        began[(int) sent & began.length - 1] = now;
        ctx.write(ctx.alloc().directBuffer(bytes).writeLong(sent).writerIndex(bytes), ctx.voidPromise());
        sent++;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf echo = (ByteBuf) message;
        long number = echo.getLong(echo.readerIndex());
        echo.release();
        if (number != received) {
            window.fail(new IllegalStateException("message " + received + " came back as " + number));
            return;
        }
        long now = System.nanoTime();
        long then = began[(int) number & began.length - 1];
        if (window.counts(then)) {
            times.recordValue(now - then);
        }
        arrived(++received);
        if (!isFinishing()) {
            send(ctx, now);
            flush = true;
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (flush) {
            flush = false;
            ctx.flush();
        }
    }

    @Override
    boolean isQuiet() {
        return sent == received;
    }
}
