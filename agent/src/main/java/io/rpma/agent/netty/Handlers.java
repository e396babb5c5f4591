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
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;

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
            Class<?> wanted;
            try {
                wanted = parameter(type, channel);
            } catch (LinkageError e) {
                // A class in the declaration of some method of the initializer is absent, for example that of an optional
                // library. The application runs without it, because nothing calls the method.
                wanted = typeArgument(type, channel);
            }
            if (wanted != null) {
                return wanted;
            }
        }
        return null;
    }

    /** Returns the parameter of the class's {@code initChannel}, if the channel is not an instance of it; otherwise null. */
    private static Class<?> parameter(Class<?> type, Class<?> channel) {
        for (Method method : type.getDeclaredMethods()) {
            if (method.getName().equals("initChannel") && method.getParameterCount() == 1
                    && isUnfitting(method.getParameterTypes()[0], channel)) {
                return method.getParameterTypes()[0];
            }
        }
        return null;
    }

    /**
     * Returns the type argument of the class's superclass that is a channel class, if the channel is not an instance of it;
     * otherwise null. It looks at no methods.
     */
    private static Class<?> typeArgument(Class<?> type, Class<?> channel) {
        try {
            if (type.getGenericSuperclass() instanceof ParameterizedType superclass) {
                for (Type argument : superclass.getActualTypeArguments()) {
                    if (argument instanceof Class<?> wanted && isUnfitting(wanted, channel)) {
                        return wanted;
                    }
                }
            }
        } catch (TypeNotPresentException | LinkageError e) {
            // A type argument is absent too, so what the initializer takes is unknown. Most take an interface.
            return null;
        }
        return null;
    }

    private static boolean isUnfitting(Class<?> wanted, Class<?> channel) {
        return Channel.class.isAssignableFrom(wanted) && !wanted.isAssignableFrom(channel);
    }
}
