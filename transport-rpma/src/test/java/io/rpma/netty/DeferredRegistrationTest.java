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
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.rpma.ConnectionEvent;
import io.rpma.netty.ConnectedChannels.Kind;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.stream.Handshake;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests registrations whose listener Netty defers, because it is added in a listener that was called by other listeners. What is
 * registered may end before the deferred listener is called.
 */
@Timeout(60)
class DeferredRegistrationTest {
    /** How many listeners call each other before Netty defers the next one. */
    private static final int NESTED = Integer.getInteger("io.netty.defaultPromise.maxListenerStackDepth", 8);

    private RpmaEventLoopGroup group;
    private EventLoop loop;

    @BeforeEach
    void start() {
        group = new RpmaEventLoopGroup(1);
        loop = group.next();
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /**
     * Runs a task on the loop where listeners are deferred, and returns how many connections and listeners the loop has after the
     * deferred ones have been called.
     */
    private int connectionsAfter(Callable<?> task) throws Exception {
        CompletableFuture<Integer> connections = new CompletableFuture<>();
        loop.execute(() -> nest(NESTED, () -> {
            try {
                task.call();
                loop.execute(() -> connections.complete(ofThisLoop()));
            } catch (Throwable e) {
                connections.completeExceptionally(e);
            }
        }));
        return connections.get(20, TimeUnit.SECONDS);
    }

    private int connections() throws Exception {
        return loop.submit(DeferredRegistrationTest::ofThisLoop).get();
    }

    /** Returns how many connections and listeners the loop of the current thread has. Other tests may still end loops. */
    private static int ofThisLoop() {
        return RpmaMetrics.loops().stream().filter(each -> each.name().equals(Thread.currentThread().getName()))
            .mapToInt(RpmaLoopCounters::connections).sum();
    }

    private void nest(int levels, Runnable task) {
        if (levels == 0) {
            task.run();
        } else {
            loop.newSucceededFuture(null).addListener(called -> nest(levels - 1, task));
        }
    }

    static Stream<Supplier<Channel>> channels() {
        return Stream.of(RpmaChannel::new, RpmaMessageChannel::new, RpmaServerChannel::new, RpmaMessageServerChannel::new);
    }

    @ParameterizedTest
    @MethodSource("channels")
    void aChannelThatIsClosedMeanwhileIsNotRegistered(Supplier<Channel> newChannel) throws Exception {
        Channel channel = newChannel.get();
        CompletableFuture<ChannelFuture> registered = new CompletableFuture<>();
        assertEquals(0, connectionsAfter(() -> {
            registered.complete(loop.register(channel));
            assertFalse(registered.get().isDone());
            return channel.close();
        }));
        assertTrue(registered.get().await(20, TimeUnit.SECONDS));
        assertInstanceOf(ClosedChannelException.class, registered.get().cause());
        assertFalse(channel.isRegistered());
        assertTrue(channel.closeFuture().isSuccess());
    }

    /** The close of a stream waits for the confirmation of its end, until the peer disconnects. */
    @Test
    void aStreamThatEndsMeanwhileIsNotWatched() throws Exception {
        try (RawPeer peer = new RawPeer().prefixed()) {
            ChannelFuture connecting = new Bootstrap().group(loop).channel(RpmaChannel.class)
                .option(ChannelOption.SO_LINGER, 1_000).handler(new ChannelInboundHandlerAdapter()).connect(peer.listen());
            peer.accept(new Handshake(Handshake.MINOR, 0, 16 << 10, 16, 0, true, ByteBuffer.allocate(0)).encode());
            RpmaChannel client = (RpmaChannel) connecting.sync().channel();
            assertEquals(ConnectionEvent.ESTABLISHED, peer.nextEvent());
            QueuePair pair = client.pair();
            assertEquals(0, connectionsAfter(() -> {
                client.close();
                assertFalse(pair.isClosed());
                // As LoopReceives does it, when the loop that polls for the connection has no more of its messages.
                pair.end(ConnectionEvent.CLOSED);
                assertTrue(pair.isClosed());
                return null;
            }));
        }
    }

    /** The channel waits until its message has been delivered. Only one registration may watch it meanwhile. */
    @Test
    void aMessageChannelThatBeginsToCloseMeanwhileIsRegisteredOnce() throws Exception {
        ConnectedChannels channels = new ConnectedChannels(group, Kind.MESSAGES,
            server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1).childOption(ChannelOption.AUTO_READ, false),
            client -> client.option(ChannelOption.SO_LINGER, 1_000));
        channels.client.writeAndFlush(Unpooled.copyInt(0)).sync();
        ChannelFuture last = channels.client.writeAndFlush(Unpooled.copyInt(1));
        int connections = connections();
        channels.client.deregister().sync();
        assertEquals(connections, connectionsAfter(() -> {
            loop.register(channels.client);
            return channels.client.close();
        }));
        assertFalse(last.isDone());
        channels.server.config().setAutoRead(true);
        last.sync();
        channels.client.closeFuture().sync();
        channels.server.closeFuture().sync();
        channels.close();
        assertEquals(0, connections());
    }
}
