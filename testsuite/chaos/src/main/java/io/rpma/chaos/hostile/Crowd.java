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

package io.rpma.chaos.hostile;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.rpma.Rpma;
import io.rpma.chaos.Addresses;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaMessageChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Makes many well-behaved connections and closes them gracefully. Afterwards the server has allocated everything that it
 * allocates once and keeps.
 */
final class Crowd implements Attack {
    private static final int STREAMS = 48;
    private static final int MESSAGES = 8;
    /** How much smaller the crowd is on an iWARP device, on which a process cannot have many queue pairs. */
    private static final int IWARP_DIVISOR = 4;
    private static final int LARGE = 1 << 20;
    private static final int SMALL = 100_000;

    @Override
    public void run(Addresses addresses, SplittableRandom random, long end) throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        List<Channel> channels = new ArrayList<>();
        int divisor = Rpma.provider().localDevice(addresses.stream().getAddress()).isIwarp() ? IWARP_DIVISOR : 1;
        int streams = STREAMS / divisor;
        for (int i = 0; i < streams + MESSAGES / divisor; i++) {
            boolean stream = i < streams;
            Channel channel = new Bootstrap().group(group).channel(stream ? RpmaChannel.class : RpmaMessageChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(stream ? addresses.stream() : addresses.message()).sync()
                .channel();
            // The server may have closed the channel already, because it received nothing for a while.
            channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[!stream ? 100 : i % 6 == 0 ? LARGE : SMALL])).await();
            channels.add(channel);
            // The server closes channels from which it receives nothing, but all channels must be open at the same time.
            channels.forEach(open -> open.writeAndFlush(Unpooled.wrappedBuffer(new byte[1])));
        }
        for (Channel channel : channels) {
            channel.close().sync();
        }
        group.shutdownGracefully(0, 5, java.util.concurrent.TimeUnit.SECONDS).sync();
    }
}
