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

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The client's end of a connection. It starts when all connections are open. When the window closes, it starts no new operation,
 * and it is done when all messages that it has sent are known to have arrived.
 */
abstract class ClientHandler extends ChannelInboundHandlerAdapter {
    final Window window;
    private final AtomicLong arrived = new AtomicLong();
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private ChannelHandlerContext context;
    private boolean finishing;

    ClientHandler(Window window) {
        this.window = window;
    }

    /** Starts the operations. Called on the event loop of the connection. */
    abstract void begin(ChannelHandlerContext ctx);

    /** Returns whether no operation is outstanding. Called on the event loop of the connection. */
    abstract boolean isQuiet();

    /** Returns how many messages are known to have arrived so far. Any thread may call this method. */
    final long arrived() {
        return arrived.getAcquire();
    }

    /** Sets how many messages are known to have arrived. Called on the event loop of the connection. */
    final void arrived(long messages) {
        arrived.setRelease(messages);
        checkDone();
    }

    /** Starts the operations. Any thread may call this method. */
    final void begin() {
        context.executor().execute(() -> begin(context));
    }

    /** Returns the context of this handler. */
    final ChannelHandlerContext context() {
        return context;
    }

    /** Stops starting new operations. Any thread may call this method. The future completes when no operation is outstanding. */
    final CompletableFuture<Void> finish() {
        context.executor().execute(() -> {
            finishing = true;
            checkDone();
        });
        return done;
    }

    /** Returns whether no new operation may start. Called on the event loop of the connection. */
    final boolean isFinishing() {
        return finishing;
    }

    private void checkDone() {
        if (finishing && isQuiet()) {
            done.complete(null);
        }
    }

    @Override
    public final void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
    }

    @Override
    public final void channelInactive(ChannelHandlerContext ctx) {
        window.fail(new IllegalStateException("the server closed the connection"));
    }

    @Override
    public final void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        window.fail(cause);
        ctx.close();
    }
}
