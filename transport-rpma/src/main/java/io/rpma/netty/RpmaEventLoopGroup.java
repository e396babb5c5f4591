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

package io.rpma.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.NettyRuntime;
import io.netty.util.internal.SystemPropertyUtil;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/**
 * The event loops of {@link RpmaServerChannel} and {@link RpmaChannel}: a {@link MultiThreadIoEventLoopGroup} over
 * {@link RpmaIoHandler}. Epoll's channels can be registered with it as well.
 *
 * <p>The default number of threads is that of the processors which are available to the JVM, and not twice as many as in Netty's
 * other groups. An idle loop polls, so two loops on one processor would take it from each other, and from the JIT compilers.
 * {@code -Dio.netty.eventLoopThreads} sets another default, as it does for Netty's groups.
 */
public class RpmaEventLoopGroup extends MultiThreadIoEventLoopGroup {
    /** Creates a group with the default number of threads. */
    public RpmaEventLoopGroup() {
        this(0);
    }

    /**
     * Creates a group.
     *
     * @param threads the number of threads, 0 for the default
     */
    public RpmaEventLoopGroup(int threads) {
        super(threadsOrDefault(threads), RpmaIoHandler.newFactory());
    }

    /**
     * Creates a group.
     *
     * @param threads the number of threads, 0 for the default
     * @param polling what its loops do while they are idle
     */
    public RpmaEventLoopGroup(int threads, RpmaPolling polling) {
        super(threadsOrDefault(threads), RpmaIoHandler.newFactory(polling));
    }

    /**
     * Creates a group with the default number of threads.
     *
     * @param threadFactory creates the threads
     */
    public RpmaEventLoopGroup(ThreadFactory threadFactory) {
        this(0, threadFactory);
    }

    /**
     * Creates a group.
     *
     * @param threads the number of threads, 0 for the default
     * @param threadFactory creates the threads
     */
    public RpmaEventLoopGroup(int threads, ThreadFactory threadFactory) {
        super(threadsOrDefault(threads), threadFactory, RpmaIoHandler.newFactory());
    }

    /**
     * Creates a group.
     *
     * @param threads the number of threads, 0 for the default
     * @param executor runs the loops
     */
    public RpmaEventLoopGroup(int threads, Executor executor) {
        super(threadsOrDefault(threads), executor, RpmaIoHandler.newFactory());
    }

    /**
     * Creates a group.
     *
     * @param threads the number of threads, 0 for the default
     * @param threadFactory creates the threads
     * @param polling what its loops do while they are idle
     */
    public RpmaEventLoopGroup(int threads, ThreadFactory threadFactory, RpmaPolling polling) {
        super(threadsOrDefault(threads), threadFactory, RpmaIoHandler.newFactory(polling));
    }

    private static int threadsOrDefault(int threads) {
        return threads != 0 ? threads
            : Math.max(1, SystemPropertyUtil.getInt("io.netty.eventLoopThreads", NettyRuntime.availableProcessors()));
    }

    /**
     * Registers a channel with one of the loops. The loop of an accepted {@link RpmaChannel} was chosen when its connection was
     * accepted, by {@link #next()} of the group that the children of its server channel are registered with.
     */
    @Override
    public ChannelFuture register(Channel channel) {
        EventLoop home = home(channel);
        return home == null ? super.register(channel) : home.register(channel);
    }

    /**
     * Registers a channel with one of the loops, as {@link #register(Channel)} does.
     *
     * @param promise of the channel
     */
    @Override
    public ChannelFuture register(ChannelPromise promise) {
        EventLoop home = home(promise.channel());
        return home == null ? super.register(promise) : home.register(promise);
    }

    private EventLoop home(Channel channel) {
        if (!(channel instanceof RpmaChannel child) || child.parent() == null) {
            return null;
        }
        child.parent().childrenGoTo(this);
        EventLoop home = child.home();
        return home != null && home.parent() == this && !home.isShuttingDown() ? home : null;
    }

    @Override
    protected IoEventLoop newChild(Executor executor, IoHandlerFactory factory, Object... arguments) {
        return new RpmaEventLoop(this, executor, factory);
    }
}
