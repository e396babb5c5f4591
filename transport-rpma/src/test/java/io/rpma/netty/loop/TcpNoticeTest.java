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

package io.rpma.netty.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.rpma.netty.ChildJvm;
import io.rpma.netty.RpmaEventLoopGroup;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that TCP channels on an event loop of RPMA are logged once for each process, and that other channels of epoll are not.
 */
@Timeout(120)
class TcpNoticeTest {
    private static final String SAID = "does not go over RPMA";

    @Test
    void aServerIsNamedOnce() throws Exception {
        assertEquals(1, times(EpollServerSocketChannel.class, "A TCP channel listens at"));
    }

    @Test
    void aClientIsNamedOnce() throws Exception {
        assertEquals(1, times(EpollSocketChannel.class, "A TCP channel is connected to"));
    }

    @Test
    void otherChannelsOfEpollAreNotNamed() throws Exception {
        assertEquals(0, times(EpollDatagramChannel.class, SAID));
    }

    private static int times(Class<?> what, String words) throws Exception {
        try (ChildJvm child = new ChildJvm(ChildJvm.ordinary(), Channels.class, what.getName())) {
            String said = child.rest();
            assertEquals(said.split(SAID, -1).length, said.split(words, -1).length, said);
            assertEquals(1, said.split("everything was done", -1).length - 1, said);
            return said.split(SAID, -1).length - 1;
        }
    }

    /** Opens two channels of each kind that the argument names. */
    static final class Channels {
        private Channels() {
        }

        public static void main(String[] arguments) throws Exception {
            EventLoopGroup rpma = new RpmaEventLoopGroup(1);
            EventLoopGroup other = EpollSocketChannel.class.getName().equals(arguments[0])
                ? new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory()) : rpma;
            for (int i = 0; i < 2; i++) {
                if (EpollDatagramChannel.class.getName().equals(arguments[0])) {
                    Bootstrap datagrams = new Bootstrap().group(rpma).channel(EpollDatagramChannel.class)
                        .handler(new ChannelInboundHandlerAdapter());
                    datagrams.bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync();
                    String name = "\0rpma-notice-" + ProcessHandle.current().pid() + '-' + i;
                    Channel server = new ServerBootstrap().group(rpma).channel(EpollServerDomainSocketChannel.class)
                        .childHandler(new ChannelInboundHandlerAdapter()).bind(new DomainSocketAddress(name)).sync().channel();
                    new Bootstrap().group(rpma).channel(EpollDomainSocketChannel.class)
                        .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync();
                    continue;
                }
                Channel server = new ServerBootstrap().group(other).channel(EpollServerSocketChannel.class)
                    .childHandler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync()
                    .channel();
                if (other != rpma) {
                    new Bootstrap().group(rpma).channel(EpollSocketChannel.class).handler(new ChannelInboundHandlerAdapter())
                        .connect(server.localAddress()).sync();
                }
            }
            // The loops have run all their tasks, and then the executor that logs the notice runs its own.
            rpma.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
            other.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
            GlobalEventExecutor.INSTANCE.submit(() -> System.err.println("everything was done")).sync();
        }
    }
}
