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
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelConfig;
import io.netty.channel.epoll.EpollChannelOption;
import io.rpma.netty.RpmaChannelConfig;
import io.rpma.netty.RpmaServerChannelConfig;
import java.util.Map;

/** The names that one option of a socket has in several transports. */
final class OptionNames {
    private static final String URING = Channel.class.getPackageName() + ".uring.IoUringChannelOption#";
    private static final String EPOLL = Channel.class.getPackageName() + ".epoll.EpollChannelOption#";
    private static final String NIO = Channel.class.getPackageName() + ".socket.nio.NioChannelOption";
    /** The options of NIO that no option of the same name corresponds to. */
    private static final Map<String, ChannelOption<?>> BY_NIO = Map.of("SO_REUSEPORT", EpollChannelOption.SO_REUSEPORT,
        "TCP_QUICKACK", EpollChannelOption.TCP_QUICKACK, "TCP_KEEPIDLE", EpollChannelOption.TCP_KEEPIDLE,
        "TCP_KEEPINTERVAL", EpollChannelOption.TCP_KEEPINTVL, "TCP_KEEPCOUNT", EpollChannelOption.TCP_KEEPCNT);

    private OptionNames() {
    }

    /**
     * Returns the option of epoll or of all transports that is the same as an option of NIO or io_uring, if the channel is one
     * that has replaced a channel of these. Returns the option itself if there is none.
     */
    static ChannelOption<?> same(ChannelConfig config, ChannelOption<?> option) {
        boolean isReplacement = config instanceof EpollChannelConfig || config instanceof RpmaChannelConfig
            || config instanceof RpmaServerChannelConfig;
        String name = option.name();
        if (!isReplacement) {
            return option;
        } else if (option.getClass().getName().equals(NIO)) {
            ChannelOption<?> ofEpoll = BY_NIO.get(name);
            return ofEpoll != null ? ofEpoll : named(name, option);
        }
        return name.startsWith(URING) ? named(EPOLL + name.substring(URING.length()), option) : option;
    }

    private static ChannelOption<?> named(String name, ChannelOption<?> otherwise) {
        return ChannelOption.exists(name) ? ChannelOption.valueOf(name) : otherwise;
    }
}
