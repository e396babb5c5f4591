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

package io.rpma.netty.loop;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.util.internal.StringUtil;
import java.nio.channels.ClosedChannelException;
import java.util.function.Consumer;

/**
 * Registers the channels of this transport with their event loops. A loop of another transport is refused here and not by
 * {@code isCompatible()}, because Netty's message would name the class of the loop, which is the same for most transports.
 */
public final class EventLoops {
    private EventLoops() {
    }

    /** Registers a handle on its channel's loop. The receiver is called on the loop; it must complete the promise. */
    public static void register(Channel channel, RpmaIoHandle handle, ChannelPromise promise, Consumer<IoRegistration> receiver) {
        EventLoop loop = channel.eventLoop();
        if (!(loop instanceof IoEventLoop io) || !io.isCompatible(RpmaIoHandle.class)) {
            promise.setFailure(refusal(channel, loop));
            return;
        }
        io.register(handle).addListener(future -> {
            if (!future.isSuccess()) {
                promise.setFailure(future.cause());
                return;
            }
            IoRegistration registration = (IoRegistration) future.getNow();
            if (channel.isOpen()) {
                receiver.accept(registration);
            } else {
                // Netty defers a listener if its stack is deep. The channel has been closed meanwhile.
                registration.cancel();
                promise.setFailure(new ClosedChannelException());
            }
        });
    }

    /**
     * Clears the read request that auto-read caused, because auto-read was turned off. Does nothing if auto-read is on again by
     * the time the event loop runs this.
     */
    public static void clearReadPending(Channel channel, Runnable forget) {
        if (!channel.isRegistered()) {
            // No loop uses the request, and the next one must not find it.
            forget.run();
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

    /**
     * Runs a task on a loop of this transport, after the tasks that the loop has. If it has so many that Netty accepts no other
     * one, it runs the task before it waits. Any thread.
     *
     * @return false if the loop has ended, and does not run the task
     */
    public static boolean execute(EventLoop loop, Runnable task) {
        try {
            loop.execute(task);
            return true;
        } catch (RuntimeException e) {
            // Usually a RejectedExecutionException; the handler of rejected tasks may throw any other.
            PostedTasks posted = loop instanceof IoEventLoop io && !loop.isShutdown() ? PostedTasks.of(io) : null;
            return posted != null && posted.runLater(task);
        }
    }

    private static IllegalStateException refusal(Channel channel, EventLoop loop) {
        EventLoopGroup group = loop.parent();
        Class<?> type = (group == null ? loop : group).getClass();
        return new IllegalStateException(StringUtil.simpleClassName(channel) + " needs an event loop of RpmaEventLoopGroup, or of"
            + " another group with RpmaIoHandler.newFactory(), and was given one of " + type.getName()
            + " for another transport");
    }
}
