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
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.rpma.DeviceLimits;
import io.rpma.MemoryUsage;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.netty.ConnectedChannels.Kind;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.QueuePair;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests receives that come from a shared queue, and receives that have a completion queue of their own. */
@Timeout(60)
class ReceiveQueuesTest {
    private static final int RECEIVES = 8;

    private RpmaEventLoopGroup group;
    private RpmaSharedReceiveQueue shared;
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();

    @BeforeEach
    void start() {
        group = new RpmaEventLoopGroup(2);
        shared = new RpmaSharedReceiveQueue(RECEIVES, 1024);
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        if (shared.refCnt() > 0) {
            shared.release();
        }
        assertEquals(0, shared.refCnt());
    }

    /** Sends every message back. */
    private final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            accepted.add(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg);
        }
    }

    private Channel serve(boolean completionQueue, boolean autoRead) throws InterruptedException {
        return new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, shared)
            .option(RpmaChannelOption.RPMA_RECEIVE_COMPLETION_QUEUE, completionQueue)
            .childOption(ChannelOption.AUTO_READ, autoRead).childHandler(new Echo())
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
    }

    private Channel connect(Channel server, ConnectedChannels.End end) throws InterruptedException {
        return connect(group, server, end);
    }

    private static Channel connect(EventLoopGroup group, Channel server, ConnectedChannels.End end)
            throws InterruptedException {
        return new Bootstrap().group(group).channel(RpmaMessageChannel.class).handler(end).connect(server.localAddress())
            .sync().channel();
    }

    /**
     * Several connections on two loops share the buffers. There are never more messages under way than buffers. Short messages
     * are copied, and long ones are not.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void connectionsShareTheBuffers(boolean completionQueue) throws Exception {
        Channel server = serve(completionQueue, true);
        Map<Channel, ConnectedChannels.End> clients = new HashMap<>();
        for (int i = 0; i < 5; i++) {
            ConnectedChannels.End end = new ConnectedChannels.End();
            clients.put(connect(server, end), end);
        }
        for (int i = 0; i < 100; i++) {
            int id = 0;
            for (Channel client : clients.keySet()) {
                client.writeAndFlush(RpmaByteBufAllocator.DEFAULT.buffer(1024).writeInt(++id).writeInt(i)
                    .writeZero(i % 2 == 0 ? 0 : 1000));
            }
            id = 0;
            for (ConnectedChannels.End end : clients.values()) {
                ByteBuf echo = (ByteBuf) end.next();
                assertEquals(++id, echo.readInt());
                assertEquals(i, echo.readInt());
                assertEquals(i % 2 == 0 ? 0 : 1000, echo.readableBytes());
                echo.release();
            }
        }
        shared.release();
        assertTrue(shared.refCnt() > 0, "the channels still use the queue");
        for (Channel client : clients.keySet()) {
            client.close().sync();
        }
        server.close().sync();
        for (int i = 0; i < clients.size(); i++) {
            Channel child = accepted.poll(20, TimeUnit.SECONDS);
            assertNotNull(child);
            assertTrue(child.closeFuture().await(20, TimeUnit.SECONDS));
        }
    }

    /** Connections that end with messages that were not read, or not polled, return their buffers. */
    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void noBufferIsLost(boolean completionQueue, boolean serverCloses) throws Exception {
        Channel server = serve(completionQueue, false);
        for (int round = 0; round < 2 * RECEIVES; round++) {
            Channel client = connect(server, new ConnectedChannels.End());
            Channel child = accepted.poll(20, TimeUnit.SECONDS);
            assertNotNull(child);
            for (int i = 0; i < RECEIVES / 2; i++) {
                client.writeAndFlush(Unpooled.copyInt(i)).sync();
            }
            (serverCloses ? child : client).close().sync();
            assertTrue(child.closeFuture().await(20, TimeUnit.SECONDS));
            assertTrue(client.closeFuture().await(20, TimeUnit.SECONDS));
        }
        server.close().sync();
        noBufferIsMissing(completionQueue);
    }

    /**
     * Has all buffers used at the same time. This is possible only while the event loops of the server do nothing, because they
     * set unread messages aside.
     */
    private void noBufferIsMissing(boolean completionQueue) throws Exception {
        Channel server = serve(completionQueue, false);
        EventLoopGroup ofClients = new RpmaEventLoopGroup(1);
        ConnectedChannels.End end = new ConnectedChannels.End();
        Channel client = connect(ofClients, server, new ConnectedChannels.End());
        Channel other = connect(ofClients, server, end);
        List<Channel> children = List.of(accepted.take(), accepted.take());
        CountDownLatch goesOn = stopLoops(group);
        List<ChannelFuture> sends = new ArrayList<>();
        // A device may have kept some of the buffers. For each of them another one was posted, so there are at most twice as
        // many.
        int most = Rpma.provider().name().equals("soft") ? RECEIVES : 2 * RECEIVES;
        for (int i = 0; i <= most; i++) {
            sends.add(client.writeAndFlush(Unpooled.copyInt(i)));
        }
        for (int i = 0; i < RECEIVES; i++) {
            assertTrue(sends.get(i).await(20, TimeUnit.SECONDS), "a buffer was lost");
            assertTrue(sends.get(i).isSuccess());
        }
        assertFalse(sends.get(most).isDone());
        // Another connection waits for the same buffers.
        ChannelFuture waiting = other.writeAndFlush(Unpooled.copyInt(7));
        for (Channel child : children) {
            child.config().setAutoRead(true);
        }
        goesOn.countDown();
        waiting.sync();
        ByteBuf echo = (ByteBuf) end.next();
        assertEquals(7, echo.readInt());
        echo.release();
        client.close().sync();
        other.close().sync();
        server.close().sync();
        shared.release();
        ofClients.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    /** Stops the event loops of a server until the latch is counted down. */
    private static CountDownLatch stopLoops(EventLoopGroup ofServer) throws InterruptedException {
        CountDownLatch goesOn = new CountDownLatch(1);
        List<Future<?>> stopped = new ArrayList<>();
        for (EventExecutor loop : ofServer) {
            Promise<Void> stops = loop.newPromise();
            stopped.add(stops);
            loop.submit(() -> {
                stops.setSuccess(null);
                goesOn.await();
                return null;
            });
        }
        for (Future<?> each : stopped) {
            each.await();
        }
        return goesOn;
    }

    /** Messages that have to wait for the next turn of the event loop do not hold buffers until then. */
    @Test
    @Tag("acknowledged-receives")
    void messagesThatAreReadLaterDoNotHoldTheBuffers() throws Exception {
        CompletableFuture<Boolean> sentMeanwhile = new CompletableFuture<>();
        List<ChannelFuture> others = new CopyOnWriteArrayList<>();
        BlockingQueue<Channel> children = new LinkedBlockingQueue<>();
        EventLoopGroup ofServer = new RpmaEventLoopGroup(1);
        Channel server = new ServerBootstrap().group(ofServer).channel(RpmaMessageServerChannel.class)
            .option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, shared)
            .childOption(ChannelOption.RECVBUF_ALLOCATOR, new AdaptiveRecvByteBufAllocator().maxMessagesPerRead(1))
            .childHandler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel child) {
                    children.add(child);
                    child.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                        private int reads;

                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
                            ReferenceCountUtil.release(msg);
                            if (++reads == 2) {
                                for (ChannelFuture each : others) {
                                    each.await(10, TimeUnit.SECONDS);
                                }
                                sentMeanwhile.complete(others.stream().allMatch(ChannelFuture::isSuccess));
                            }
                        }
                    });
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        Channel client = connect(server, new ConnectedChannels.End());
        Channel other = connect(server, new ConnectedChannels.End());
        children.take();
        children.take();
        CountDownLatch goesOn = stopLoops(ofServer);
        for (int i = 0; i < RECEIVES; i++) {
            assertSent(client.writeAndFlush(Unpooled.copyInt(i)));
        }
        for (int i = 0; i < RECEIVES / 2; i++) {
            others.add(other.writeAndFlush(Unpooled.copyInt(i)));
        }
        goesOn.countDown();
        assertTrue(sentMeanwhile.get(50, TimeUnit.SECONDS), "another client waits for a receive");
        client.close().sync();
        other.close().sync();
        server.close().sync();
        shared.release();
        ofServer.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    /**
     * The application does not read the messages of one connection, whose client sends more of them than there are buffers. Other
     * connections continue. Messages that have been set aside are read in order, before and after those that arrive later.
     */
    @ParameterizedTest
    @CsvSource({"4, false", "4, true", "1000, false", "1000, true"})
    void aConnectionThatIsNotReadDoesNotHoldTheBuffers(int bytes, boolean stopsInTheMiddle) throws Exception {
        Channel server = serve(false, false);
        ConnectedChannels.End end = new ConnectedChannels.End();
        Channel client = connect(server, end);
        Channel child = accepted.poll(20, TimeUnit.SECONDS);
        assertNotNull(child);
        int count = 0;
        int most = RECEIVES;
        if (stopsInTheMiddle) {
            // A single read reads at least one message, and leaves those that come later.
            child.read();
            most++;
        }
        for (; count < most; count++) {
            assertSent(client.writeAndFlush(message(count, bytes)));
        }
        ConnectedChannels.End otherEnd = new ConnectedChannels.End();
        Channel other = connect(server, otherEnd);
        accepted.poll(20, TimeUnit.SECONDS).config().setAutoRead(true);
        for (int i = 0; i < 3 * RECEIVES; i++) {
            other.writeAndFlush(message(i, bytes));
            assertMessage(i, bytes, otherEnd.next());
        }
        child.config().setAutoRead(true);
        for (; count < 2 * RECEIVES; count++) {
            client.writeAndFlush(message(count, bytes));
        }
        for (int i = 0; i < count; i++) {
            assertMessage(i, bytes, end.next());
        }
        server.close().sync();
        shared.release();
        client.close().sync();
        other.close().sync();
    }

    /** No flow control stops a peer whose messages are not read, so its connection ends. What has arrived is read before. */
    @ParameterizedTest
    @ValueSource(ints = {4, 1000})
    void aPeerThatSendsMuchMoreThanIsReadIsDisconnected(int bytes) throws Exception {
        ConnectedChannels.End end = new ConnectedChannels.End();
        Channel server = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, shared)
            .childOption(ChannelOption.AUTO_READ, false).childHandler(end)
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        Channel client = connect(server, new ConnectedChannels.End());
        ChannelFuture last = null;
        for (int i = 0; i <= 2 * RECEIVES; i++) {
            last = client.writeAndFlush(message(i, bytes));
        }
        assertTrue(client.closeFuture().await(20, TimeUnit.SECONDS), "the connection has not ended");
        assertTrue(last.await(20, TimeUnit.SECONDS));
        for (int i = 0; i < RECEIVES; i++) {
            assertMessage(i, bytes, end.next());
        }
        Throwable cause = end.failure();
        assertTrue(cause.getMessage().startsWith(RECEIVES + " messages are unread"), cause.toString());
        server.close().sync();
        shared.release();
    }

    /** The application is told why the connection ends even if the peer has closed it before everything has been read. */
    @Test
    void theReasonIsReportedIfThePeerClosesMeanwhile() throws Exception {
        BlockingQueue<Throwable> reasons = new LinkedBlockingQueue<>();
        RpmaEventLoopGroup ofClient = new RpmaEventLoopGroup(1);
        CompletableFuture<Channel> connected = new CompletableFuture<>();
        Channel server = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, shared)
            .childOption(ChannelOption.AUTO_READ, false).childHandler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
                    ReferenceCountUtil.release(msg);
                    connected.get().close().sync();
                    QueuePair pair = ((RpmaMessageChannel) ctx.channel()).pair();
                    while (pair.terminal() == null) {
                        pair.drainEvents();
                    }
                }

                @Override
                public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    reasons.add(cause);
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        Channel client = connect(ofClient, server, new ConnectedChannels.End());
        connected.complete(client);
        for (int i = 0; i <= 2 * RECEIVES; i++) {
            client.writeAndFlush(message(i, 4));
        }
        Throwable cause = reasons.poll(20, TimeUnit.SECONDS);
        assertNotNull(cause, "no reason was reported");
        assertTrue(cause.getMessage().startsWith(RECEIVES + " messages are unread"), cause.toString());
        server.close().sync();
        shared.release();
        ofClient.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    /**
     * A server accepts one connection and then does not read. The messages of connections in its backlog do not hold the buffers,
     * also if the server channel moves to another loop meanwhile. The messages are read when the connection is accepted.
     */
    @ParameterizedTest
    @CsvSource({"4, false", "4, true", "1000, false"})
    void connectionsInTheBacklogDoNotHoldTheBuffers(int bytes, boolean serverMoves) throws Exception {
        Channel server = serve(false, true);
        ConnectedChannels.End otherEnd = new ConnectedChannels.End();
        Channel other = connect(server, otherEnd);
        assertNotNull(accepted.poll(20, TimeUnit.SECONDS));
        server.config().setAutoRead(false);
        ConnectedChannels.End end = new ConnectedChannels.End();
        Channel client = connect(server, end);
        for (int i = 0; i < RECEIVES; i++) {
            assertSent(client.writeAndFlush(message(i, bytes)));
            if (serverMoves && i == RECEIVES >> 1) {
                server.deregister().sync();
                ((EventLoopGroup) group).next().register(server).sync();
            }
        }
        for (int i = 0; i < 3 * RECEIVES; i++) {
            other.writeAndFlush(message(i, bytes));
            assertMessage(i, bytes, otherEnd.next());
        }
        server.config().setAutoRead(true);
        for (int i = 0; i < RECEIVES; i++) {
            assertMessage(i, bytes, end.next());
        }
        server.close().sync();
        shared.release();
        client.close().sync();
        other.close().sync();
    }

    /** A connection in the backlog ends if it sends too much. The others continue, and its first messages are still read. */
    @ParameterizedTest
    @ValueSource(ints = {4, 1000})
    void aPeerInTheBacklogThatSendsTooMuchIsDisconnected(int bytes) throws Exception {
        BlockingQueue<ConnectedChannels.End> ends = new LinkedBlockingQueue<>();
        Channel server = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, shared).option(ChannelOption.AUTO_READ, false)
            .childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel child) {
                    ConnectedChannels.End end = new ConnectedChannels.End();
                    ends.add(end);
                    child.pipeline().addLast(end);
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        Channel client = connect(server, new ConnectedChannels.End());
        for (int i = 0; i <= 2 * RECEIVES; i++) {
            client.writeAndFlush(message(i, bytes));
        }
        assertTrue(client.closeFuture().await(20, TimeUnit.SECONDS), "the connection has not ended");
        server.read();
        ConnectedChannels.End end = ends.poll(20, TimeUnit.SECONDS);
        assertNotNull(end);
        for (int i = 0; i < RECEIVES; i++) {
            assertMessage(i, bytes, end.next());
        }
        Throwable cause = end.failure();
        assertTrue(cause.getMessage().startsWith(RECEIVES + " messages are unread"), cause.toString());
        Channel other = connect(server, new ConnectedChannels.End());
        server.read();
        end = ends.poll(20, TimeUnit.SECONDS);
        assertNotNull(end);
        for (int i = 0; i < 3 * RECEIVES; i++) {
            assertSent(other.writeAndFlush(message(i, bytes)));
            assertMessage(i, bytes, end.next());
        }
        other.close().sync();
        server.close().sync();
        shared.release();
    }

    /**
     * A receive cannot be posted again after its message has been moved to another buffer: the allocator of that buffer has
     * filled the queue. The channel ends, although its application does not read.
     */
    @Test
    void aReceiveThatCannotBePostedAgainEndsTheConnection() throws Exception {
        Channel server = serve(false, false);
        Channel client = connect(server, new ConnectedChannels.End());
        Channel child = accepted.poll(20, TimeUnit.SECONDS);
        assertNotNull(child);
        child.config().setAllocator((ByteBufAllocator) Proxy.newProxyInstance(ReceiveQueuesTest.class.getClassLoader(),
            new Class<?>[] {ByteBufAllocator.class}, (proxy, method, arguments) -> {
                if (method.getName().equals("ioBuffer")) {
                    assertThrows(RpmaException.class, () -> {
                        for (;;) {
                            shared.post(0);
                        }
                    });
                }
                return method.invoke(ByteBufAllocator.DEFAULT, arguments);
            }));
        assertSent(client.writeAndFlush(Unpooled.copyInt(1)));
        assertTrue(child.closeFuture().await(20, TimeUnit.SECONDS), "the channel has not ended");
        client.close().sync();
        server.close().sync();
        shared.release();
    }

    /** A channel that waits for the delivery of its last messages reads nothing any more, and must not hold buffers. */
    @Test
    @Tag("acknowledged-receives")
    void aConnectionThatIsBeingClosedDoesNotHoldTheBuffers() throws Exception {
        Channel server = serve(false, false);
        ConnectedChannels.End end = new ConnectedChannels.End();
        Channel client = new Bootstrap().group(group).channel(RpmaMessageChannel.class).handler(end)
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1).option(ChannelOption.AUTO_READ, false)
            .connect(server.localAddress()).sync().channel();
        Channel child = accepted.poll(20, TimeUnit.SECONDS);
        assertNotNull(child);
        // The client has one receive, so the second message is not delivered, and the child waits.
        child.writeAndFlush(Unpooled.copyInt(1)).sync();
        child.writeAndFlush(Unpooled.copyInt(2));
        ChannelFuture closing = child.close();
        for (int i = 0; i < 3 * RECEIVES; i++) {
            assertSent(client.writeAndFlush(Unpooled.copyInt(i)));
        }
        assertFalse(closing.isDone());
        client.config().setAutoRead(true);
        assertEquals(1, ((ByteBuf) end.next()).readInt());
        assertEquals(2, ((ByteBuf) end.next()).readInt());
        assertTrue(closing.await(20, TimeUnit.SECONDS));
        server.close().sync();
        shared.release();
    }

    private static void assertSent(ChannelFuture future) throws InterruptedException {
        assertTrue(future.await(10, TimeUnit.SECONDS), "a message waits for a receive");
        assertTrue(future.isSuccess(), () -> String.valueOf(future.cause()));
    }

    private static ByteBuf message(int number, int bytes) {
        return RpmaByteBufAllocator.DEFAULT.buffer(bytes).writeInt(number).writeZero(bytes - Integer.BYTES);
    }

    private static void assertMessage(int number, int bytes, Object message) {
        ByteBuf buf = (ByteBuf) message;
        assertEquals(bytes, buf.readableBytes());
        assertEquals(number, buf.readInt());
        buf.release();
    }

    /** A client may share receives too. Sends, receives and one-sided operations complete in their own queues. */
    @Test
    @Tag("immediate-data")
    void receivesHaveACompletionQueueOfTheirOwn() throws Exception {
        try (ConnectedChannels channels = new ConnectedChannels(group, Kind.MESSAGES,
                server -> server.option(RpmaChannelOption.RPMA_RECEIVE_COMPLETION_QUEUE, true),
                client -> client.option(RpmaChannelOption.RPMA_RECEIVE_COMPLETION_QUEUE, true)
                    .option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, shared))) {
            RpmaRegion region = RpmaRegion.allocate(64, MemoryUsage.WRITE_DST);
            RpmaRemoteRegion remote = RpmaRemoteRegion.open(region.descriptor(channels.server));
            for (int i = 0; i < 100; i++) {
                channels.client.write(RpmaOperation.atomicWrite(remote, 0, i));
                channels.client.writeAndFlush(new RpmaMessage(Unpooled.copyInt(i), i)).sync();
                RpmaMessage message = (RpmaMessage) channels.atServer.next();
                assertEquals(i, message.immediate());
                message.release();
                assertEquals(i, region.memory().get(ValueLayout.JAVA_LONG, 0));
                channels.server.writeAndFlush(Unpooled.copyInt(-i)).sync();
                ByteBuf answer = (ByteBuf) channels.atClient.next();
                assertEquals(-i, answer.readInt());
                answer.release();
            }
            remote.release();
            region.release();
        }
        shared.release();
    }

    /** The next operation is posted when the last one has completed, so that each poll finds a completion of this kind. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void messagesAreReadWhileOperationsComplete(boolean completionQueue) throws Exception {
        RpmaRegion region = RpmaRegion.allocate(Long.BYTES, MemoryUsage.WRITE_DST);
        try (ConnectedChannels channels = new ConnectedChannels(group, Kind.MESSAGES, server -> { },
                client -> client.option(RpmaChannelOption.RPMA_RECEIVE_COMPLETION_QUEUE, completionQueue))) {
            RpmaRemoteRegion remote = RpmaRemoteRegion.open(region.descriptor(channels.server));
            CompletableFuture<Boolean> read = new CompletableFuture<>();
            class Operations {
                private final long began = System.nanoTime();

                void next() {
                    if (channels.atClient.hasRead() || System.nanoTime() - began > TimeUnit.SECONDS.toNanos(20)) {
                        read.complete(channels.atClient.hasRead());
                        return;
                    }
                    channels.client.writeAndFlush(RpmaOperation.atomicWrite(remote, 0, 1)).addListener(written -> {
                        if (written.isSuccess()) {
                            next();
                        } else {
                            read.completeExceptionally(written.cause());
                        }
                    });
                }
            }
            channels.client.eventLoop().submit(() -> new Operations().next()).sync();
            channels.server.writeAndFlush(Unpooled.copyInt(7));
            assertTrue(read.get(40, TimeUnit.SECONDS), "the message was not read");
            assertEquals(7, ((ByteBuf) channels.atClient.next()).readInt());
            remote.release();
        }
        region.release();
    }

    @Test
    void badSizesAreRefused() throws Exception {
        assertThrows(IllegalArgumentException.class, () -> new RpmaSharedReceiveQueue(0, 64));
        assertThrows(IllegalArgumentException.class, () -> new RpmaSharedReceiveQueue(1, 0));
        assertThrows(IllegalArgumentException.class, () -> new RpmaSharedReceiveQueue(1, (4 << 20) + 1));
        RpmaSharedReceiveQueue huge = new RpmaSharedReceiveQueue(Integer.MAX_VALUE >> 8, 64);
        ChannelFuture bind = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, huge).childHandler(new Echo())
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).await();
        assertTrue(bind.cause() instanceof IllegalArgumentException, String.valueOf(bind.cause()));
        assertTrue(bind.channel().closeFuture().await(20, TimeUnit.SECONDS));
        huge.release();
        assertEquals(0, huge.refCnt());
    }

    /** The message names what the application has set: the queue, and not the number of receives of a connection's own. */
    @ParameterizedTest
    @ValueSource(ints = {Integer.MAX_VALUE >> 8, Integer.MAX_VALUE})
    void aQueueThatIsTooLargeIsNamedByTheFailure(int receives) throws Exception {
        DeviceLimits limits = Rpma.provider().devices().getFirst().limits();
        for (boolean apart : new boolean[] {false, true}) {
            RpmaSharedReceiveQueue huge = new RpmaSharedReceiveQueue(receives, 64);
            Bootstrap connecting = new Bootstrap().group(group).channel(RpmaMessageChannel.class)
                .handler(new ConnectedChannels.End()).option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, huge)
                .option(RpmaChannelOption.RPMA_RECEIVE_COMPLETION_QUEUE, apart);
            Channel server = serve(false, false);
            ChannelFuture connect = connecting.connect(server.localAddress()).await();
            String message = connect.cause().getMessage();
            assertTrue(message.startsWith("RPMA_RECEIVE_QUEUE is a shared receive queue of " + receives + " buffers of 64 bytes"
                + " and RPMA_SEND_QUEUE_SIZE 64; the device offers " + limits.maxQueuePairWorkRequests()), message);
            assertTrue(message.contains("use a smaller queue"), message);
            assertFalse(message.contains("RPMA_RECEIVE_BUFFERS"), message);
            server.close().sync();
            huge.release();
            assertEquals(0, huge.refCnt());
        }
    }

    /**
     * A server channel prepares one child for each of its endpoints. A child that was prepared with a queue keeps it until the
     * child has been accepted or dropped, even if the option has been changed meanwhile and nobody else has the queue.
     */
    @Test
    void aPreparedChildKeepsTheQueueThatItWasPreparedWith() throws Exception {
        Fabric fabric = Fabric.of(Rpma.provider().devices().getFirst());
        RpmaMessageServerChannel server = new RpmaMessageServerChannel();
        server.config().setOption(RpmaChannelOption.RPMA_RECEIVE_QUEUE, shared);
        NextChild one = server.newNext(fabric, true);
        NextChild other = server.newNext(fabric, true);
        RpmaSharedReceiveQueue next = new RpmaSharedReceiveQueue(4, 64);
        server.config().setOption(RpmaChannelOption.RPMA_RECEIVE_QUEUE, next);
        shared.release();
        one.drop();
        NextChild changed = server.newNext(fabric, false);
        assertTrue(shared.refCnt() > 0, "the queue of a prepared child was freed");
        other.drop();
        assertEquals(0, shared.refCnt());
        next.release();
        changed.drop();
        assertTrue(next.refCnt() > 0, "the queue of the next child was freed");
        server.unsafe().closeForcibly();
        assertEquals(0, next.refCnt());
    }

    /** A queue that its last user has released fails the clients that need it. The listener continues. */
    @Test
    void aQueueThatWasReleasedTooOftenDoesNotCloseTheListener() throws Exception {
        Channel server = serve(false, true);
        RpmaSharedReceiveQueue released = new RpmaSharedReceiveQueue(4, 64);
        released.release();
        server.config().setOption(RpmaChannelOption.RPMA_RECEIVE_QUEUE, released);
        // The first child was prepared with the earlier queue.
        connect(server, new ConnectedChannels.End());
        ChannelFuture refused = new Bootstrap().group(group).channel(RpmaMessageChannel.class)
            .handler(new ConnectedChannels.End()).connect(server.localAddress());
        assertTrue(refused.await(20, TimeUnit.SECONDS));
        assertFalse(refused.isSuccess());
        ChannelFuture ownQueue = new Bootstrap().group(group).channel(RpmaMessageChannel.class)
            .option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, released).handler(new ConnectedChannels.End())
            .connect(server.localAddress());
        assertTrue(ownQueue.await(20, TimeUnit.SECONDS));
        String message = assertInstanceOf(IllegalReferenceCountException.class, ownQueue.cause()).getMessage();
        assertTrue(message.startsWith("RPMA_RECEIVE_QUEUE is a shared receive queue of 4 buffers of 64 bytes that has been"
            + " released"), message);
        server.config().setOption(RpmaChannelOption.RPMA_RECEIVE_QUEUE, shared);
        connect(server, new ConnectedChannels.End());
        assertTrue(server.isActive());
        server.close().sync();
        shared.release();
    }
}
