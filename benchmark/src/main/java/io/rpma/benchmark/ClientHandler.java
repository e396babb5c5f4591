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
import org.HdrHistogram.Histogram;

/**
 * The client's end of a connection. It is told to begin when all connections are open, and to finish when the window is closed:
 * then it begins nothing new, and is done when all that it has sent is known to have arrived.
 */
abstract class ClientHandler extends ChannelInboundHandlerAdapter {
    private static final Histogram NO_TIMES = new Histogram(1);

    final Window window;
    private final AtomicLong arrived = new AtomicLong();
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private ChannelHandlerContext context;
    private boolean finishing;

    ClientHandler(Window window) {
        this.window = window;
    }

    /** Begins, on the connection's loop. */
    abstract void begin(ChannelHandlerContext ctx);

    /** Whether nothing is under way; on the connection's loop. */
    abstract boolean isQuiet();

    /** Returns the times of the operations within the window, in nanoseconds; read when the handler is done. */
    Histogram times() {
        return NO_TIMES;
    }

    /** Returns how many messages are known to have arrived so far; any thread. */
    final long arrived() {
        return arrived.getAcquire();
    }

    /** To be called when so many messages are known to have arrived; on the connection's loop. */
    final void arrived(long messages) {
        arrived.setRelease(messages);
        checkDone();
    }

    /** Begins; any thread. */
    final void begin() {
        context.executor().execute(() -> begin(context));
    }

    /** Begins nothing new from now on; any thread. */
    final CompletableFuture<Void> finish() {
        context.executor().execute(() -> {
            finishing = true;
            checkDone();
        });
        return done;
    }

    /** Whether nothing new is to begin; on the connection's loop. */
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
