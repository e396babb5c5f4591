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
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultChannelConfig;
import io.netty.util.NetUtil;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.QueuePair;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a failure to accept one connection, for example because its client has disappeared, does not affect other
 * connections.
 */
@Timeout(60)
class AcceptFailureTest {
    private final RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private Channel server;

    /** A server channel that fails once: while it accepts its first connection, or while it prepares its second one. */
    static final class FailingOnce extends AbstractRpmaServerChannel {
        private final ChannelConfig config = new DefaultChannelConfig(this);
        private final DeclaredOptions declared = new DeclaredOptions();
        private final MessageOptions options = new MessageOptions(
            new MessageOptions.Declarations(declared, ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA), new OptionValues(declared));
        private final Exception acceptFailure;
        private final RuntimeException prepareFailure;
        private boolean hasFailedToAccept;
        private boolean hasFailedToPrepare;

        FailingOnce(Exception acceptFailure, RuntimeException prepareFailure) {
            this.acceptFailure = acceptFailure;
            this.prepareFailure = prepareFailure;
        }

        @Override
        public ChannelConfig config() {
            return config;
        }

        @Override
        int backlog() {
            return 128;
        }

        @Override
        List<RpmaPath> paths() {
            return options.paths();
        }

        @Override
        NextChild newNext(Fabric fabric, boolean first) throws RpmaException {
            if (prepareFailure != null && !first && !hasFailedToPrepare) {
                hasFailedToPrepare = true;
                throw prepareFailure;
            }
            MessageSizes sizes = options.sizes(fabric.limits());
            return new NextChild(fabric, sizes.newConfig(fabric, REQUEST_TIMEOUT_MILLIS)) {
                @Override
                QueuePair accept(ConnectionRequest request) throws RpmaException {
                    if (acceptFailure != null && !hasFailedToAccept) {
                        hasFailedToAccept = true;
                        request.close();
                        if (acceptFailure instanceof RpmaException e) {
                            throw e;
                        }
                        throw (RuntimeException) acceptFailure;
                    }
                    return MessageQueuePair.accept(fabric, sizes, request, ByteBuffer.allocate(0));
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
            return new RpmaMessageChannel(this, (MessageQueuePair) pair);
        }
    }

    private void serve(Exception acceptFailure, RuntimeException prepareFailure) throws Exception {
        ServerBootstrap bootstrap = new ServerBootstrap().group(group)
            .channelFactory(() -> new FailingOnce(acceptFailure, prepareFailure));
        server = bootstrap.handler(new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                failures.add(cause);
            }
        }).childHandler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** A device may deliver the requests in another order than that in which they were made. */
    private static void assertOneIsRejected(RawPeer... peers) throws Exception {
        List<ConnectionEvent> events = new ArrayList<>();
        for (RawPeer peer : peers) {
            events.add(peer.nextEvent());
        }
        assertEquals(1, Collections.frequency(events, ConnectionEvent.REJECTED), events::toString);
        assertEquals(peers.length - 1, Collections.frequency(events, ConnectionEvent.ESTABLISHED), events::toString);
    }

    static Stream<Exception> failures() {
        return Stream.of(new RpmaException(RpmaError.PROVIDER, "the first one fails"),
            new IllegalStateException("the first one fails"));
    }

    /** The exception may also be one that nobody expects, such as that of an object that its last user has released. */
    @ParameterizedTest
    @MethodSource("failures")
    void aClientBehindOneThatCouldNotBeAcceptedIsAccepted(Exception failure) throws Exception {
        serve(failure, null);
        try (RawPeer first = new RawPeer(); RawPeer second = new RawPeer()) {
            // The single event loop of the server is busy during this, so it receives both requests at once.
            group.next().submit(() -> {
                first.request((InetSocketAddress) server.localAddress(), null);
                second.request((InetSocketAddress) server.localAddress(), null);
                return null;
            }).sync();
            assertOneIsRejected(first, second);
            String message = failures.poll(20, TimeUnit.SECONDS).getMessage();
            assertTrue(message.contains("the first one fails"), message);
        }
    }

    /** The client that the server cannot prepare for is rejected. The listener continues. */
    @Test
    void aClientBehindOneThatCouldNotBePreparedForIsAccepted() throws Exception {
        serve(null, new IllegalStateException("the second one fails"));
        try (RawPeer first = new RawPeer(); RawPeer second = new RawPeer(); RawPeer third = new RawPeer()) {
            group.next().submit(() -> {
                first.request((InetSocketAddress) server.localAddress(), null);
                second.request((InetSocketAddress) server.localAddress(), null);
                third.request((InetSocketAddress) server.localAddress(), null);
                return null;
            }).sync();
            assertOneIsRejected(first, second, third);
            String message = failures.poll(20, TimeUnit.SECONDS).getMessage();
            assertTrue(message.contains("the second one fails"), message);
        }
    }
}
