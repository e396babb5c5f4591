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

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.util.ReferenceCountUtil;
import io.rpma.netty.ConnectedChannels.Kind;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests a channel that leaves its event loop: nothing happens to it on that event loop any more, and nothing is lost. */
@Timeout(60)
class MovedChannelTest {
    private static final int MESSAGES = 5;

    private RpmaEventLoopGroup group;
    private ConnectedChannels channels;

    @BeforeEach
    void start() {
        group = new RpmaEventLoopGroup(2);
    }

    @AfterEach
    void stop() {
        channels.close();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private EventLoop otherThan(EventLoop loop) {
        EventLoop other = group.next();
        while (other == loop) {
            other = group.next();
        }
        return other;
    }

    /** Records the integers that are read, and makes the channel leave its event loop with the first of them, which is 0. */
    private static final class Leaver extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Void> left = new CompletableFuture<>();
        private final BlockingQueue<Integer> values = new LinkedBlockingQueue<>();
        private final BlockingQueue<String> wrong = new LinkedBlockingQueue<>();

        /** Adds this handler, and waits for that: it gets no messages before the event loop has added it. */
        void addTo(Channel channel) throws InterruptedException {
            channel.pipeline().addFirst(this);
            channel.eventLoop().submit(() -> { }).sync();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (!ctx.channel().isRegistered()) {
                wrong.add("data was read while no loop had the channel");
            }
            int value = ((ByteBuf) msg).getInt(0);
            values.add(value);
            ReferenceCountUtil.release(msg);
            if (value == 0) {
                ctx.deregister().addListener(done -> left.complete(null));
            }
        }
    }

    /** Data that has not been read waits for the next event loop of the channel. */
    @ParameterizedTest
    @EnumSource
    void aChannelThatLeavesWhileItReadsIsReadOnByItsNextLoop(Kind kind) throws Exception {
        channels = new ConnectedChannels(group, kind, server -> server.childOption(ChannelOption.AUTO_READ, false)
            .childOption(ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(64).maxMessagesPerRead(1)),
            client -> { });
        Channel server = channels.server;
        Leaver leaver = new Leaver();
        leaver.addTo(server);
        for (int i = 0; i < MESSAGES; i++) {
            channels.client.writeAndFlush(Unpooled.copyInt(i)).sync();
        }
        RpmaChannelCounters counters = kind == Kind.STREAM ? ((RpmaChannel) server).counters()
            : ((RpmaMessageChannel) server).counters();
        while (server.eventLoop().submit(counters::messagesReceived).get() < MESSAGES) {
            // Each check is a turn of the event loop, which processes new events.
            continue;
        }
        EventLoop before = server.eventLoop();
        server.config().setAutoRead(true);
        leaver.left.get(20, TimeUnit.SECONDS);
        // Waits for the remaining tasks of the previous event loop.
        before.submit(() -> { }).sync();
        before.submit(() -> { }).sync();
        assertNull(leaver.wrong.poll());
        assertEquals(1, leaver.values.size());
        otherThan(before).register(server).sync();
        for (int i = 0; i < MESSAGES; i++) {
            assertEquals(i, leaver.values.poll(20, TimeUnit.SECONDS));
        }
        assertNull(leaver.wrong.poll());
    }

    /** Auto-read that is turned off while no loop has the channel is off on its next loop. */
    @ParameterizedTest
    @EnumSource
    void aChannelWhoseAutoReadIsTurnedOffWhileNoLoopHasItDoesNotRead(Kind kind) throws Exception {
        channels = new ConnectedChannels(group, kind);
        Channel server = channels.server;
        EventLoop before = server.eventLoop();
        server.deregister().sync();
        server.config().setAutoRead(false);
        EventLoop next = otherThan(before);
        next.register(server).sync();
        channels.client.writeAndFlush(Unpooled.copyInt(1)).sync();
        RpmaChannelCounters counters = kind == Kind.STREAM ? ((RpmaChannel) server).counters()
            : ((RpmaMessageChannel) server).counters();
        while (next.submit(counters::messagesReceived).get() < 1) {
            // Each check is a turn of the event loop, which processes new events.
            continue;
        }
        // A read would be performed in the turn in which the message arrived, or in a task.
        next.submit(() -> { }).sync();
        next.submit(() -> { }).sync();
        assertFalse(channels.atServer.hasRead());
        server.read();
        ReferenceCountUtil.release(channels.atServer.next());
    }

    /** A write that finds the connection broken leaves the data that has not been read to the next event loop. */
    @ParameterizedTest
    @EnumSource
    void aWriteToABrokenConnectionThatNoLoopHasReadsNothing(Kind kind) throws Exception {
        channels = new ConnectedChannels(group, kind, server -> server.childOption(ChannelOption.AUTO_READ, false)
            .childOption(ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(64).maxMessagesPerRead(1)),
            client -> client.option(ChannelOption.SO_LINGER, 0));
        Channel server = channels.server;
        Leaver leaver = new Leaver();
        leaver.addTo(server);
        EventLoop before = server.eventLoop();
        for (int i = 0; i < MESSAGES; i++) {
            channels.client.writeAndFlush(Unpooled.copyInt(i)).sync();
        }
        // The end of the connection causes the data to be read.
        channels.client.close().sync();
        leaver.left.get(20, TimeUnit.SECONDS);
        ChannelFuture written = server.writeAndFlush(Unpooled.copyInt(0));
        // Waits for the remaining tasks of the previous event loop.
        for (int i = 0; i < 3; i++) {
            before.submit(() -> { }).sync();
        }
        assertNull(leaver.wrong.poll());
        assertEquals(1, leaver.values.size());
        otherThan(before).register(server).sync();
        for (int i = 0; i < MESSAGES; i++) {
            assertEquals(i, leaver.values.poll(20, TimeUnit.SECONDS));
        }
        assertNull(leaver.wrong.poll());
        assertTrue(server.closeFuture().await(20, TimeUnit.SECONDS));
        assertFalse(written.isSuccess());
    }

