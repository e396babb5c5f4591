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

package io.rpma.agent.programs;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** What an application does with event loops themselves. */
@SuppressWarnings("deprecation")
public final class LoopManners {
    private LoopManners() {
    }

    /** Runs the program, and prints the results. The argument selects what it does. */
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("drops")) {
            System.out.println("result: dropped group collected " + isCollected(droppedGroup()));
        } else {
            counts(arguments[0].equals("nio"));
        }
    }

    /** Creates a group, and uses none of its loops, so that they have no threads. */
    private static WeakReference<EventLoopGroup> droppedGroup() {
        return new WeakReference<>(new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory()));
    }

    private static boolean isCollected(WeakReference<?> reference) {
        for (long start = System.nanoTime(); reference.get() != null;) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(20)) {
                return false;
            }
            System.gc();
        }
        return true;
    }

    private static void counts(boolean isNio) throws Exception {
        EventLoopGroup group = isNio ? new NioEventLoopGroup(1) : new EpollEventLoopGroup(1);
        try {
            counts(isNio, group);
        } finally {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }

    private static void counts(boolean isNio, EventLoopGroup group) throws Exception {
        SingleThreadEventLoop loop = (SingleThreadEventLoop) group.next();
        count(loop, "at first");
        CompletableFuture<Channel> accepted = new CompletableFuture<>();
        Channel server = new ServerBootstrap().group(group)
            .channel(isNio ? NioServerSocketChannel.class : EpollServerSocketChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelActive(ChannelHandlerContext ctx) {
                    accepted.complete(ctx.channel());
                }
            }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        count(loop, "with a server");
        Channel client = new Bootstrap().group(group).channel(isNio ? NioSocketChannel.class : EpollSocketChannel.class)
            .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
        Channel child = accepted.get(30, TimeUnit.SECONDS);
        count(loop, "with a connection");
        client.close().sync();
        child.closeFuture().sync();
        count(loop, "without the connection");
        server.close().sync();
        count(loop, "in the end");
        System.out.println("channels: " + server.getClass().getSimpleName() + ", " + client.getClass().getSimpleName());
    }

    private static void count(SingleThreadEventLoop loop, String when) throws Exception {
        // A channel is deregistered by a task that its close submits.
        loop.submit(() -> { }).sync();
        loop.submit(() -> {
            int listed = 0;
            for (Iterator<Channel> all = loop.registeredChannelsIterator(); all.hasNext(); all.next()) {
                listed++;
            }
            System.out.println("result: " + loop.registeredChannels() + " channels " + when + ", " + listed + " listed");
        }).sync();
    }
}
