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

/**
 * Reads every byte of a stream, or the first eight bytes of each message, and sends back the running sum as eight bytes at
 * regular intervals. The client can verify from it which part of the stream has arrived and that all of it was read.
 */
final class SinkHandler extends ServerHandler {
    private final PayloadSum payload;
    private final int reportBytes;
    private int unreported;
    private boolean flush;

    SinkHandler(Measurement measurement) {
        payload = new PayloadSum(measurement.payloadStride());
        reportBytes = reportBytes(measurement);
    }

    /** Returns the number of bytes between two reports. It is large compared with a report, and small compared with a window. */
    static int reportBytes(Measurement measurement) {
        return Math.max(measurement.bytes(), Math.max(64 << 10, (1 << 20) / measurement.connections()));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf buffer = (ByteBuf) message;
        try {
            int index = buffer.readerIndex();
            int end = buffer.writerIndex();
            while (index < end) {
                int length = Math.min(end - index, reportBytes - unreported);
                payload.add(buffer, index, length);
                index += length;
                unreported += length;
                if (unreported == reportBytes) {
                    unreported = 0;
                    ctx.write(ctx.alloc().directBuffer(Long.BYTES).writeLong(payload.sum()), ctx.voidPromise());
                    flush = true;
                }
            }
        } finally {
            buffer.release();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (flush) {
            flush = false;
            ctx.flush();
        }
    }
}
