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
 * A phase of an echo client. It is the last handler of the pipeline while it runs.
 *
 * @param <T> the type of the result
 */
abstract class EchoPhase<T> extends SimpleChannelInboundHandler<ByteBuf> {
    /** Completes with the result of the phase, or with the reason of its failure. */
    protected Promise<T> result;

    /** The number of bytes or round trips that are done. The waiting thread reads it. */
    protected volatile long progress;

    /** Starts the phase by adding this handler at the end of the channel's pipeline. The future completes with the result. */
    final Future<T> start(Channel channel) {
        result = channel.eventLoop().newPromise();
        channel.pipeline().addLast(this);
        return result;
    }

    /** Ends the phase and removes this handler from the pipeline. */
    final void finish(ChannelHandlerContext ctx, T outcome) {
        ctx.pipeline().remove(this);
        result.setSuccess(outcome);
    }

    /** Called once, when the connection can be used. */
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
