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
package io.rpma.testsuite;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;

import java.util.concurrent.CompletableFuture;

/** Compares the received bytes with {@link Pattern}, and completes a future with their number at the end. */
final class PatternChecker extends SimpleChannelInboundHandler<ByteBuf> {
    private final CompletableFuture<Long> done = new CompletableFuture<>();
    private final long expected;
    private long checked;

    /**
     * Creates a checker for one stream.
     *
     * @param expected the number of bytes after which the future completes; {@link Long#MAX_VALUE} if it must only complete at
     *     the end of the stream
     */
    PatternChecker(long expected) {
        this.expected = expected;
    }

    CompletableFuture<Long> done() {
        return done;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) {
        Pattern.check(data, checked);
        checked += data.readableBytes();
        if (checked >= expected) {
            done.complete(checked);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
        if (event instanceof ChannelInputShutdownReadComplete) {
            done.complete(checked);
        }
        super.userEventTriggered(ctx, event);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        done.complete(checked);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        done.completeExceptionally(cause);
        ctx.close();
    }
}
