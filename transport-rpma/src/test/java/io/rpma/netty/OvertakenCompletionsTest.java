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
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ServerChannel;
import io.rpma.CompletionQueue;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.stream.Handshake;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests completions that arrive after the event of the peer's disconnect, although the peer has acknowledged the work before:
 * on an InfiniBand or RoCE device, the connection manager's messages and the acknowledgements of a queue pair come by different
 * ways. These tests hide the completions from the channel until it has handled the event.
 */
@Timeout(120)
class OvertakenCompletionsTest {
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

    /** A completion queue that appears empty until its completions are let through. Used by the event loop only. */
    private static final class LateQueue implements CompletionQueue {
        private final CompletionQueue queue;
        private final WorkCompletions held = new WorkCompletions(64);
        private int count;
        private boolean late = true;

        LateQueue(CompletionQueue queue) {
            this.queue = queue;
        }

        @Override
        public int fd() {
            return queue.fd();
        }

        @Override
        public boolean consumeEvent() throws RpmaException {
            return queue.consumeEvent();
        }

        @Override
        public int poll(WorkCompletions completions) throws RpmaException {
            if (late) {
                count = append(held, count, completions);
                return 0;
            }
            if (count == 0) {
                return queue.poll(completions);
            }
            for (int i = 0; i < count; i++) {
                copy(held, i, completions, i);
            }
            int n = count;
            count = 0;
            return n;
        }

        private int append(WorkCompletions to, int length, WorkCompletions batch) throws RpmaException {
            int n = queue.poll(batch);
            for (int i = 0; i < n; i++) {
                copy(batch, i, to, length + i);
            }
            return length + n;
        }

        private static void copy(WorkCompletions from, int i, WorkCompletions to, int k) {
            to.set(k, from.context(i), from.statusCode(i), from.opcodeCode(i), from.byteLength(i), from.immediate(i),
                from.queuePairNumber(i), from.flags(i));
        }
    }

    /** Returns the channel that accepts the peer. */
    private AbstractRpmaChannel serve(Class<? extends ServerChannel> type, ByteBuffer privateData) throws Exception {
        return end.serve(new ServerBootstrap().group(group).channel(type), peer, privateData);
    }

    private AbstractRpmaChannel serveMessages() throws Exception {
        return serve(RpmaMessageServerChannel.class, null);
    }

    private static LateQueue hideCompletions(AbstractRpmaChannel channel) throws InterruptedException {
        return channel.eventLoop().submit(() -> {
            LateQueue late = new LateQueue(channel.pair().queue);
            channel.pair().queue = late;
            return late;
        }).sync().getNow();
    }

    /** Waits until all work of the channel has completed, without the channel's knowledge. */
    private static void awaitHidden(AbstractRpmaChannel channel, LateQueue queue, int completions) throws Exception {
        channel.eventLoop().submit(() -> {
            while (queue.count < completions) {
                ((RpmaIoHandle) channel.unsafe()).poll(new WorkCompletions(64));
            }
        }).sync();
    }

    /** Disconnects the peer. The next step follows immediately after the channel has handled the event. */
    private void disconnect(AbstractRpmaChannel channel, Runnable next) throws Exception {
        peer.disconnect();
        channel.eventLoop().submit(() -> {
            while (channel.pair().terminal() == null) {
                ((RpmaIoHandle) channel.unsafe()).eventsReady();
            }
            next.run();
        }).sync();
    }

    private static void letThrough(AbstractRpmaChannel channel, LateQueue queue) {
        queue.late = false;
        ((RpmaIoHandle) channel.unsafe()).poll(new WorkCompletions(64));
    }

    private void endsWithoutAFailure(AbstractRpmaChannel channel, ChannelFuture write) throws InterruptedException {
        assertTrue(write.await(30, TimeUnit.SECONDS));
        assertNull(write.cause());
        assertTrue(channel.closeFuture().await(30, TimeUnit.SECONDS));
        assertEquals(List.of(), end.allFailures());
    }

    @Test
    void aDeliveredMessageIsNotReportedAsFailed() throws Exception {
        AbstractRpmaChannel channel = serveMessages();
        LateQueue queue = hideCompletions(channel);
        ChannelFuture write = channel.writeAndFlush(Unpooled.copyInt(1));
        awaitHidden(channel, queue, 1);
        disconnect(channel, () -> letThrough(channel, queue));
        endsWithoutAFailure(channel, write);
    }

    @Test
    void aChannelThatIsClosedMeanwhileReportsWhatWasDelivered() throws Exception {
        AbstractRpmaChannel channel = serveMessages();
        LateQueue queue = hideCompletions(channel);
        ChannelFuture write = channel.writeAndFlush(Unpooled.copyInt(1));
        awaitHidden(channel, queue, 1);
        disconnect(channel, () -> {
            channel.close();
            letThrough(channel, queue);
        });
        endsWithoutAFailure(channel, write);
    }

    @Test
    void aMessageWithoutACompletionFailsSoonAndWithTheReason() throws Exception {
        AbstractRpmaChannel channel = serveMessages();
        LateQueue queue = hideCompletions(channel);
        ChannelFuture write = channel.writeAndFlush(Unpooled.copyInt(1));
        awaitHidden(channel, queue, 1);
        disconnect(channel, () -> assertFalse(write.isDone()));
        ChannelFuture late = channel.writeAndFlush(Unpooled.copyInt(2));
        for (ChannelFuture failed : List.of(write, late)) {
            assertTrue(failed.await(30, TimeUnit.SECONDS));
            IOException cause = assertInstanceOf(IOException.class, failed.cause());
            assertEquals("the peer has closed the connection, or died", cause.getMessage());
        }
        assertTrue(channel.closeFuture().await(30, TimeUnit.SECONDS));
        assertEquals(List.of(), end.allFailures());
    }

    @Test
    void aChannelWithNothingUnderWayClosesAtOnce() throws Exception {
        AbstractRpmaChannel channel = serveMessages();
        disconnect(channel, () -> assertTrue(channel.pair() == null || channel.pair().broken() != null));
        assertTrue(channel.closeFuture().await(30, TimeUnit.SECONDS));
        assertEquals(List.of(), end.allFailures());
    }

    @Test
    void anExecutedOperationOfAStreamIsNotReportedAsFailed() throws Exception {
        AbstractRpmaChannel channel = serve(RpmaServerChannel.class,
            new Handshake(Handshake.MINOR, 0, 16 << 10, 16, 1 << 20).encode());
        RpmaRemoteRegion remote = RpmaRemoteRegion.open(peer.descriptor());
        LateQueue queue = hideCompletions(channel);
        ChannelFuture operation = channel.writeAndFlush(RpmaOperation.write(Unpooled.copyInt(1), remote, 0));
        awaitHidden(channel, queue, 1);
        disconnect(channel, () -> letThrough(channel, queue));
        assertTrue(operation.await(30, TimeUnit.SECONDS));
        assertNull(operation.cause());
        assertTrue(channel.closeFuture().await(30, TimeUnit.SECONDS));
        remote.release();
    }
}
