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
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.nio.channels.ClosedChannelException;

/**
 * One part of what an echo client does: the last handler of the pipeline as long as it lasts.
 *
 * @param <T> what comes of it
 */
abstract class EchoPhase<T> extends SimpleChannelInboundHandler<ByteBuf> {
    /** What comes of the phase, or why nothing does. */
    protected Promise<T> result;

    /** The bytes, or round trips, that are done; read by the thread that waits. */
    protected volatile long progress;

    /** Begins: makes this the last handler of a connection. The future tells what came of it. */
    final Future<T> start(Channel channel) {
        result = channel.eventLoop().newPromise();
        channel.pipeline().addLast(this);
        return result;
    }

    /** Ends the phase and leaves the pipeline. */
    final void finish(ChannelHandlerContext ctx, T outcome) {
        ctx.pipeline().remove(this);
        result.setSuccess(outcome);
    }

    /** Called once when the connection is there to be used. */
    abstract void begin(ChannelHandlerContext ctx);

    @Override
    public final void handlerAdded(ChannelHandlerContext ctx) {
        if (!ctx.channel().isActive()) {
            result.tryFailure(new ClosedChannelException());
            return;
        }
        try {
            begin(ctx);
        } catch (RuntimeException e) {
            result.tryFailure(e);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        result.tryFailure(new ClosedChannelException());
    }

    @Override
    public final void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        result.tryFailure(cause);
        ctx.close();
    }
}
