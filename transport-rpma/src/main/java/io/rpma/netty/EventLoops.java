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
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.util.internal.StringUtil;
import java.util.function.Consumer;

/**
 * Registers the channels of this transport with their event loops. A loop of another transport is refused here and not by
 * {@code isCompatible()}, because what Netty says then names the loop's class, which is one and the same for most transports.
 */
final class EventLoops {
    private EventLoops() {
    }

    /** Registers a handle on its channel's loop; the receiver is called on the loop before the promise succeeds. */
    static void register(Channel channel, RpmaIoHandle handle, ChannelPromise promise, Consumer<IoRegistration> receiver) {
        EventLoop loop = channel.eventLoop();
        if (!(loop instanceof IoEventLoop io) || !io.isCompatible(RpmaIoHandle.class)) {
            promise.setFailure(refusal(channel, loop));
            return;
        }
        io.register(handle).addListener(future -> {
            if (future.isSuccess()) {
                receiver.accept((IoRegistration) future.getNow());
            } else {
                promise.setFailure(future.cause());
            }
        });
    }

    /**
     * Forgets that the pipeline asked to read, because auto-read was turned off and it was on then. Not if it is on again by the
     * time that the loop comes to it.
     */
    static void clearReadPending(Channel channel, Runnable forget) {
        if (!channel.isRegistered()) {
            return;
        }
        EventLoop loop = channel.eventLoop();
        if (loop.inEventLoop()) {
            forget.run();
            return;
        }
        loop.execute(() -> {
            if (!channel.config().isAutoRead()) {
                forget.run();
            }
        });
    }

    private static IllegalStateException refusal(Channel channel, EventLoop loop) {
        EventLoopGroup group = loop.parent();
        Class<?> type = (group == null ? loop : group).getClass();
        return new IllegalStateException(StringUtil.simpleClassName(channel) + " needs an event loop of RpmaEventLoopGroup, or of"
            + " another group with RpmaIoHandler.newFactory(), and was given one of " + type.getName()
            + " for another transport");
    }
}
