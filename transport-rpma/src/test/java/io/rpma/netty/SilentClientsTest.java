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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import io.rpma.ConnectionEvent;
import io.rpma.netty.connect.RefusedConnection;
import io.rpma.netty.stream.Handshake;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests clients that ask for a connection and do nothing more. Other clients are accepted, and the resources for silent clients
 * are bounded.
 */
@Timeout(60)
class SilentClientsTest {
    private static final int BACKLOG = 4;

    private final RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
    private final List<RawPeer> peers = new ArrayList<>();
    private final BlockingQueue<Channel> children = new LinkedBlockingQueue<>();
    private final Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
        .option(ChannelOption.SO_BACKLOG, BACKLOG).childHandler(new ChannelInboundHandlerAdapter() {
            @Override
            public boolean isSharable() {
                return true;
            }

            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                children.add(ctx.channel());
            }
        }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).syncUninterruptibly().channel();

    @AfterEach
    void stop() throws Exception {
        for (RawPeer peer : peers) {
            peer.close();
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Returns a client that never looks at the server's answer. */
    private RawPeer silent(ByteBuffer privateData) throws Exception {
        RawPeer peer = new RawPeer();
        peers.add(peer);
        peer.request((InetSocketAddress) server.localAddress(), privateData);
        return peer;
    }

    private static ByteBuffer handshake() {
        return new Handshake(Handshake.MINOR, 0, 16 << 10, 16, 0).encode();
    }

    @Test
    void aFullBacklogOfSilentClientsIsNoObstacleToOthers() throws Exception {
        for (int i = 0; i < BACKLOG; i++) {
            silent(handshake());
        }
        long unanswered = RpmaMetrics.accepts().unanswered();
        long established = RpmaMetrics.accepts().established();
        // The timeout is shorter than the time after which a silent client loses its place in any case.
        Bootstrap client = new Bootstrap().group(group).channel(RpmaChannel.class)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 8_000).handler(new ChannelInboundHandlerAdapter());
        Channel connected = client.connect(server.localAddress()).sync().channel();
        assertNotNull(children.poll(20, TimeUnit.SECONDS));
        connected.close().sync();
        assertTrue(RpmaMetrics.accepts().unanswered() > unanswered);
        assertEquals(established + 1, RpmaMetrics.accepts().established());
    }

    /** A refused connection stays until the client has received the reason. The number of such connections is limited. */
    @Test
    void refusedConnectionsOfSilentClientsAreBounded() throws Exception {
        long refused = RpmaMetrics.accepts().refused();
        int count = RefusedConnection.MAX_LINGERING + 8;
        for (int i = 0; i < count; i++) {
            silent(null);
        }
        // A client that waits for the answer still receives it, although another connection is closed to make room.
        RawPeer last = new RawPeer();
        peers.add(last);
        assertEquals(ConnectionEvent.ESTABLISHED, last.connect((InetSocketAddress) server.localAddress(), null));
        assertEquals(Handshake.REFUSED_MALFORMED, Handshake.decode(last.peerData()).status());
        assertEquals(refused + count + 1, RpmaMetrics.accepts().refused());
        int lingering = group.next().submit(() -> ((RpmaServerChannel) server).refused().size()).get();
        assertTrue(lingering <= RefusedConnection.MAX_LINGERING, () -> lingering + " linger");
    }
}
