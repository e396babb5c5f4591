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

package io.rpma.chaos;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;

/** Sends back all received data as fast as the peer accepts it, and closes a connection that has received nothing for a while. */
final class EchoHandler extends ChannelInboundHandlerAdapter {
    private final long idleMillis;
    private long lastRead = System.nanoTime();

    /**
     * Creates a handler for one channel.
     *
     * @param idleMillis the time without received data after which the connection is closed
     */
    EchoHandler(long idleMillis) {
        this.idleMillis = idleMillis;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        watch(ctx);
    }

    private void watch(ChannelHandlerContext ctx) {
        long idle = (System.nanoTime() - lastRead) / 1_000_000;
        if (idle >= idleMillis) {
            ctx.close();
        } else if (ctx.channel().isOpen()) {
            ctx.executor().schedule(() -> watch(ctx), idleMillis - idle, TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object data) {
        lastRead = System.nanoTime();
        ctx.write(data);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ctx.flush();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        ctx.channel().config().setAutoRead(ctx.channel().isWritable());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        System.err.println(ctx.channel() + ": " + cause);
        ctx.close();
    }
}
