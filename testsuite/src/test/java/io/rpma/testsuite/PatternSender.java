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

import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

import java.nio.channels.ClosedChannelException;
import java.util.SplittableRandom;

/** Writes {@link Pattern} from its start in pieces of random sizes, as fast as the channel is writable. */
final class PatternSender extends ChannelInboundHandlerAdapter {
    private final SplittableRandom random = new SplittableRandom(4711);
    private final long total;
    private final int largestPiece;
    private final Runnable whenWritten;
    private long sent;

    /**
     * Creates a sender for one stream.
     *
     * @param whenWritten runs on the loop after the last promise has succeeded
     */
    PatternSender(long total, int largestPiece, Runnable whenWritten) {
        this.total = total;
        this.largestPiece = largestPiece;
        this.whenWritten = whenWritten;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) throws Exception {
        send(ctx);
        super.channelActive(ctx);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) throws Exception {
        send(ctx);
        super.channelWritabilityChanged(ctx);
    }

    private void send(ChannelHandlerContext ctx) {
        while (sent < total && ctx.channel().isActive() && ctx.channel().isWritable()) {
            int length = (int) Math.min(total - sent, random.nextInt(1, largestPiece + 1));
            boolean last = sent + length == total;
            // The piece is counted before the write, because the write may change the writability and call this method again.
            long position = sent;
            sent += length;
            ctx.write(Pattern.write(ctx.alloc().buffer(length), position, length)).addListener((ChannelFutureListener) future -> {
                if (future.cause() instanceof ClosedChannelException) {
                    // The channel was closed. The receiver's count shows that bytes are missing.
                    return;
                }
                if (!future.isSuccess()) {
                    ctx.pipeline().fireExceptionCaught(future.cause());
                } else if (last) {
                    whenWritten.run();
                }
            });
            if (last || random.nextInt(4) == 0) {
                ctx.flush();
            }
        }
        ctx.flush();
    }
}
