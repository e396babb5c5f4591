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

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.AbstractNioChannel;
import io.netty.util.Attribute;
import io.netty.util.AttributeKey;
import io.netty.util.DefaultAttributeMap;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.channels.spi.SelectorProvider;
import java.util.HashMap;
import java.util.Map;

/**
 * Examines what a factory of the application has put into a channel. Another channel can get the attributes and the options that
 * do not belong to the socket. It cannot get the socket and the handlers.
 */
final class FactoryContents {
    /** The options that every channel has, and the values that they have in a new channel. */
    private static final Map<ChannelOption<?>, Object> DEFAULTS = new HashMap<>();
    private static final Field ATTRIBUTES = attributesField();

    static {
        DEFAULTS.put(ChannelOption.ALLOCATOR, ByteBufAllocator.DEFAULT);
        DEFAULTS.put(ChannelOption.ALLOW_HALF_CLOSURE, false);
        DEFAULTS.put(ChannelOption.AUTO_CLOSE, true);
        DEFAULTS.put(ChannelOption.AUTO_READ, true);
        DEFAULTS.put(ChannelOption.CONNECT_TIMEOUT_MILLIS, 30_000);
        DEFAULTS.put(ChannelOption.MESSAGE_SIZE_ESTIMATOR, DefaultMessageSizeEstimator.DEFAULT);
        DEFAULTS.put(ChannelOption.SINGLE_EVENTEXECUTOR_PER_GROUP, true);
        DEFAULTS.put(ChannelOption.WRITE_BUFFER_WATER_MARK, WriteBufferWaterMark.DEFAULT);
        DEFAULTS.put(ChannelOption.WRITE_SPIN_COUNT, 16);
    }

    private FactoryContents() {
    }

    private static Field attributesField() {
        try {
            Field field = DefaultAttributeMap.class.getDeclaredField("attributes");
            field.setAccessible(true);
            return field;
        } catch (ReflectiveOperationException | RuntimeException e) {
            // The attributes can then not be listed.
            return null;
        }
    }

    /**
     * Returns what the factory has done to the channel, if another channel cannot replace it for this reason; otherwise {@code
     * null}.
     */
    static String of(Channel made) {
        if (made.isActive() || made.localAddress() != null) {
            return "has already bound or connected it";
        }
        if (made.pipeline().first() != null) {
            return "has already added handlers to it";
        }
        if (made.unsafe() instanceof AbstractNioChannel.NioUnsafe nio && nio.ch().provider() != SelectorProvider.provider()) {
            return "has created it with another SelectorProvider than the default one";
        }
        return null;
    }

    /** Sets the attributes and the options of a channel in the one that replaces it. */
    static void copy(Channel made, Channel replacement) throws IllegalAccessException {
        if (ATTRIBUTES != null) {
            for (Attribute<?> attribute : (Attribute<?>[]) ATTRIBUTES.get(made)) {
                copy(attribute, replacement);
            }
        }
        for (Map.Entry<ChannelOption<?>, Object> option : DEFAULTS.entrySet()) {
            copy(made, option.getKey(), option.getValue(), replacement);
        }
    }

    private static <T> void copy(Attribute<T> attribute, Channel replacement) {
        AttributeKey<T> key = attribute.key();
        replacement.attr(key).set(attribute.get());
    }

    private static <T> void copy(Channel made, ChannelOption<T> option, Object initial, Channel replacement) {
        T value = made.config().getOption(option);
        // The channel that replaces it may have other initial values, which stay.
        if (value != null && !value.equals(initial)) {
            replacement.config().setOption(option, value);
        }
    }

    /**
     * Returns whether the channel is a datagram channel of NIO that was created for IPv4 only. Such a channel refuses an address
     * of IPv6 before it uses the socket. Nothing else shows for which family it was created. The channel must not be used
     * afterwards, because it may be bound then.
     *
     * @param made the channel, or {@code null}
     */
    static boolean isForIpv4(Channel made) {
        SelectableChannel channel = made != null && made.unsafe() instanceof AbstractNioChannel.NioUnsafe nio ? nio.ch() : null;
        if (!(channel instanceof DatagramChannel datagrams)) {
            return false;
        }
        try {
            datagrams.bind(new InetSocketAddress("::", 0));
            return false;
        } catch (UnsupportedAddressTypeException e) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
