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
package io.rpma.benchmark;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.rpma.MemoryUsage;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.netty.RpmaMessageServerChannel;
import io.rpma.netty.RpmaRegion;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Provides memory to its peers. It listens on one port for each message size, because the receives of a port have a fixed size.
 */
final class OneSidedServer implements AutoCloseable {
    private final EventLoopGroup group = new RpmaEventLoopGroup(1);
    private final RpmaRegion region;
    private final List<Channel> channels = new ArrayList<>();

    /**
     * Starts a server.
     *
     * @param sizes the sizes of the operations
     */
    OneSidedServer(List<OneSidedSize> sizes) throws Exception {
        region = RpmaRegion.allocate(OneSidedSize.memory(sizes), MemoryUsage.READ_SRC, MemoryUsage.WRITE_DST,
            MemoryUsage.FLUSH_VISIBILITY);
        for (OneSidedSize size : sizes) {
            Channel channel = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
                .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, size.receives())
                .option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, size.longestMessage())
                .childHandler(new ChannelInitializer<RpmaMessageChannel>() {
                    @Override
                    protected void initChannel(RpmaMessageChannel connection) {
                        connection.pipeline().addLast(new OneSidedServerHandler(region, size.creditEvery()));
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0)).sync().channel();
            channels.add(channel);
            channel.config().setOption(RpmaChannelOption.RPMA_PRIVATE_DATA, region.descriptor(channel));
        }
    }

    /** Returns the ports, in the order of the sizes. */
    List<Integer> ports() {
        return channels.stream().map(channel -> ((InetSocketAddress) channel.localAddress()).getPort()).toList();
    }

    @Override
    public void close() {
        for (Channel channel : channels) {
            channel.close().syncUninterruptibly();
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        region.release();
    }
}
