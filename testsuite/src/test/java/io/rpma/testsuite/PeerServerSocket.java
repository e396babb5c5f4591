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
package io.rpma.testsuite;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Takes the place of the {@link java.net.ServerSocket} in the suite: it accepts {@link PeerSocket}s of the transport under test.
 */
final class PeerServerSocket implements AutoCloseable {
    private static final int LIMIT_SECONDS = 20;

    private final BlockingQueue<PeerSocket> accepted = new LinkedBlockingQueue<>();
    private final Channel channel;

    PeerServerSocket(SocketAddress address) {
        channel = new ServerBootstrap().group(PeerSocket.GROUP).channel(TestTransport.CURRENT.serverChannel())
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    PeerSocket peer = new PeerSocket();
                    peer.attach(ch);
                    ch.pipeline().addLast(peer.handler());
                    accepted.add(peer);
                }
            }).bind(address).syncUninterruptibly().channel();
    }

    SocketAddress localAddress() {
        return channel.localAddress();
    }

    PeerSocket accept() throws IOException, InterruptedException {
        PeerSocket peer = accepted.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
        if (peer == null) {
            throw new IOException("no connection was accepted in " + LIMIT_SECONDS + " s");
        }
        return peer;
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
    }
}
