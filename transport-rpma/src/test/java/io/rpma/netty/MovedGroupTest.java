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
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.rpma.netty.ConnectedChannels.Kind;
import io.rpma.netty.stream.AreasInUse;
import io.rpma.netty.stream.StreamSender;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests streams that are moved from one group of event loops to another, and whose first group ends while they are used. */
@Timeout(90)
class MovedGroupTest {
    private final RpmaEventLoopGroup first = new RpmaEventLoopGroup(1);
    private final RpmaEventLoopGroup second = new RpmaEventLoopGroup(1);
    private ConnectedChannels channels;

    @BeforeEach
    void connect() throws InterruptedException {
        channels = new ConnectedChannels(second, first, Kind.STREAM, server -> { }, client -> { });
        assertSame(first.next(), ((RpmaChannel) channels.client).home());
    }

    @AfterEach
    void stop() {
        channels.close();
        first.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        second.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void endFirst() throws InterruptedException {
        assertTrue(first.shutdownGracefully(0, 5, TimeUnit.SECONDS).await(20, TimeUnit.SECONDS));
    }

    private void assertClientReads(int value) throws InterruptedException {
        channels.server.writeAndFlush(Unpooled.copyInt(value));
        ByteBuf read = (ByteBuf) channels.atClient.next();
        assertEquals(value, read.readInt());
        read.release();
    }

    private void assertClientEnds() throws InterruptedException {
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS), "the stream can receive nothing and stays open");
        Throwable failure = channels.atClient.failure();
        assertTrue(failure instanceof IOException && failure.getMessage().contains("has ended"), failure::toString);
    }

    @Test
    void aStreamEndsWithTheLoopThatReceivesItsMessages() throws Exception {
        channels.client.deregister().sync();
        second.register(channels.client).sync();
        assertClientReads(1);
        endFirst();
        assertClientEnds();
    }

    /** The server does not read, so the credits of the client are used up, and what it has written waits. */
    @Test
    void whatAStreamHasNotSentFailsWhenTheLoopEndsThatReceivesItsMessages() throws Exception {
        channels.server.config().setAutoRead(false);
        channels.client.deregister().sync();
        second.register(channels.client).sync();
        ChannelFuture last;
        do {
            last = channels.client.writeAndFlush(Unpooled.wrappedBuffer(new byte[64 << 10]));
            channels.client.eventLoop().submit(() -> { }).sync();
        } while (last.isDone());
        endFirst();
        assertTrue(last.await(20, TimeUnit.SECONDS), "the promise is never completed");
        assertInstanceOf(ClosedChannelException.class, last.cause());
        assertClientEnds();
    }

    @Test
    void aStreamThatNoLoopHadWhenItsFirstLoopEndedEndsOnItsNextOne() throws Exception {
        channels.client.deregister().sync();
        endFirst();
        assertTrue(channels.client.isOpen());
        second.register(channels.client).sync();
        assertClientEnds();
    }

    /**
     * The peer has granted memory for large data. The loop that would return it when it is idle ends before that, while another
     * loop has the stream, which has receives of its own and so depends on its first loop for nothing else.
     */
    @Test
    void aStreamReturnsIdleMemoryAfterItsFirstLoopHasEnded() throws Exception {
        connectWithOwnReceives();
        sendUntilGranted();
        channels.client.deregister().sync();
        second.register(channels.client).sync();
        endFirst();
        AreasInUse.awaitNone();
        sendUntilGranted();
        AreasInUse.awaitNone();
    }

    @Test
    void aStreamThatNoLoopHadWhenItsFirstLoopEndedReturnsIdleMemoryOnItsNextOne() throws Exception {
        connectWithOwnReceives();
        sendUntilGranted();
        channels.client.deregister().sync();
        endFirst();
        second.register(channels.client).sync();
        AreasInUse.awaitNone();
    }

    private void connectWithOwnReceives() throws InterruptedException {
        channels.close();
        channels = new ConnectedChannels(second, first, Kind.STREAM, server -> { },
            client -> client.option(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, false));
        assertNull(((RpmaChannel) channels.client).home());
    }

    private void sendUntilGranted() throws InterruptedException {
        long before = ((RpmaChannel) channels.client).counters().bulkSent();
        while (((RpmaChannel) channels.client).counters().bulkSent() == before) {
            channels.client.writeAndFlush(Unpooled.wrappedBuffer(new byte[StreamSender.BULK_BYTES])).sync();
            for (int left = StreamSender.BULK_BYTES; left > 0;) {
                ByteBuf read = (ByteBuf) channels.atServer.next();
                left -= read.readableBytes();
                read.release();
            }
        }
    }
}
