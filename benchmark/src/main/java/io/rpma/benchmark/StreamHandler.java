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
import java.util.concurrent.TimeUnit;

/**
 * Writes messages, filling every byte of them, as fast as the connection accepts them, and checks the sums that the server
 * reports.
 */
final class StreamHandler extends ClientHandler {
    /** After this many bytes, the event loop can do its other work. */
    private static final int BURST_BYTES = 1 << 20;

    private final int bytes;
    private final int stride;
    private final int reportBytes;
    private ChannelHandlerContext context;
    private long written;
    private long reported;
    private long report;
    private int reportLength;
    private boolean scheduled;

    StreamHandler(Measurement measurement, Window window) {
        super(window);
        bytes = measurement.bytes();
        stride = measurement.payloadStride();
        reportBytes = SinkHandler.reportBytes(measurement);
    }

    @Override
    void begin(ChannelHandlerContext ctx) {
        context = ctx;
        send();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (context != null) {
            send();
        }
    }

    private void sendScheduled() {
        scheduled = false;
        send();
    }

    private void send() {
        int burst = BURST_BYTES;
        // The stream ends at a multiple of the report interval, so that the last report confirms that all of it has arrived.
        while (burst > 0 && context.channel().isWritable() && !(isFinishing() && written % reportBytes == 0)) {
            ByteBuf message = context.alloc().directBuffer(bytes);
            PayloadSum.write(message, written / Long.BYTES, bytes, stride);
            written += bytes;
            burst -= bytes;
            context.write(message, context.voidPromise());
        }
        context.flush();
        if (burst <= 0 && !scheduled && context.channel().isWritable()) {
            scheduled = true;
            // A plain task would not work here: the event loop would run it, and the tasks that it submits, for a long time
            // before it handles its channels.
            context.executor().schedule(this::sendScheduled, 0, TimeUnit.NANOSECONDS);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf reports = (ByteBuf) message;
        try {
            while (reports.isReadable()) {
                report = report << 8 | reports.readUnsignedByte();
                if (++reportLength == Long.BYTES) {
                    reportLength = 0;
                    check(report);
                }
            }
        } finally {
            reports.release();
        }
    }

    private void check(long sum) {
        reported += reportBytes;
        long expected = PayloadSum.expected(reported / Long.BYTES, stride);
        if (sum != expected) {
            window.fail(new IllegalStateException("the first " + reported + " bytes were received with the sum " + sum + ", not "
                + expected));
        }
        arrived(reported / bytes);
    }

    @Override
    boolean isQuiet() {
        return written == reported;
    }
}
