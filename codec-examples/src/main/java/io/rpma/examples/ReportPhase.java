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
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.CorruptedFrameException;

/**
 * Shuts down the output of this side, which makes the server send its report and close the connection. The result is the report.
 */
final class ReportPhase extends EchoPhase<EchoReport> {
    private final ByteBuf received = Unpooled.buffer(EchoReport.LENGTH, EchoReport.LENGTH);

    @Override
    void begin(ChannelHandlerContext ctx) {
        ((DuplexChannel) ctx.channel()).shutdownOutput().addListener(shutdown -> {
            if (!shutdown.isSuccess()) {
                result.tryFailure(shutdown.cause());
            }
        });
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf bytes) {
        if (bytes.readableBytes() > received.writableBytes()) {
            throw new CorruptedFrameException("the server sent more than was asked of it: " + bytes.readableBytes()
                + " bytes where at most " + received.writableBytes() + " were left of its report");
        }
        received.writeBytes(bytes);
        progress = received.readableBytes();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (received.isWritable()) {
            super.channelInactive(ctx);
        } else {
            result.setSuccess(EchoReport.decode(received));
        }
    }
}
