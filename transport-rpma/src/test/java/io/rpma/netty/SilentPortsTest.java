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
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests that a port which does not answer does not delay connects to other ports of its host. It belongs to a program that uses
 * TCP and does not accept its connections, so that the kernel ignores further clients. On a device, which does not use TCP, such
 * a port refuses its clients.
 */
@Timeout(60)
class SilentPortsTest {
    private static final int MOST_CONNECTIONS = 16;
    private static final int LONG_MILLIS = 50_000;
    private static final int SHORT_MILLIS = 300;
    /** The time for a connect to a port that answers, much less than {@link #LONG_MILLIS}. */
    private static final int SECONDS = 10;

    private final List<AutoCloseable> sockets = new ArrayList<>();
    private RpmaEventLoopGroup group;
    private InetSocketAddress silent;

    @BeforeEach
    void start() throws Exception {
        group = new RpmaEventLoopGroup(1);
        ServerSocket listener = new ServerSocket(0, 1, NetUtil.LOCALHOST4);
        sockets.add(listener);
        silent = new InetSocketAddress(NetUtil.LOCALHOST4, listener.getLocalPort());
        while (!isSilent()) {
            assertTrue(sockets.size() < MOST_CONNECTIONS, "the kernel still accepts connections for the listener");
        }
    }

    private boolean isSilent() throws Exception {
        Socket socket = new Socket();
        sockets.add(socket);
        try {
            socket.connect(silent, 500);
            return false;
        } catch (SocketTimeoutException e) {
            return true;
        }
    }

    @AfterEach
    void stop() throws Exception {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        for (AutoCloseable socket : sockets) {
            socket.close();
        }
    }

    private ChannelFuture connect(InetSocketAddress address, int timeoutMillis) {
        return new Bootstrap().group(group).channel(RpmaChannel.class).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeoutMillis)
            .handler(new ChannelInboundHandlerAdapter()).connect(address);
    }

    private static InetSocketAddress unused() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, NetUtil.LOCALHOST4)) {
            return new InetSocketAddress(NetUtil.LOCALHOST4, socket.getLocalPort());
        }
    }

    @Test
    void aConnectThatIsRefusedIsNotHeldUp() throws Exception {
        connect(silent, LONG_MILLIS);
        ChannelFuture refused = connect(unused(), LONG_MILLIS);
        assertTrue(refused.await(SECONDS, TimeUnit.SECONDS), "the silent port delays the connect");
        assertInstanceOf(ConnectException.class, refused.cause());
    }

    /** One connect to the silent port is still waiting when another one fails. */
    @Test
    void aServerIsReachedByItsBestPath() throws Exception {
        Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress(NetUtil.LOCALHOST4, 0)).sync().channel();
        RpmaPath best = pathTo(server);
        connect(silent, LONG_MILLIS);
        assertNotNull(connect(silent, SHORT_MILLIS).await().cause());
        assertEquals(best, pathTo(server));
    }

    private RpmaPath pathTo(Channel server) throws Exception {
        ChannelFuture connect = connect((InetSocketAddress) server.localAddress(), LONG_MILLIS);
        assertTrue(connect.await(SECONDS, TimeUnit.SECONDS), "the silent port delays the connect");
        RpmaChannel channel = (RpmaChannel) connect.sync().channel();
        RpmaPath path = channel.path();
        channel.close().sync();
        return path;
    }
}
