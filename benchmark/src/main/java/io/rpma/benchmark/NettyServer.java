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
import io.netty.handler.codec.FixedLengthFrameDecoder;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A server over one transport. */
final class NettyServer implements Engine.Server {
    private final NettyTransport transport;
    private final EventLoopGroup group;
    private final Channel listener;

    NettyServer(NettyTransport transport, Measurement measurement) throws IOException {
        this(transport, connection -> addHandlers(connection, measurement));
    }

    /** Starts a server that initializes its connections with the given initializer. */
    NettyServer(NettyTransport transport, Consumer<Channel> initializer) throws IOException {
        this.transport = transport;
        group = transport.newGroup(0);
        try {
            listener = new ServerBootstrap()
                .group(group)
                .channel(transport.serverChannel())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        initializer.accept(connection);
                    }
                })
                .bind(transport.newLocalAddress()).syncUninterruptibly().channel();
        } catch (Throwable e) {
            group.shutdownGracefully();
            throw e;
        }
    }

    private static void addHandlers(Channel connection, Measurement measurement) {
        switch (measurement.kind()) {
            case ROUND_TRIP -> connection.pipeline().addLast(new EchoHandler());
            case STREAM, BARE_STREAM -> connection.pipeline().addLast(new SinkHandler(measurement));
            case PIPELINE -> connection.pipeline().addLast(new FixedLengthFrameDecoder(measurement.bytes()), new EchoHandler());
            case CONNECT -> connection.pipeline().addLast(new CloseHandler());
            case IDLE -> connection.pipeline().addLast(new EchoHandler());
        }
    }

    @Override
    public String address() {
        return transport.format(listener.localAddress());
    }

    @Override
    public void close() {
        listener.close().syncUninterruptibly();
        group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
