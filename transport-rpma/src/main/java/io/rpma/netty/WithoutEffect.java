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

import io.netty.channel.ChannelOption;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Warns of options that were set where they have no effect, and names the place where they belong. Warnings about a server and
 * its children are logged once for each server channel, those about clients once for the process.
 */
final class WithoutEffect {
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(RpmaChannelOption.class);

    private static final Set<ChannelOption<?>> OF_SERVERS = Set.of(RpmaChannelOption.RPMA_REQUEST_HANDLER,
        RpmaChannelOption.RPMA_REQUEST_TIMEOUT_MILLIS, ChannelOption.SO_BACKLOG);
    private static final Set<ChannelOption<?>> OF_CHILDREN = Set.of(ChannelOption.ALLOW_HALF_CLOSURE, ChannelOption.SO_LINGER,
        ChannelOption.WRITE_BUFFER_WATER_MARK);
    private static final Set<ChannelOption<?>> OF_STREAMS = Set.of(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE,
        RpmaChannelOption.RPMA_BULK_BYTES, ChannelOption.ALLOW_HALF_CLOSURE);
    /** Maps each option that has no effect beside another one to that other option. */
    private static final Map<ChannelOption<?>, ChannelOption<?>> BESIDE = Map.of(
        RpmaChannelOption.RPMA_PRIVATE_DATA, RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY,
        RpmaChannelOption.RPMA_RECEIVE_BUFFERS, RpmaChannelOption.RPMA_RECEIVE_QUEUE,
        RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, RpmaChannelOption.RPMA_RECEIVE_QUEUE);

    /** The warnings that were logged about clients. */
    static final Set<String> AT_CLIENTS = ConcurrentHashMap.newKeySet();

    private WithoutEffect() {
    }

    /**
     * Called when an option has been set, or was not accepted.
     *
     * @param owner the channel of the option
     * @param isStream whether the channel carries or accepts streams; otherwise it carries or accepts messages
     * @param values the values of the options of the channel
     */
    static void check(OptionOwner owner, boolean isStream, ChannelOption<?> option, OptionValues values) {
        boolean isServer = owner.isServer();
        boolean isOfServer = owner.warnings() != null;
        // The constants are instances of the superclass; only their name identifies them.
        boolean isOurs = option.name().startsWith(RpmaChannelOption.class.getName() + '#');
        String name = DeclaredOptions.nameOf(option);
        if (isServer && OF_CHILDREN.contains(option) && (isStream || !OF_STREAMS.contains(option))) {
            warn(owner, name + " was set on a server channel and has no effect there: set it by childOption(...)");
        } else if (!isServer && OF_SERVERS.contains(option)) {
            warn(owner, name + " was set on a connection and has no effect there: set it by option(...) of the"
                + " ServerBootstrap");
        } else if (option == ChannelOption.CONNECT_TIMEOUT_MILLIS && isOfServer) {
            warn(owner, name + " was set for a server, where it has no effect: it belongs to the Bootstrap of a client");
        } else if (isOurs && values.declared().find(option) == null) {
            warn(owner, name + " has no effect on " + (isStream ? "streams: it belongs to message channels"
                : "message channels: it belongs to streams"));
        } else if (isServer && option == RpmaChannelOption.RPMA_PATHS && owner.hasBegun()) {
            // The other options of a server apply to the children that it accepts afterwards.
            warn(owner, name + " was set on a server channel that is bound already, and has no effect there: set it by"
                + " option(...) of the ServerBootstrap");
        } else if (isOurs && !isServer && owner.hasBegun()) {
            warn(owner, name + (isOfServer
                ? " was set on a connection that has been accepted already, and has no effect there: set it by option(...) of the"
                + " ServerBootstrap, not by childOption(...)"
                : " was set on a channel that is connecting or connected already, and has no effect there: set it by option(...)"
                + " of the Bootstrap"));
        } else {
            checkBeside(owner, values);
        }
    }

    private static void checkBeside(OptionOwner owner, OptionValues values) {
        BESIDE.forEach((option, other) -> {
            if (values.isSet(option) && values.isSet(other)) {
                warn(owner, DeclaredOptions.nameOf(option) + " has no effect together with " + DeclaredOptions.nameOf(other)
                    + ": set one of them");
            }
        });
    }

    private static void warn(OptionOwner owner, String text) {
        Set<String> ofServer = owner.warnings();
        if ((ofServer == null ? AT_CLIENTS : ofServer).add(text)) {
            LOGGER.warn("{}. This is logged once{}.", text, ofServer == null ? "" : " for each server channel");
        }
    }
}
