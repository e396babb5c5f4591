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

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.Peer;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.QueuePair;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that an event loop does its other work while many clients that are refused connect at once. */
@Timeout(120)
class AcceptFairnessTest {
    private static final int CLIENTS = Acceptor.MAX_REQUESTS + 40;

    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger refusedBeforeTheTask = new AtomicInteger(-1);
    private final CountDownLatch allRefused = new CountDownLatch(CLIENTS);

    /** A server channel that refuses every client. The first client gives the event loop another task. */
    private final class Refusing extends AbstractRpmaServerChannel {
        private final ChannelConfig config = new DefaultChannelConfig(this);
        private final DeclaredOptions declared = new DeclaredOptions();
        private final MessageOptions options = new MessageOptions(
            new MessageOptions.Declarations(declared, ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA), new OptionValues(declared));

        @Override
        public ChannelConfig config() {
            return config;
        }

        @Override
        int backlog() {
            return 1024;
        }

        @Override
        List<RpmaPath> paths() {
            return options.paths();
        }

        @Override
        NextChild newNext(Fabric fabric, boolean first) throws RpmaException {
            MessageSizes sizes = options.sizes(fabric.limits());
            return new NextChild(fabric, sizes.newConfig(fabric, REQUEST_TIMEOUT_MILLIS)) {
                @Override
                QueuePair accept(ConnectionRequest request) throws RpmaException {
                    if (refused.getAndIncrement() == 0) {
                        eventLoop().execute(() -> refusedBeforeTheTask.set(refused.get()));
                    }
                    request.close();
                    allRefused.countDown();
                    return null;
                }

                @Override
                Admission admit(ConnectionRequest request) {
                    throw new UnsupportedOperationException();
                }

                @Override
                void release() {
                    // Only the configuration was created for the channel.
                }
            };
        }

        @Override
        AbstractRpmaChannel newChild(QueuePair pair) {
            throw new UnsupportedOperationException();
        }
    }

    @Test
    void clientsThatAreRefusedDoNotKeepTheLoop() throws Exception {
        RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
        List<Connection> connections = new ArrayList<>();
        RpmaProvider provider = Rpma.provider();
        InetAddress address = provider.reachable(InetAddress.getLoopbackAddress());
        try (Peer peer = provider.localDevice(address).newPeer()) {
            Channel server = new ServerBootstrap().group(group).channelFactory(Refusing::new)
                .childHandler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync()
                .channel();
            EventLoop loop = server.eventLoop();
            InetSocketAddress local = (InetSocketAddress) server.localAddress();
            // This runs on the event loop of the server, so that the loop receives all requests at once.
            loop.submit(() -> {
                for (int i = 0; i < CLIENTS; i++) {
                    try (ConnectionConfig config = provider.newConnectionConfig().timeoutMillis(60_000)) {
                        connections.add(peer.newConnectionRequest(local, config).connect(null));
                    }
                }
                return null;
            }).sync();
            allRefused.await(100, TimeUnit.SECONDS);
            for (Connection connection : connections) {
                connection.close();
            }
            assertEquals(CLIENTS, refused.get());
            assertEquals(Acceptor.MAX_REQUESTS, refusedBeforeTheTask.get());
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }
}
