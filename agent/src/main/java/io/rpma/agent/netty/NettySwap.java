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

import io.netty.bootstrap.AbstractBootstrap;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.Epoll;
import io.rpma.Rpma;
import io.rpma.agent.Swap;
import io.rpma.netty.RpmaChannelCounters;
import io.rpma.netty.RpmaIoHandler;
import io.rpma.netty.RpmaMetrics;

/** Replaces the transport of the copy of Netty that this class is linked with. */
public final class NettySwap implements Swap {
    private final Context context;
    private final IoHandlerFactory rpma;

    /**
     * Creates a swap.
     *
     * @throws UnsatisfiedLinkError if Netty's native epoll library cannot be loaded
     */
    public NettySwap(Context context) {
        this.context = context;
        rpma = RpmaIoHandler.newFactory();
        Epoll.ensureAvailability();
        // Looks up the provider now instead of with the first channel, because nothing can be replaced without a provider.
        context.report("provider " + Rpma.provider().name());
    }

    @Override
    @SuppressWarnings("deprecation")
    public Object channelFactory(Object factory, Object bootstrap) {
        return new SwappedChannelFactory((io.netty.bootstrap.ChannelFactory<?>) factory, (AbstractBootstrap<?, ?>) bootstrap,
            context);
    }

    @Override
    public Object handlerFactory(Object factory) {
        IoHandlerFactory original = (IoHandlerFactory) factory;
        HandlerKind kind = HandlerKind.of(original);
        return kind == null ? original : new SwappedHandlerFactory(original, kind, rpma);
    }

    @Override
    public Object loop(Object loop, Object promise) {
        return SwappedHandler.loopFor((EventLoop) loop, ((ChannelPromise) promise).channel());
    }

    @Override
    public Object option(Object config, Object option) {
        return OptionNames.same((ChannelConfig) config, (ChannelOption<?>) option);
    }

    @Override
    public String carried() {
        RpmaChannelCounters channels = RpmaMetrics.channels();
        return "RPMA carried " + channels.bytesSent() + " bytes out, in " + channels.messagesSent() + " messages, "
            + channels.bytesReceived() + " bytes in, in " + channels.messagesReceived() + " messages; connections accepted: "
            + RpmaMetrics.accepts().established();
    }
}
