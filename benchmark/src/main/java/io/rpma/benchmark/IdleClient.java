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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Keeps a given number of connections open without transferring any data. */
final class IdleClient implements AutoCloseable {
    private final SocketAddress server;
    private final EventLoopGroup group;
    private final Bootstrap bootstrap;
    private final List<Channel> channels = new ArrayList<>();

    IdleClient(NettyTransport transport, String address) throws IOException {
        server = transport.parse(address);
        group = transport.newGroup(0);
        bootstrap = new Bootstrap().group(group).channel(transport.channel()).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new Connection());
            }
        });
    }

    /** Opens connections until the given number is reached, and fails if any connection has not stayed open. */
    void connect(int count) throws Exception {
        while (channels.size() < count) {
            channels.add(bootstrap.connect(server).sync().channel());
        }
        long closed = channels.stream().filter(channel -> !channel.isActive()).count();
        if (closed > 0) {
            throw new IllegalStateException("of " + count + " connections " + closed + " are closed");
        }
    }

    @Override
    public void close() {
        for (Channel channel : channels) {
            channel.close().syncUninterruptibly();
        }
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Prints errors to the log of its process. The run fails because the connection closes. */
    private static final class Connection extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            cause.printStackTrace();
            ctx.close();
        }
    }
}
