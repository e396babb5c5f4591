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
import io.netty.bootstrap.ServerBootstrap;
import io.netty.bootstrap.ServerBootstrapConfig;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import java.lang.reflect.Method;

/** Examines the handlers of a bootstrap for information about its channels. */
final class Handlers {
    private static final String NETTY = Channel.class.getPackageName().replaceFirst("channel$", "");

    private Handlers() {
    }

    /** Returns whether the channels send queries to name servers, which use TCP when an answer does not fit into UDP. */
    static boolean isForNames(AbstractBootstrap<?, ?> bootstrap) {
        ChannelHandler handler = bootstrap == null ? null : bootstrap.config().handler();
        return handler != null && (handler.getClass().getName().startsWith(NETTY + "handler.codec.dns.")
            || handler.getClass().getName().startsWith(NETTY + "resolver.dns."));
    }

    /**
     * Returns the channel class that an initializer is declared for, if the replacement is not an instance of that class;
     * otherwise {@code null}.
     */
    static Class<?> channelClass(AbstractBootstrap<?, ?> bootstrap, ChannelKind kind) {
        if (bootstrap == null) {
            return null;
        }
        Class<?> wanted = unfitting(bootstrap.config().handler(), kind);
        if (wanted == null && kind == ChannelKind.SERVER && bootstrap instanceof ServerBootstrap) {
            wanted = unfitting(((ServerBootstrapConfig) bootstrap.config()).childHandler(), ChannelKind.STREAM);
        }
        return wanted;
    }

    private static Class<?> unfitting(ChannelHandler handler, ChannelKind kind) {
        Class<?> wanted = kind.isStream() ? unfitting(handler, kind.rpmaType()) : null;
        return wanted != null ? wanted : unfitting(handler, kind.epollType());
    }

    private static Class<?> unfitting(ChannelHandler handler, Class<?> channel) {
        if (!(handler instanceof ChannelInitializer)) {
            return null;
        }
        for (Class<?> type = handler.getClass(); type != ChannelInitializer.class; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().equals("initChannel") && method.getParameterCount() == 1
                        && Channel.class.isAssignableFrom(method.getParameterTypes()[0])
                        && !method.getParameterTypes()[0].isAssignableFrom(channel)) {
                    return method.getParameterTypes()[0];
                }
            }
        }
        return null;
    }
}
