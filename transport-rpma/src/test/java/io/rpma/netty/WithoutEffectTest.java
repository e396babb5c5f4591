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
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.NetUtil;
import io.rpma.netty.ConnectedChannels.End;
import io.rpma.netty.ConnectedChannels.Kind;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests options that were set where they have no effect. One warning says where they belong. */
@Timeout(60)
class WithoutEffectTest {
    private static final String NOT_BY_CHILD_OPTION = " was set on a connection that has been accepted already, and has no effect"
        + " there: set it by option(...) of the ServerBootstrap, not by childOption(...)";

    private RpmaEventLoopGroup group;

    @BeforeEach
    void start() {
        group = new RpmaEventLoopGroup(1);
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static Set<String> told(ConnectedChannels channels) {
        return ((AbstractRpmaServerChannel) channels.listener).warnings();
    }

    /** The warning is logged once, however many children there are. */
    @ParameterizedTest
    @EnumSource
    void childOptionsThatBelongToTheServerAreToldOnce(Kind kind) throws Exception {
        try (ConnectedChannels channels = new ConnectedChannels(group, kind,
                server -> server.childOption(RpmaChannelOption.RPMA_PRIVATE_DATA, ByteBuffer.allocate(3))
                    .childOption(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 8)
                    .childOption(ChannelOption.SO_BACKLOG, 9)
                    .childOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, 1000), client -> { })) {
            for (int i = 0; i < 3; i++) {
                new Bootstrap().group(group).channel(kind.client).handler(new End()).connect(channels.listener.localAddress())
                    .sync();
                channels.atServer.accepted();
            }
            assertEquals(Set.of("RPMA_PRIVATE_DATA" + NOT_BY_CHILD_OPTION, "RPMA_RECEIVE_BUFFERS" + NOT_BY_CHILD_OPTION,
                "SO_BACKLOG was set on a connection and has no effect there: set it by option(...) of the ServerBootstrap",
                "CONNECT_TIMEOUT_MILLIS was set for a server, where it has no effect: it belongs to the Bootstrap of a client"),
                told(channels));
        }
    }

