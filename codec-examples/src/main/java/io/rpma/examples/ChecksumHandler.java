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
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Counts the bytes that pass in each direction and computes their CRC-32C. */
final class ChecksumHandler extends ChannelDuplexHandler {
    private final CRC32C receivedChecksum = new CRC32C();
    private final CRC32C sentChecksum = new CRC32C();
    private long received;
    private long sent;

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        received += bytes.readableBytes();
        update(receivedChecksum, bytes);
        ctx.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        ByteBuf bytes = (ByteBuf) message;
        sent += bytes.readableBytes();
        update(sentChecksum, bytes);
        ctx.write(message, promise);
    }

    /** Returns a report about the bytes so far. Must be called on the channel's event loop. */
    EchoReport report() {
        return new EchoReport(received, (int) receivedChecksum.getValue(), sent, (int) sentChecksum.getValue());
    }

    private static void update(CRC32C checksum, ByteBuf bytes) {
        if (bytes.nioBufferCount() == 1) {
            // Uses the internal NIO buffer to avoid an allocation.
            checksum.update(bytes.internalNioBuffer(bytes.readerIndex(), bytes.readableBytes()));
        } else {
            for (ByteBuffer part : bytes.nioBuffers()) {
                checksum.update(part);
            }
        }
    }
}
