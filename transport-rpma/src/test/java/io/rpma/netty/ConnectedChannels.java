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

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ServerChannel;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import io.rpma.ConnectionEvent;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

/**
 * The client's channel and the server's channel of one connection, on one event loop. Everything that each of them reads, and
 * each of its events, is kept.
 */
final class ConnectedChannels implements AutoCloseable {
    /** The kind of the connection. */
    enum Kind {
        STREAM(RpmaServerChannel.class, RpmaChannel.class),
        MESSAGES(RpmaMessageServerChannel.class, RpmaMessageChannel.class);

        final Class<? extends ServerChannel> server;
        final Class<? extends Channel> client;

        Kind(Class<? extends ServerChannel> server, Class<? extends Channel> client) {
            this.server = server;
            this.client = client;
        }
    }

    /** One end of the connection. */
    static final class End extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<Object> read = new LinkedBlockingQueue<>();
        private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        private final BlockingQueue<Channel> active = new LinkedBlockingQueue<>();

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            active.add(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            read.add(msg);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failures.add(cause);
        }

        /** Returns the next object that was read. */
        Object next() throws InterruptedException {
            Object next = read.poll(20, TimeUnit.SECONDS);
            assertNotNull(next, () -> "nothing was read; failures: " + failures);
            return next;
        }

        /** Returns the next channel that became active. */
        Channel accepted() throws InterruptedException {
            Channel next = active.poll(20, TimeUnit.SECONDS);
            assertNotNull(next, "nobody connected");
            return next;
        }

        /** Binds a listener whose children this handler is added to, and returns the child that accepts the peer. */
        AbstractRpmaChannel serve(ServerBootstrap bootstrap, RawPeer peer, ByteBuffer privateData) throws Exception {
            Channel listener = bootstrap.childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    ch.pipeline().addLast(End.this);
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            assertEquals(ConnectionEvent.ESTABLISHED, peer.connect((InetSocketAddress) listener.localAddress(), privateData));
            return (AbstractRpmaChannel) accepted();
        }

        @Override
        public boolean isSharable() {
            return true;
        }

        boolean hasRead() {
            return !read.isEmpty();
        }

        /** Returns the failures so far. */
        List<Throwable> allFailures() {
            return List.copyOf(failures);
        }

        Throwable failure() throws InterruptedException {
            return failures.poll(20, TimeUnit.SECONDS);
        }
    }

    final Channel listener;
    final Channel client;
    final Channel server;
    final End atClient = new End();
    final End atServer = new End();

    ConnectedChannels(RpmaEventLoopGroup group, Kind kind) throws InterruptedException {
        this(group, kind, server -> { }, client -> { });
    }

    ConnectedChannels(RpmaEventLoopGroup group, Kind kind, Consumer<ServerBootstrap> ofServer, Consumer<Bootstrap> ofClient)
            throws InterruptedException {
        this(group, group, kind, ofServer, ofClient);
    }

    ConnectedChannels(RpmaEventLoopGroup servers, RpmaEventLoopGroup clients, Kind kind, Consumer<ServerBootstrap> ofServer,
            Consumer<Bootstrap> ofClient) throws InterruptedException {
        ServerBootstrap serving = new ServerBootstrap().group(servers).channel(kind.server)
            .childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    ch.pipeline().addLast(atServer);
                }
            });
        ofServer.accept(serving);
        listener = serving.bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        Bootstrap connecting = new Bootstrap().group(clients).channel(kind.client).handler(atClient);
        ofClient.accept(connecting);
        client = connecting.connect(listener.localAddress()).sync().channel();
        server = atServer.accepted();
    }

    @Override
    public void close() {
        client.close().syncUninterruptibly();
        server.close().syncUninterruptibly();
        listener.close().syncUninterruptibly();
        atClient.read.forEach(ReferenceCountUtil::release);
        atServer.read.forEach(ReferenceCountUtil::release);
    }
}