    @Test
    void optionsOfChildrenDoNotBelongToTheServer() throws Exception {
        try (ConnectedChannels channels = new ConnectedChannels(group, Kind.STREAM,
                server -> server.option(ChannelOption.ALLOW_HALF_CLOSURE, true).option(ChannelOption.SO_LINGER, 1)
                    .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WriteBufferWaterMark.DEFAULT)
                    .option(RpmaChannelOption.RPMA_SEND_QUEUE_SIZE, 3), client -> { })) {
            String rest = " was set on a server channel and has no effect there: set it by childOption(...)";
            assertEquals(Set.of("ALLOW_HALF_CLOSURE" + rest, "SO_LINGER" + rest, "WRITE_BUFFER_WATER_MARK" + rest,
                "RPMA_SEND_QUEUE_SIZE has no effect on streams: it belongs to message channels"), told(channels));
        }
    }

    @Test
    void oneOptionMayMakeAnotherMeaningless() throws Exception {
        RpmaSharedReceiveQueue queue = new RpmaSharedReceiveQueue(16, 64);
        try (ConnectedChannels channels = new ConnectedChannels(group, Kind.MESSAGES,
                server -> server.option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, queue)
                    .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 8)
                    .option(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, device -> ByteBuffer.allocate(0))
                    .option(RpmaChannelOption.RPMA_PRIVATE_DATA, ByteBuffer.allocate(1))
                    .option(RpmaChannelOption.RPMA_BULK_BYTES, 0), client -> { })) {
            assertEquals(Set.of("RPMA_RECEIVE_BUFFERS has no effect together with RPMA_RECEIVE_QUEUE: set one of them",
                "RPMA_PRIVATE_DATA has no effect together with RPMA_PRIVATE_DATA_FACTORY: set one of them",
                "RPMA_BULK_BYTES has no effect on message channels: it belongs to streams"), told(channels));
        }
        queue.release();
    }

    @Test
    void aClientThatIsConnectedIsTold() throws Exception {
        try (ConnectedChannels channels = new ConnectedChannels(group, Kind.MESSAGES, server -> { },
                client -> client.option(RpmaChannelOption.RPMA_PEER_RECEIVE_BUFFER_BYTES, 64 << 10))) {
            String text = "RPMA_PEER_RECEIVE_BUFFER_BYTES was set on a channel that is connecting or connected already, and has"
                + " no effect there: set it by option(...) of the Bootstrap";
            // The set belongs to the process, so another test may have added the text.
            WithoutEffect.AT_CLIENTS.remove(text);
            channels.client.config().setOption(RpmaChannelOption.RPMA_PEER_RECEIVE_BUFFER_BYTES, 1 << 10);
            assertTrue(WithoutEffect.AT_CLIENTS.contains(text));
        }
    }

    /** An option that is set while the channel connects comes too late: the connection is made by the options before. */
    @ParameterizedTest
    @EnumSource
    void aClientThatConnectsIsTold(Kind kind) throws Exception {
        String text = "RPMA_RECEIVE_BUFFER_BYTES was set on a channel that is connecting or connected already, and has no effect"
            + " there: set it by option(...) of the Bootstrap";
        // The set belongs to the process, so another test may have added the text.
        WithoutEffect.AT_CLIENTS.remove(text);
        Channel listener = new ServerBootstrap().group(group).channel(kind.server).childHandler(new End())
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        Channel client = new Bootstrap().group(group).channel(kind.client).handler(new End()).register().sync().channel();
        client.config().setOption(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, 512);
        assertFalse(WithoutEffect.AT_CLIENTS.contains(text));
        ChannelFuture connect = client.eventLoop().submit(() -> {
            ChannelFuture begun = client.connect(listener.localAddress());
            client.config().setOption(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, 1024);
            return begun;
        }).get();
        connect.sync();
        assertTrue(WithoutEffect.AT_CLIENTS.contains(text));
        client.close().sync();
        listener.close().sync();
    }

    /** A server channel listens on the paths that it had when it was bound. The other options apply to later children. */
    @ParameterizedTest
    @EnumSource
    void aServerThatIsBoundIsToldOfPaths(Kind kind) throws Exception {
        try (ConnectedChannels channels = new ConnectedChannels(group, kind, server -> { }, client -> { })) {
            List<RpmaPath> paths = channels.listener.config().getOption(RpmaChannelOption.RPMA_PATHS);
            channels.listener.config().setOption(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 8);
            assertEquals(Set.of(), told(channels));
            channels.listener.config().setOption(RpmaChannelOption.RPMA_PATHS, paths);
            assertEquals(Set.of("RPMA_PATHS was set on a server channel that is bound already, and has no effect there: set it by"
                + " option(...) of the ServerBootstrap"), told(channels));
        }
    }

    /** No warning is logged for an option that was set where it belongs. */
    @ParameterizedTest
    @EnumSource
    void whatHasAnEffectIsNotToldOf(Kind kind) throws Exception {
        Set<String> before = Set.copyOf(WithoutEffect.AT_CLIENTS);
        try (ConnectedChannels channels = new ConnectedChannels(group, kind,
                server -> server.option(RpmaChannelOption.RPMA_PRIVATE_DATA, ByteBuffer.allocate(3))
                    .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 8).option(ChannelOption.SO_BACKLOG, 9)
                    .option(RpmaChannelOption.RPMA_REQUEST_HANDLER, RpmaConnectRequest::accept)
                    .childOption(ChannelOption.SO_LINGER, 1).childOption(ChannelOption.AUTO_READ, true),
                client -> client.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 8)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 20_000))) {
            assertEquals(Set.of(), told(channels));
            Channel connected = channels.client;
            connected.config().setOption(ChannelOption.SO_LINGER, 2);
            assertEquals(before, Set.copyOf(WithoutEffect.AT_CLIENTS));
        }
    }
}
