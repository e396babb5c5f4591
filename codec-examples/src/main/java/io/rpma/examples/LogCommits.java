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
import io.netty.channel.ChannelPromise;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;

/**
 * Requests from the server of a log that the appended records become durable, and completes the promises of the records. Only one
 * request is outstanding at a time. Records that are appended in the meantime are part of the next request.
 */
final class LogCommits extends SimpleChannelInboundHandler<ByteBuf> {
    /** A record that is not durable yet, and the offset of its end. */
    private record Pending(long end, ChannelPromise appended) {
    }

    private final ArrayDeque<Pending> pending = new ArrayDeque<>();
    private ChannelHandlerContext context;
    private boolean asked;

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
    }

    /** Called when the tail has been moved behind a record, on the event loop and in the order of the records. */
    void appended(long end, ChannelPromise appended) {
        if (!context.channel().isActive()) {
            appended.setFailure(new ClosedChannelException());
            return;
        }
        pending.add(new Pending(end, appended));
        ask();
    }

    private void ask() {
        if (!asked && !pending.isEmpty()) {
            asked = true;
            context.writeAndFlush(Unpooled.EMPTY_BUFFER);
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf answer) throws IOException {
        if (!asked || answer.readableBytes() != Long.BYTES) {
            throw new IOException("the log's server answered what it was not asked, in " + answer.readableBytes() + " bytes");
        }
        asked = false;
        long durable = answer.readLong();
        while (!pending.isEmpty() && pending.peek().end <= durable) {
            pending.remove().appended.setSuccess();
        }
        ask();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        for (Pending next = pending.poll(); next != null; next = pending.poll()) {
            next.appended.setFailure(new ClosedChannelException());
        }
        ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        for (Pending next = pending.poll(); next != null; next = pending.poll()) {
            next.appended.setFailure(cause);
        }
        ctx.close();
    }
}
