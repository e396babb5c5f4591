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
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ReflectiveChannelFactory;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.socket.SocketProtocolFamily;
import io.rpma.agent.Swap;
import io.rpma.agent.Target;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;

/** Creates one channel: the one that the application requested, or its replacement. */
@SuppressWarnings("deprecation")
final class SwappedChannelFactory implements ChannelFactory<Channel> {
    private static final Field CONSTRUCTOR = constructorField();

    private final io.netty.bootstrap.ChannelFactory<?> original;
    // Null if the channel is not created by a bootstrap.
    private final AbstractBootstrap<?, ?> bootstrap;
    private final Swap.Context context;

    SwappedChannelFactory(io.netty.bootstrap.ChannelFactory<?> original, AbstractBootstrap<?, ?> bootstrap,
            Swap.Context context) {
        this.original = original;
        this.bootstrap = bootstrap;
        this.context = context;
    }

    private static Field constructorField() {
        try {
            Field field = ReflectiveChannelFactory.class.getDeclaredField("constructor");
            field.setAccessible(true);
            return field;
        } catch (ReflectiveOperationException | RuntimeException e) {
            // The class can then only be determined by creating a channel.
            return null;
        }
    }

    @Override
    public Channel newChannel() {
        Target target = Handlers.isForNames(bootstrap) ? Target.TCP : context.target();
        Channel made = null;
        Class<?> type = declaredType();
        if (type == null) {
            // If the factory calls another factory, that one needs the target too.
            context.target(target);
            try {
                made = original.newChannel();
            } finally {
                context.target(null);
            }
            type = made.getClass();
        }
        // An address belongs to one channel only. Other channels that this thread creates are not for this address.
        context.target(null);
        Channel replacement = null;
        try {
            replacement = replacement(type, target, made);
            if (made != null && replacement != null) {
                FactoryContents.copy(made, replacement);
            }
        } catch (Throwable e) {
            context.failed("a channel of the class " + type.getName() + " is left as it is", e);
            discard(replacement);
            replacement = null;
        }
        if (replacement == null) {
            return made != null ? made : original.newChannel();
        }
        discard(made);
        return replacement;
    }

    /**
     * Returns the channel that replaces one of the class, or {@code null} if the channel is not replaced.
     *
     * @param made the channel that is replaced, or {@code null} if it has not been created
     */
    private Channel replacement(Class<?> type, Target wanted, Channel made) {
        ChannelKind kind = ChannelKind.of(type);
        if (kind == null || keepsOriginal(type, kind)) {
            return null;
        }
        // If a stream channel is bound before it is connected, its remote address is not known.
        Target target = kind == ChannelKind.STREAM && !wanted.isRemote() ? Target.UNKNOWN : wanted;
        boolean isForRpma = kind.isStream() && context.includes(target);
        if (!isForRpma && kind.epollType() == type || isPrepared(made)) {
            return null;
        }
        tell(type, isForRpma ? kind.rpmaType() : kind.epollType(), target);
        if (isForRpma) {
            return kind.newRpma();
        }
        // This is first, because it may fail, and the other channel cannot be used after it has been examined.
        Channel epoll = kind.newEpoll();
        if (!FactoryContents.isForIpv4(made)) {
            return epoll;
        }
        discard(epoll);
        return new EpollDatagramChannel(SocketProtocolFamily.INET);
    }

    /** Returns whether the application's factory has put something into the channel that another channel cannot have. */
    private boolean isPrepared(Channel made) {
        String contents = made == null ? null : FactoryContents.of(made);
        if (contents == null) {
            return false;
        }
        context.say("a channel of the class " + made.getClass().getName()
            + " is left as it is: the application's channel factory " + contents);
        return true;
    }

    /** Returns the class of the channels if it can be determined without creating one; otherwise {@code null}. */
    private Class<?> declaredType() {
        if (CONSTRUCTOR == null || original.getClass() != ReflectiveChannelFactory.class) {
            return null;
        }
        try {
            return ((Constructor<?>) CONSTRUCTOR.get(original)).getDeclaringClass();
        } catch (IllegalAccessException e) {
            return null;
        }
    }

    /** Returns whether a handler of the application requires a specific channel class and would fail with any other. */
    private boolean keepsOriginal(Class<?> type, ChannelKind kind) {
        Class<?> wanted = Handlers.channelClass(bootstrap, kind);
        if (wanted == null) {
            return false;
        }
        context.say("channels of the class " + type.getName() + " are left as they are: a handler takes " + wanted.getName()
            + " only, which RPMA's channels are not; they are SocketChannel and ServerSocketChannel");
        return true;
    }

    private void tell(Class<?> from, Class<?> to, Target target) {
        context.report(from.getSimpleName() + " became " + to.getSimpleName() + ": " + target);
    }

    /** Releases the resources of a channel that was never registered. */
    private static void discard(Channel channel) {
        if (channel != null) {
            channel.unsafe().closeForcibly();
        }
    }
}
