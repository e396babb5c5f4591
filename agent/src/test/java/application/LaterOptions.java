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

package application;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.uring.IoUringChannelOption;
import jdk.net.ExtendedSocketOptions;

/** Sets options of a channel that exists. The class is not in the packages of the transport, which the agent does not change. */
public final class LaterOptions {
    private LaterOptions() {
    }

    /** Sets and reads an option by both types of the channel, and prints the results. */
    public static void set(Channel channel, boolean isNio) {
        ChannelOption<Integer> keepIdle =
            isNio ? NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE) : IoUringChannelOption.TCP_KEEPIDLE;
        System.out.println("result: set later " + channel.config().setOption(keepIdle, 88) + ", idle "
            + channel.config().getOption(keepIdle));
        SocketChannel socket = (SocketChannel) channel;
        System.out.println("result: set by a socket " + socket.config().setOption(keepIdle, 99) + ", idle "
            + socket.config().getOption(keepIdle));
    }
}