    /** Data whose promises have succeeded is delivered, and the stream ends in order. */
    @Test
    void aChannelThatIsClosedWhileNoLoopHasItEndsInOrder() throws Exception {
        channels = new ConnectedChannels(group, Kind.STREAM);
        int bytes = 100_000;
        channels.client.writeAndFlush(Unpooled.wrappedBuffer(new byte[bytes])).sync();
        channels.client.deregister().sync();
        channels.client.close().sync();
        for (int n = 0; n < bytes;) {
            ByteBuf read = (ByteBuf) channels.atServer.next();
            n += read.readableBytes();
            read.release();
        }
        assertTrue(channels.server.closeFuture().await(20, TimeUnit.SECONDS));
        assertEquals(List.of(), channels.atServer.allFailures());
    }

    /**
     * Connects message channels and writes two messages. The second one cannot be delivered before the server's application has
     * read the first one.
     */
    private ChannelFuture writeOneTooMany() throws InterruptedException {
        channels = new ConnectedChannels(group, Kind.MESSAGES, server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1)
            .childOption(ChannelOption.AUTO_READ, false), client -> client.option(ChannelOption.SO_LINGER, 1_000));
        channels.client.writeAndFlush(Unpooled.copyInt(0)).sync();
        return channels.client.writeAndFlush(Unpooled.copyInt(1));
    }

    private void assertThatTheLastMessageIsDelivered(ChannelFuture last) throws Exception {
        assertFalse(last.isDone());
        channels.server.config().setAutoRead(true);
        for (int i = 0; i < 2; i++) {
            ByteBuf read = (ByteBuf) channels.atServer.next();
            assertEquals(i, read.readInt());
            read.release();
        }
        assertTrue(last.await(20, TimeUnit.SECONDS));
        assertNull(last.cause());
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS));
        assertTrue(channels.server.closeFuture().await(20, TimeUnit.SECONDS));
        assertEquals(List.of(), channels.atServer.allFailures());
    }

    @Test
    void aMessageChannelThatIsClosedWhileNoLoopHasItDeliversItsMessages() throws Exception {
        ChannelFuture last = writeOneTooMany();
        channels.client.deregister().sync();
        channels.client.close();
        assertThatTheLastMessageIsDelivered(last);
    }

    @Test
    void aMessageChannelThatLeavesItsLoopWhileItClosesDeliversItsMessages() throws Exception {
        ChannelFuture last = writeOneTooMany();
        channels.client.close();
        channels.client.deregister().sync();
        assertThatTheLastMessageIsDelivered(last);
    }

    /** A message that was delivered already counts as delivered, although its completion has not been handled. */
    @Test
    void aMessageChannelThatIsClosedBeforeItsLoopHasHandledTheCompletionDeliversItsMessage() throws Exception {
        channels = new ConnectedChannels(group, Kind.MESSAGES, server -> { },
            client -> client.option(ChannelOption.SO_LINGER, 1_000));
        CompletableFuture<ChannelFuture> writing = new CompletableFuture<>();
        channels.client.eventLoop().execute(() -> {
            writing.complete(channels.client.writeAndFlush(Unpooled.copyInt(0)));
            channels.client.deregister();
        });
        ChannelFuture written = writing.get(20, TimeUnit.SECONDS);
        channels.client.close();
        assertTrue(written.await(20, TimeUnit.SECONDS));
        assertNull(written.cause());
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS));
    }

    /** Two loops would use the connection, so the registration fails; it does not interrupt the delivery. */
    @Test
    void aMessageChannelThatClosesCannotBeRegisteredWithAnotherLoop() throws Exception {
        ChannelFuture last = writeOneTooMany();
        EventLoop before = channels.client.eventLoop();
        channels.client.close();
        channels.client.deregister().sync();
        ChannelFuture registered = otherThan(before).register(channels.client);
        assertThatTheLastMessageIsDelivered(last);
        assertTrue(registered.await(20, TimeUnit.SECONDS));
        assertInstanceOf(ClosedChannelException.class, registered.cause());
    }

    /** A loop that shuts down ends the wait of a channel that is not registered with it any more. */
    @Test
    void aMessageChannelThatNoLoopHasDoesNotHoldUpTheShutdown() throws Exception {
        RpmaEventLoopGroup ending = new RpmaEventLoopGroup(1);
        channels = new ConnectedChannels(group, Kind.MESSAGES, server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1)
            .childOption(ChannelOption.AUTO_READ, false), client -> { });
        Channel client = new Bootstrap().group(ending).channel(RpmaMessageChannel.class).option(ChannelOption.SO_LINGER, 1_000)
            .handler(new ChannelInboundHandlerAdapter()).connect(channels.listener.localAddress()).sync().channel();
        client.writeAndFlush(Unpooled.copyInt(0)).sync();
        ChannelFuture last = client.writeAndFlush(Unpooled.copyInt(1));
        ChannelFuture unflushed = client.write(Unpooled.copyInt(2));
        client.deregister().sync();
        client.close();
        assertTrue(ending.shutdownGracefully(0, 5, TimeUnit.SECONDS).await(20, TimeUnit.SECONDS));
        assertTrue(client.closeFuture().isDone());
        assertInstanceOf(ClosedChannelException.class, last.cause());
        assertInstanceOf(ClosedChannelException.class, unflushed.cause());
    }
}
