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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.netty.RpmaPath;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One connection with verified traffic on one path. It sends data, checks what comes back, pauses, and repeats this. A long wait
 * is reported immediately as {@code pause LANE FROM TO DELAY}, and a failure as {@code failure LANE TEXT}. Everything happens on
 * the lane's event loop.
 */
abstract class Lane {
    private static final long WORTH_TELLING_NANOS = 10_000_000;
    private static final long LAST_MILLIS = 15_000;
    private static final long RECONNECT_MILLIS = 100;
    private static final int CONNECT_MILLIS = 10_000;

    private final String name;
    private final Class<? extends Channel> type;
    private final RpmaPath path;
    private final InetSocketAddress address;
    private final long restMillis;
    private final RunDelay server;
    private RunDelay own;
    private EventLoop loop;
    private Consumer<String> out;
    private Channel channel;
    private Promise<Void> end;
    private boolean under;
    private boolean stopping;
    private long began;
    private long delayBefore;
    private long exchanges;
    private long lost;
    private long corrupt;

    /**
     * Creates a lane.
     *
     * @param path the only path that the connection may take
     * @param server how the event loop of the server is scheduled
     * @param restMillis the pause between an answer and the next request
     */
    Lane(String name, Class<? extends Channel> type, RpmaPath path, InetSocketAddress address, RunDelay server,
            long restMillis) {
        this.name = name;
        this.type = type;
        this.path = path;
        this.address = address;
        this.server = server;
        this.restMillis = restMillis;
    }

    /** Sends the next request. The lane must call {@link #answered} when the answer is complete. */
    abstract void ask(Channel connected) throws Exception;

    /** Handles received data. */
    abstract void read(ChannelHandlerContext ctx, Object data) throws Exception;

    /** Returns whether each request has a connection of its own. */
    boolean connectsEachTime() {
        return false;
    }

    /**
     * Connects, and starts the traffic.
     *
     * @param said receives the lines that the lane reports
     */
    void start(EventLoop eventLoop, Consumer<String> said) throws Exception {
        loop = eventLoop;
        out = said;
        end = loop.newPromise();
        own = RunDelay.of(loop.submit(RunDelay::ofThisThread).get());
        loop.submit(this::connect).sync().getNow().await();
    }

    private ChannelFuture connect() {
        under = true;
        begin();
        return new Bootstrap().group(loop).channel(type)
            .option(io.netty.channel.ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
            .option(RpmaChannelOption.RPMA_PATHS, List.of(path))
            .handler(new Handler()).connect(address).addListener((ChannelFutureListener) future -> {
                if (!future.isSuccess()) {
                    fail("cannot connect: " + future.cause());
                }
            });
    }

    private final class Handler extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            channel = ctx.channel();
            RpmaPath taken = channel instanceof RpmaMessageChannel message ? message.path() : ((RpmaChannel) channel).path();
            if (taken == path) {
                next();
            } else {
                fail("the connection has taken the path " + taken + " instead of " + path);
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object data) {
            try {
                if (ctx.channel() == channel) {
                    read(ctx, data);
                }
            } catch (Exception e) {
                fail("cannot check: " + e);
            } finally {
                io.netty.util.ReferenceCountUtil.release(data);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (ctx.channel() == channel) {
                fail(cause.toString());
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (ctx.channel() == channel) {
                fail(channel + " was closed by the server");
            }
        }
    }

    private void next() {
        if (end.isDone()) {
            return;
        }
        if (!under || !connectsEachTime()) {
            begin();
        }
        under = true;
        try {
            ask(channel);
        } catch (Exception e) {
            fail("cannot ask: " + e);
        }
    }

    /** Called when the complete and correct answer has arrived. */
    final void answered() {
        tell(System.nanoTime());
        under = false;
        exchanges++;
        if (connectsEachTime()) {
            Channel closing = channel;
            channel = null;
            closing.close();
        }
        if (!ending()) {
            loop.schedule(() -> {
                if (end.isDone() || stopping && ending()) {
                    return;
                }
                if (connectsEachTime()) {
                    connect();
                } else if (channel != null) {
                    next();
                }
            }, restMillis, TimeUnit.MILLISECONDS);
        }
    }

    /** Called when a wrong answer has arrived. */
    final void corrupted(String what) {
        corrupt++;
        lost--;
        fail("corrupt: " + what);
    }

    final void fail(String what) {
        out.accept("failure " + name + ' ' + what);
        lost++;
        if (under) {
            tell(System.nanoTime());
        }
        under = false;
        if (channel != null) {
            Channel closing = channel;
            channel = null;
            closing.close();
        }
        forget();
        if (!ending()) {
            loop.schedule(this::reconnect, RECONNECT_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void reconnect() {
        if (!ending()) {
            connect();
        }
    }

    /** Resets the state after the connection was lost, because the next connection starts from the beginning. */
    void forget() {
    }

    private void begin() {
        delayBefore = own.nanos() + server.nanos();
        began = System.nanoTime();
    }

    private void tell(long now) {
        if (now - began > WORTH_TELLING_NANOS) {
            out.accept("pause " + name + ' ' + began + ' ' + now + ' ' + (own.nanos() + server.nanos() - delayBefore));
        }
    }

    private boolean ending() {
        if (stopping && !end.isDone()) {
            if (channel == null) {
                end.setSuccess(null);
            } else {
                Channel closing = channel;
                channel = null;
                closing.close().addListener(closed -> end.trySuccess(null));
            }
        }
        return stopping;
    }

    Future<Void> stop() {
        loop.execute(() -> {
            stopping = true;
            if (!under) {
                ending();
            } else {
                loop.schedule(() -> {
                    if (!end.isDone()) {
                        fail("no answer since " + (System.nanoTime() - began) / 1_000_000 + " ms");
                        end.trySuccess(null);
                    }
                }, LAST_MILLIS, TimeUnit.MILLISECONDS);
            }
        });
        return end;
    }

    long exchanges() {
        return exchanges;
    }

    long lost() {
        return lost;
    }

    long corrupt() {
        return corrupt;
    }
}
