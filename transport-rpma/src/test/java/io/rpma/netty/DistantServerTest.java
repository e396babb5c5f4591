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
import io.netty.util.NetUtil;
import io.rpma.Rpma;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Tests that many connects to a server that is far away wait for its answers at the same time. A relay makes the server seem far
 * away: it holds back what the server sends to its clients until {@link #CLIENTS} of them are connected.
 */
@Timeout(60)
class DistantServerTest {
    /** More than there are threads for the blocking part of connecting. */
    private static final int CLIENTS = 300;

    private final RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private ServerSocket relay;

    @BeforeEach
    void start() throws Exception {
        assumeTrue(Rpma.provider().name().equals("tcp"), "the relay is one for TCP");
        relay = new ServerSocket(0, CLIENTS, NetUtil.LOCALHOST4);
    }

    @AfterEach
    void stop() throws Exception {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        if (relay != null) {
            relay.close();
        }
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    /** Relays clients to a server. Each client lowers its latch, and gets what the server sends when the latch is at zero. */
    private void relayTo(InetSocketAddress server, CountDownLatch first, CountDownLatch others) {
        Thread.startVirtualThread(() -> {
            CountDownLatch waiting = first;
            try {
                while (true) {
                    Socket client = relay.accept();
                    Socket target = new Socket(server.getAddress(), server.getPort());
                    sockets.add(client);
                    sockets.add(target);
                    waiting.countDown();
                    pass(client, target, first);
                    pass(target, client, waiting);
                    waiting = others;
                }
            } catch (SocketException e) {
                // The test has ended.
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static void pass(Socket from, Socket to, CountDownLatch start) {
        Thread.startVirtualThread(() -> {
            try {
                start.await();
                from.getInputStream().transferTo(to.getOutputStream());
                to.shutdownOutput();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (IOException e) {
                // One of the ends has closed.
            }
        });
    }

    private ChannelFuture connect() {
        return new Bootstrap().group(group).channel(RpmaChannel.class).handler(new ChannelInboundHandlerAdapter())
            .connect(relay.getLocalSocketAddress());
    }

    @Test
    void manyConnectsWaitAtTheSameTime() throws Exception {
        Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress(NetUtil.LOCALHOST4, 0)).sync().channel();
        relayTo((InetSocketAddress) server.localAddress(), new CountDownLatch(1), new CountDownLatch(CLIENTS));
        // The first connect is answered at once, which shows that the server answers.
        connect().sync();
        List<ChannelFuture> connects = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            connects.add(connect());
        }
        for (ChannelFuture connect : connects) {
            connect.sync();
        }
    }
}
