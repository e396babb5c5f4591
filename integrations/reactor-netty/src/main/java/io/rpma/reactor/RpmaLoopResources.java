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
package io.rpma.reactor;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.DomainSocketChannel;
import io.netty.channel.unix.ServerDomainSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.FutureListener;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.NonBlocking;
import reactor.netty.resources.LoopResources;

/**
 * Runs Reactor Netty over RPMA:
 *
 * <pre>{@code LoopResources rpma = RpmaLoopResources.create("rpma", 4);
 * HttpServer.create().runOn(rpma)...
 * HttpClient.create().runOn(rpma)...}</pre>
 *
 * <p>Servers and clients that run on it use RPMA instead of TCP, so they can only communicate with peers that use RPMA too. UDP,
 * domain sockets and the name resolver of a client, over both UDP and TCP, still use epoll, on the same event loops. Thread-safe.
 */
public final class RpmaLoopResources implements LoopResources {
    private static final StackWalker CALLER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
    private static final String NAME_RESOLVER = "reactor.netty.transport.NameResolverProvider";

    private final EventLoopGroup group;
    private final EventLoopGroup colocated;

    private RpmaLoopResources(String prefix, int threads) {
        group = new RpmaEventLoopGroup(threads, new EventLoopThreadFactory(prefix));
        // A client that is used on one of the event loops, as in a proxy, stays on this event loop.
        colocated = LoopResources.colocate(group);
    }

    /**
     * Creates event loops with daemon threads that start when they are needed. Reactor does not allow blocking calls such as
     * {@code Mono.block()} in them.
     *
     * @param prefix the prefix of the threads' names
     * @param threads the number of threads, 0 for one per processor
     * @return the event loops, which the caller must dispose of
     */
    public static LoopResources create(String prefix, int threads) {
        return new RpmaLoopResources(prefix, threads);
    }

    /** Returns the event loops. The parameter that prefers native transports has no effect. */
    @Override
    public EventLoopGroup onServer(boolean useNative) {
        return group;
    }

    @Override
    public EventLoopGroup onServerSelect(boolean useNative) {
        return group;
    }

    @Override
    public EventLoopGroup onClient(boolean useNative) {
        return colocated;
    }

    @Override
    public <C extends Channel> C onChannel(Class<C> type, EventLoopGroup loops) {
        return type.cast(create(type, CALLER.getCallerClass()));
    }

    @Override
    public <C extends Channel> Class<? extends C> onChannelClass(Class<C> type, EventLoopGroup loops) {
        return classOf(type, CALLER.getCallerClass()).asSubclass(type);
    }

    private static Channel create(Class<? extends Channel> type, Class<?> caller) {
        Class<? extends Channel> wanted = classOf(type, caller);
        if (wanted == RpmaChannel.class) {
            return new RpmaChannel();
        } else if (wanted == RpmaServerChannel.class) {
            return new RpmaServerChannel();
        } else if (wanted == EpollDatagramChannel.class) {
            return new EpollDatagramChannel();
        } else if (wanted == EpollSocketChannel.class) {
            return new EpollSocketChannel();
        } else if (wanted == EpollDomainSocketChannel.class) {
            return new EpollDomainSocketChannel();
        }
        return new EpollServerDomainSocketChannel();
    }

    private static Class<? extends Channel> classOf(Class<? extends Channel> type, Class<?> caller) {
        if (type == SocketChannel.class) {
            // The name resolver uses the same call for its TCP connections, which it opens when an answer is too long for UDP.
            return caller.getName().startsWith(NAME_RESOLVER) ? EpollSocketChannel.class : RpmaChannel.class;
        } else if (type == ServerSocketChannel.class) {
            return RpmaServerChannel.class;
        } else if (type == DatagramChannel.class) {
            return EpollDatagramChannel.class;
        } else if (type == DomainSocketChannel.class) {
            return EpollDomainSocketChannel.class;
        } else if (type == ServerDomainSocketChannel.class) {
            return EpollServerDomainSocketChannel.class;
        }
        throw new IllegalArgumentException("there is no channel of the type " + type.getName()
            + "; the types are SocketChannel, ServerSocketChannel, DatagramChannel, DomainSocketChannel,"
            + " ServerDomainSocketChannel");
    }

    @Override
    public boolean daemon() {
        return true;
    }

    @Override
    public boolean isDisposed() {
        return group.isShuttingDown();
    }

    @Override
    public void dispose() {
        disposeLater().subscribe();
    }

    @Override
    public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
        return Mono.create(sink -> {
            Future<?> terminated = group.shutdownGracefully(quietPeriod.toMillis(), timeout.toMillis(), TimeUnit.MILLISECONDS);
            terminated.addListener((FutureListener<Object>) done -> complete(done, sink));
        });
    }

    /** Creates daemon threads in which Reactor does not allow a blocking call such as {@code Mono.block()}. */
    private static final class EventLoopThreadFactory extends DefaultThreadFactory {
        EventLoopThreadFactory(String prefix) {
            super(prefix, true);
        }

        @Override
        protected Thread newThread(Runnable loop, String name) {
            return new EventLoopThread(threadGroup, loop, name);
        }
    }

    // Reactor recognizes its own threads by the interface NonBlocking, and throws an exception when one of them calls block().
    // A thread without the interface would wait instead, also for a client on the same event loop, which could never answer.
    private static final class EventLoopThread extends FastThreadLocalThread implements NonBlocking {
        EventLoopThread(ThreadGroup group, Runnable loop, String name) {
            super(group, loop, name);
        }
    }

    private static void complete(Future<Object> done, MonoSink<Void> sink) {
        if (done.isSuccess()) {
            sink.success();
        } else {
            sink.error(done.cause());
        }
    }
}
