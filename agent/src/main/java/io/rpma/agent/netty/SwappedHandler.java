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

package io.rpma.agent.netty;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.nio.AbstractNioChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.rpma.agent.Swap;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The handler of an event loop that was created for another transport. It runs RPMA and epoll channels, and reports that it is
 * compatible with the handles of the handler that it replaces. Channels of the other transport that were not replaced, for
 * example those of an application's own subclass of {@code NioSocketChannel}, are registered with an event loop of the original
 * kind, which is created when it is first needed. Handles of the other transport that are not channels, and NIO's domain sockets,
 * run on this loop, by the original handler.
 */
final class SwappedHandler implements IoHandler, Swap.StandIn {
    // A loop refers to its handler, and the handler to its loop. The map keeps neither, because an application may drop a loop
    // without shutting it down. If the loop has no thread yet, nothing else refers to it. The keys are the loops of applications
    // and the original loops.
    private static final Map<ThreadAwareExecutor, WeakReference<SwappedHandler>> BY_LOOP =
        Collections.synchronizedMap(new WeakHashMap<>());
    // Names, because a relocated copy of Netty may lack classes that its application does not use.
    private static final Set<String> NIO_DOMAIN_SOCKETS = Set.of(
        Channel.class.getPackageName() + ".socket.nio.NioDomainSocketChannel",
        Channel.class.getPackageName() + ".socket.nio.NioServerDomainSocketChannel");
    /** How long this loop waits at its end for the original loop, one of whose handlers may be blocked. */
    private static final long PATIENCE_SECONDS = 5;

    private final ThreadAwareExecutor executor;
    private final IoHandler rpma;
    private final HandlerKind kind;
    private final IoHandlerFactory originalFactory;
    // The channels that have been registered with this loop or with the original one, some of which may be registered no longer.
    private final Set<Channel> channels = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    // Guarded by this. The two fields of the original loop do not change any more when this loop ends.
    private MultiThreadIoEventLoopGroup original;
    private IoHandler handlerOfOriginal;
    private boolean isEnding;
    // Guarded by this.
    private OriginalHandler originalHandler;
    private boolean isDestroyed;
    // The original handler, if handles were registered with it. Only the thread of the loop uses this field.
    private OriginalHandler running;

    SwappedHandler(ThreadAwareExecutor executor, IoHandler rpma, HandlerKind kind, IoHandlerFactory originalFactory) {
        this.executor = executor;
        this.rpma = rpma;
        this.kind = kind;
        this.originalFactory = originalFactory;
        BY_LOOP.put(executor, new WeakReference<>(this));
    }

    /**
     * Returns the event loop that a channel is registered with in place of the given one. The given one can be an original loop,
     * because an application gets it from a channel, for example to open another connection by the loop of the first one.
     */
    static EventLoop loopFor(EventLoop loop, Channel channel) {
        WeakReference<SwappedHandler> found = loop instanceof ThreadAwareExecutor executor ? BY_LOOP.get(executor) : null;
        SwappedHandler handler = found == null ? null : found.get();
        if (handler == null) {
            return loop;
        }
        if (!isForeign(channel)) {
            return handler.executor instanceof EventLoop ofApplication ? ofApplication : loop;
        }
        handler.channels.add(channel);
        return loop == handler.executor ? handler.originalLoop(loop) : loop;
    }

