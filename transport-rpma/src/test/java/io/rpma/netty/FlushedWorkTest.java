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
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ServerChannel;
import io.rpma.CompletionStatus;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.netty.loop.EpollSet;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.stream.Handshake;
import io.rpma.netty.stream.Immediate;
import io.rpma.netty.stream.StreamQueuePair;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests work that fails before the channel learns of the event that ended the connection.
 *
 * <p>An iWARP device flushes work when the peer disconnects, and reports the disconnect afterwards. These tests put the channel's
 * own queue pair into the error state, which flushes its receives, while the peer stays connected. The peer disconnects, which
 * causes the event, when the test has seen the flush. With every provider, a send can fail because the peer has disconnected
 * before the loop has looked for events.
 */
@Timeout(120)
class FlushedWorkTest {
    private RpmaEventLoopGroup group;
    private RawPeer peer;
    private final ConnectedChannels.End end = new ConnectedChannels.End();

    @BeforeEach
    void start() throws RpmaException {
        group = new RpmaEventLoopGroup(1);
        peer = new RawPeer();
    }

    @AfterEach
    void stop() throws RpmaException {
        peer.close();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Returns the channel that accepts the peer. */
    private AbstractRpmaChannel serve(Class<? extends ServerChannel> type, ByteBuffer privateData, boolean autoRead,
            boolean sharedReceives) throws Exception {
        ServerBootstrap bootstrap = new ServerBootstrap().group(group).channel(type)
            .childOption(ChannelOption.AUTO_READ, autoRead);
        if (type == RpmaServerChannel.class) {
            bootstrap.option(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, sharedReceives)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        }
        return end.serve(bootstrap, peer, privateData);
    }

    private AbstractRpmaChannel serveMessages(boolean autoRead) throws Exception {
        return serve(RpmaMessageServerChannel.class, null, autoRead, false);
    }

    /** Returns a stream whose receives can be flushed, because they are not shared. */
    private AbstractRpmaChannel serveStream() throws Exception {
        return serveStream(false);
    }

    private AbstractRpmaChannel serveStream(boolean sharedReceives) throws Exception {
        return serve(RpmaServerChannel.class, new Handshake(Handshake.MINOR, 0, 16 << 10, 16, 1 << 20).encode(), true,
            sharedReceives);
    }

    private void releaseEightBytes() throws InterruptedException {
        ByteBuf data = assertInstanceOf(ByteBuf.class, end.next());
        assertEquals(8, data.readableBytes());
        data.release();
    }

    private interface Step {
        void run() throws Exception;
    }

    /** Makes the channel's work flush, and returns when the channel has detected it. */
    private static void flushWork(AbstractRpmaChannel channel) throws Exception {
        flushWork(channel, () -> { });
    }

    /**
     * Makes the channel's work flush. The next step is the next task of the loop, so that it comes after what the channel does
     * at once, and before the time is over after which the channel fails because the event that gives the reason is missing.
     */
    private static void flushWork(AbstractRpmaChannel channel, Step next) throws Exception {
        channel.eventLoop().submit(() -> {
            QueuePair pair = channel.pair();
            pair.connection.disconnect();
            WorkCompletions batch = new WorkCompletions(64);
            while (pair.counters.failures(CompletionStatus.WR_FLUSH_ERR) == 0) {
                ((RpmaIoHandle) channel.unsafe()).poll(batch);
            }
            return channel.eventLoop().submit(() -> {
                next.run();
                return null;
            });
        }).sync().getNow().sync();
    }

    private void disconnect(Channel channel) throws RpmaException {
        assertTrue(channel.isActive(), "the channel was closed before the event");
        peer.disconnect();
    }

    private void endsWithoutAFailure(Channel channel) throws Exception {
        assertTrue(channel.closeFuture().await(30, TimeUnit.SECONDS));
        assertEquals(List.of(), end.allFailures());
    }

    @Test
    void aPeerThatDisconnectsInOrderIsNoFailureForMessages() throws Exception {
        AbstractRpmaChannel channel = serveMessages(false);
        for (int i = 0; i < 3; i++) {
            peer.sendPlain(8);
        }
        peer.awaitSends();
        flushWork(channel, () -> disconnect(channel));
        endsWithoutAFailure(channel);
        // The acknowledged messages have arrived.
        for (int i = 0; i < 3; i++) {
            ByteBuf message = assertInstanceOf(ByteBuf.class, end.next());
            assertEquals(8, message.readableBytes());
            message.release();
        }
    }

    @Test
    void messagesUnderWayFailWithoutAFailureOfTheChannel() throws Exception {
        AbstractRpmaChannel channel = serveMessages(true);
        List<ChannelFuture> writes = new ArrayList<>();
        // There are more messages than the peer has receives, so the last one is outstanding.
        for (int i = 0; i < 33; i++) {
            writes.add(channel.write(Unpooled.copyInt(i)));
        }
        channel.flush();
        for (int i = 0; i < 32; i++) {
            peer.receive();
        }
        ChannelPromise late = channel.newPromise();
        flushWork(channel, () -> {
            channel.writeAndFlush(Unpooled.copyInt(33), late);
            disconnect(channel);
        });
        endsWithoutAFailure(channel);
        for (ChannelFuture write : List.of(writes.get(32), late)) {
            assertTrue(write.await(30, TimeUnit.SECONDS));
            assertInstanceOf(IOException.class, write.cause());
        }
    }

    /** If a device flushes work and never reports the reason, the channel fails. */
    @Test
    void aFlushWithoutAnEventEndsTheChannelSoon() throws Exception {
        AbstractRpmaChannel channel = serveMessages(true);
        flushWork(channel);
        assertTrue(channel.closeFuture().await(30, TimeUnit.SECONDS));
        RpmaCompletionException cause = assertInstanceOf(RpmaCompletionException.class, end.failure().getCause());
        assertEquals(CompletionStatus.WR_FLUSH_ERR, cause.status());
    }

    @Test
    void aStreamThatEndedInOrderIsNoFailure() throws Exception {
        AbstractRpmaChannel channel = serveStream();
        peer.send(8, Immediate.of(Immediate.DATA, 0));
        peer.send(0, Immediate.of(Immediate.FIN, 0));
        releaseEightBytes();
        channel.eventLoop().submit(() -> {
            while (!((StreamQueuePair) channel.pair()).receiver().isEndOfStream()) {
                ((RpmaIoHandle) channel.unsafe()).poll(new WorkCompletions(64));
            }
        }).sync();
        flushWork(channel, () -> {
            // The half-closed channel stays open, because the application may not have sent everything.
            disconnect(channel);
            while (channel.pair().terminal() == null) {
                ((RpmaIoHandle) channel.unsafe()).eventsReady();
            }
        });
        assertFalse(((StreamQueuePair) channel.pair()).isAbnormal());
        channel.close().sync();
        assertEquals(List.of(), end.allFailures());
    }

    @Test
    void aStreamThatDidNotEndInOrderIsResetByThePeer() throws Exception {
        AbstractRpmaChannel channel = serveStream();
        flushWork(channel, () -> disconnect(channel));
        assertTrue(channel.closeFuture().await(30, TimeUnit.SECONDS));
        assertEquals("Connection reset by peer", end.failure().getMessage());
    }

    @Test
    void aStreamsFlushWithoutAnEventEndsTheChannelSoon() throws Exception {
        AbstractRpmaChannel channel = serveStream();
        flushWork(channel);
        assertTrue(channel.closeFuture().await(30, TimeUnit.SECONDS));
        assertFalse(end.allFailures().isEmpty());
    }

    /** When its send fails, the channel has not yet processed the data, the end of the stream or the disconnect. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSendToAPeerThatHasClosedInOrderIsNoFailure(boolean sharedReceives) throws Exception {
        AbstractRpmaChannel channel = serveStream(sharedReceives);
        // From then on, the event loop polls the queue instead of waiting for it.
        peer.send(8, Immediate.of(Immediate.DATA, 0));
        releaseEightBytes();
        ChannelPromise write = channel.newPromise();
        channel.eventLoop().submit(() -> {
            peer.send(8, Immediate.of(Immediate.DATA, 0));
            peer.send(0, Immediate.of(Immediate.FIN, 0));
            peer.awaitSends();
            peer.disconnect();
            // Without this, the loop would look for events before it writes or polls for completions, because this task has taken
            // long.
            AbstractRpmaChannel.ConnectionUnsafe unsafe = (AbstractRpmaChannel.ConnectionUnsafe) channel.unsafe();
            unsafe.registration.<EpollSet>attachment().lastRunNanos = System.nanoTime()
                + TimeUnit.MILLISECONDS.toNanos(100);
            channel.writeAndFlush(Unpooled.copyInt(1), write);
            return null;
        }).sync();
        releaseEightBytes();
        assertTrue(write.await(30, TimeUnit.SECONDS));
        assertNull(write.cause());
        channel.close().sync();
        assertEquals(List.of(), end.allFailures());
    }
}