    /**
     * Returns whether a channel is registered with the original loop, which notices immediately that a channel is ready. Domain
     * sockets of NIO are not, because frameworks use them, and a framework may find what belongs to a channel by the loop that it
     * has chosen.
     */
    private static boolean isForeign(Channel channel) {
        if (channel instanceof AbstractNioChannel) {
            return !NIO_DOMAIN_SOCKETS.contains(channel.getClass().getName());
        }
        String uring = Channel.class.getPackageName() + ".uring.AbstractIoUringChannel";
        for (Class<?> type = channel.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals(uring)) {
                return true;
            }
        }
        return false;
    }

    private synchronized EventLoop originalLoop(EventLoop loop) {
        if (isEnding) {
            // The loop rejects the channel, as the original loop would.
            return loop;
        }
        if (original == null) {
            // The wrapper is not a factory class that the agent replaces, so the original handler is created.
            original = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("rpma-agent-original", true),
                new IoHandlerFactory() {
                    @Override
                    public IoHandler newHandler(ThreadAwareExecutor own) {
                        BY_LOOP.put(own, new WeakReference<>(SwappedHandler.this));
                        handlerOfOriginal = originalFactory.newHandler(own);
                        return handlerOfOriginal;
                    }
                });
            // The thread of the original loop is a daemon thread. The thread of the application's loop, which a registration
            // would start, must decide whether the JVM keeps running, so it is started here.
            loop.execute(() -> { });
        }
        return original.next();
    }

    private synchronized void end() {
        if (isEnding) {
            return;
        }
        isEnding = true;
        if (original != null) {
            try {
                // For a method reference to this object, the JDK would look its class up in the bootstrap loader, which has the
                // file of the class and not Netty.
                original.execute(new Runnable() {
                    @Override
                    public void run() {
                        endOriginal();
                    }
                });
            } catch (RejectedExecutionException e) {
                // The application has found the original loop by one of its channels, and has ended it.
                return;
            }
        }
    }

    /**
     * Closes the channels of the original loop, and ends it. A loop closes its channels when it notices that it shuts down, but
     * without a quiet period it may end before. The thread of the original loop calls this method.
     */
    private void endOriginal() {
        try {
            handlerOfOriginal.prepareToDestroy();
        } finally {
            original.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }

    @Override
    public Class<?> original() {
        return kind.handler();
    }

    /** Returns the handler that the loop would have without the agent. It has no handles unless {@link #register} added them. */
    @Override
    public Object originalHandler() {
        return originalHandlerOrNew().handler();
    }

    private synchronized OriginalHandler originalHandlerOrNew() {
        if (originalHandler == null) {
            // The agent does not change its own calls, so this is the original handler.
            originalHandler = new OriginalHandler(originalFactory.newHandler(executor));
            if (isDestroyed) {
                originalHandler.destroy();
            }
        }
        return originalHandler;
    }

    @Override
    public List<Channel> channels() {
        EventLoopGroup other;
        synchronized (this) {
            other = original;
        }
        List<Channel> registered = new ArrayList<>();
        synchronized (channels) {
            for (Channel channel : channels) {
                if (channel.isRegistered()
                        && (channel.eventLoop() == executor || other != null && channel.eventLoop().parent() == other)) {
                    registered.add(channel);
                }
            }
        }
        return Collections.unmodifiableList(registered);
    }

    @Override
    public void initialize() {
        rpma.initialize();
        if (running != null) {
            running.initialize();
        }
    }

    @Override
    public int run(IoHandlerContext context) {
        return running == null ? rpma.run(context) : running.run(context, rpma);
    }

    @Override
    public void prepareToDestroy() {
        end();
        if (running != null) {
            running.prepareToDestroy();
        }
        rpma.prepareToDestroy();
    }

    @Override
    public void destroy() {
        BY_LOOP.remove(executor);
        end();
        if (original != null) {
            // If the group of this loop has ended, the application expects that all its channels are closed.
            original.terminationFuture().awaitUninterruptibly(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        synchronized (this) {
            isDestroyed = true;
            if (originalHandler != null) {
                originalHandler.destroy();
            }
        }
        rpma.destroy();
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        if (handle instanceof Channel.Unsafe unsafe) {
            channels.add(unsafe.voidPromise().channel());
        }
        if (rpma.isCompatible(handle.getClass()) || !kind.takes(handle.getClass())) {
            return rpma.register(handle);
        }
        if (running == null) {
            OriginalHandler handler = originalHandlerOrNew();
            handler.initialize();
            running = handler;
        }
        return running.register(handle);
    }

    @Override
    public void wakeup() {
        rpma.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
        if (type == EpollIoHandle.class) {
            // An application passes the interface to check whether the loop is an epoll loop. Epoll's channels pass classes of
            // their own.
            return kind.takes(type);
        }
        return rpma.isCompatible(type) || kind.takes(type);
    }
}
