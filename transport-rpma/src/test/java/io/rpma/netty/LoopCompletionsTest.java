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
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import io.rpma.CompletionQueue;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.netty.receive.LoopCompletions;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that the messages of all streams of an event loop complete in one queue, whether the event loop accepted the streams or
 * took them over.
 */
@Timeout(120)
class LoopCompletionsTest {
    private static final int CONNECTIONS = 12;

    private static long firstChildMillis;

    private RpmaEventLoopGroup listeners;
    private RpmaEventLoopGroup children;
    private RpmaEventLoopGroup clients;
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

    /** On a busy machine, the first child may take longer than the others wait for it. */
    @BeforeAll
    static void waitForTheFirstChild() {
        firstChildMillis = FirstChild.waitMillis;
        FirstChild.waitMillis = 60_000;
    }

    @AfterAll
    static void waitAsBefore() {
        FirstChild.waitMillis = firstChildMillis;
    }

    @BeforeEach
    void start() {
        listeners = new RpmaEventLoopGroup(1);
        children = new RpmaEventLoopGroup(3);
        clients = new RpmaEventLoopGroup(1);
    }

    @AfterEach
    void stop() {
        for (RpmaEventLoopGroup group : List.of(clients, children, listeners)) {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private InetSocketAddress listen(ChannelHandler handler) throws InterruptedException {
        Channel server = new ServerBootstrap().group(listeners, children).channel(RpmaServerChannel.class).childHandler(handler)
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        return (InetSocketAddress) server.localAddress();
    }

    private ChannelFuture connect(InetSocketAddress address, ChannelHandler handler) {
        return new Bootstrap().group(clients).channel(RpmaChannel.class).handler(handler).connect(address);
    }

    /** Sends everything back. */
    @ChannelHandler.Sharable
    private class Echo extends ChannelInboundHandlerAdapter {
        final Queue<RpmaChannel> active = new ConcurrentLinkedQueue<>();

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            active.add((RpmaChannel) ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failures.add(cause);
        }
    }

    /** Counts up by sending each number back and forth, one after the other. */
    private final class Counter extends ChannelInboundHandlerAdapter {
        private final int rounds;
        private final CountDownLatch done;
        private int next;

        Counter(int rounds, CountDownLatch done) {
            this.rounds = rounds;
            this.done = done;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(Unpooled.copyInt(next));
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            int value = ((ByteBuf) msg).getInt(0);
            ReferenceCountUtil.release(msg);
            if (value != next) {
                failures.add(new AssertionError("expected " + next + ", read " + value));
            }
            if (++next < rounds) {
                ctx.writeAndFlush(Unpooled.copyInt(next));
            } else {
                done.countDown();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failures.add(cause);
        }
    }

    /** It is unknown when the first child of such a server will be registered, so the other clients would wait in vain. */
    @Test
    void clientsOfAServerThatDoesNotReadDoNotWaitForTheFirstChild() throws Exception {
        Channel server = new ServerBootstrap().group(listeners, children).channel(RpmaServerChannel.class)
            .option(ChannelOption.AUTO_READ, false).childHandler(new Echo())
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        for (int i = 0; i < 3; i++) {
            ChannelFuture connecting = connect((InetSocketAddress) server.localAddress(), new ChannelInboundHandlerAdapter());
            assertTrue(connecting.await(20, TimeUnit.SECONDS), "a client waits until the server reads");
            assertTrue(connecting.isSuccess());
        }
    }

    @Test
    void everyChildButTheFirstIsOnTheLoopThatItWasAcceptedFor() throws Exception {
        Echo echo = new Echo();
        InetSocketAddress address = listen(echo);
        CountDownLatch done = new CountDownLatch(CONNECTIONS);
        for (int i = 0; i < CONNECTIONS; i++) {
            connect(address, new Counter(200, done)).sync();
        }
        assertTrue(done.await(60, TimeUnit.SECONDS));
        assertNull(failures.peek());
        // The children become active on different loops, so the first one to be accepted need not be the first in the queue.
        List<RpmaChannel> withoutHome = echo.active.stream().filter(each -> each.home() == null).toList();
        assertEquals(1, withoutHome.size(), "children that were accepted for no loop");
        echo.active.remove(withoutHome.getFirst());
        List<EventLoop> used = new ArrayList<>();
        for (RpmaChannel child : echo.active) {
            assertSame(child.home(), child.eventLoop());
            if (!used.contains(child.eventLoop())) {
                used.add(child.eventLoop());
            }
        }
        assertEquals(3, used.size());
    }

    /** All clients connect at once. Only the event loop of the first connection is not known, because the others wait for it. */
    @Test
    void clientsThatComeTogetherAreAcceptedForLoops() throws Exception {
        Echo echo = new Echo();
        InetSocketAddress address = listen(echo);
        CountDownLatch done = new CountDownLatch(CONNECTIONS);
        List<ChannelFuture> connecting = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            connecting.add(connect(address, new Counter(10, done)));
        }
        for (ChannelFuture future : connecting) {
            future.sync();
        }
        assertTrue(done.await(60, TimeUnit.SECONDS));
        assertEquals(CONNECTIONS - 1, echo.active.stream().filter(child -> child.home() == child.eventLoop()).count());
    }

    /**
     * A channel that waits for a credit gets one, with data. While its handler reads the data, the handler closes another channel
     * of the same event loop, which polls the queue of both, and more data has arrived by then. The channel continues to send.
     */
    @Test
    void aChannelSendsOnWhoseHandlerClosesAnotherOne() throws Exception {
        int messages = 40;
        int bytes = 64;
        Queue<RpmaChannel> active = new ConcurrentLinkedQueue<>();
        CountDownLatch firstIsRead = new CountDownLatch(1);
        CountDownLatch secondIsSent = new CountDownLatch(1);
        CountDownLatch all = new CountDownLatch(messages * bytes);
        RpmaEventLoopGroup one = new RpmaEventLoopGroup(1);
        Channel listener = new ServerBootstrap().group(listeners, one).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInitializer<RpmaChannel>() {
                @Override
                protected void initChannel(RpmaChannel ch) {
                    ch.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelActive(ChannelHandlerContext ctx) {
                            active.add(ch);
                        }

                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
                            ReferenceCountUtil.release(msg);
                            if (firstIsRead.getCount() > 0) {
                                firstIsRead.countDown();
                                assertTrue(secondIsSent.await(20, TimeUnit.SECONDS));
                                RpmaChannel other = active.stream().filter(each -> each != ch).reduce((a, b) -> b).get();
                                other.config().setSoLinger(0);
                                other.close();
                            }
                        }
                    });
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        List<Channel> connected = new ArrayList<>();
        // The first child is not accepted for an event loop, as long as none is known.
        for (int i = 0; i < 3; i++) {
            ChannelFuture connect = new Bootstrap().group(clients).channel(RpmaChannel.class)
                .option(ChannelOption.AUTO_READ, false)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        for (int n = ((ByteBuf) msg).readableBytes(); n > 0; n--) {
                            all.countDown();
                        }
                        ReferenceCountUtil.release(msg);
                    }
                }).connect(listener.localAddress()).sync();
            connect.channel().config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(bytes).maxMessagesPerRead(1));
            connected.add(connect.channel());
            while (active.size() <= i) {
                Thread.onSpinWait();
            }
        }
        RpmaChannel sender = List.copyOf(active).get(1);
        sender.eventLoop().submit(() -> {
            for (int i = 0; i < messages; i++) {
                sender.writeAndFlush(Unpooled.wrappedBuffer(new byte[bytes]));
            }
        }).sync();
        Channel receiver = connected.get(1);
        receiver.read();
        while (all.getCount() > (messages - 1) * bytes) {
            Thread.onSpinWait();
        }
        receiver.writeAndFlush(Unpooled.copyInt(1)).sync();
        assertTrue(firstIsRead.await(20, TimeUnit.SECONDS));
        receiver.writeAndFlush(Unpooled.copyInt(2)).sync();
        secondIsSent.countDown();
        receiver.config().setAutoRead(true);
        assertTrue(all.await(20, TimeUnit.SECONDS), () -> all.getCount() + " bytes were not sent");
        one.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    /**
     * The first message of a child arrives before the event loop that polls for it knows the child, and that event loop is asleep
     * by then. The child is registered with another event loop, which wakes it. Otherwise, it would wake up by itself after
     * almost a second: Netty's event loops do so once in a second.
     */
    @Test
    void aChildOnAnotherLoopReceivesWhatArrivedBeforeItWasAdded() throws Exception {
        AtomicLong lastPoll = new AtomicLong();
        AtomicLong added = new AtomicLong();
        Semaphore polled = new Semaphore(0);
        RpmaEventLoopGroup others = new RpmaEventLoopGroup(1);
        Echo echo = new Echo();
        ChannelHandler mover = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                RpmaChannel child = (RpmaChannel) msg;
                if (child.home() == null) {
                    ctx.fireChannelRead(msg);
                } else {
                    child.pipeline().addLast(echo);
                    EventLoop other = others.next();
                    other.register(child);
                }
            }
        };
        try {
            LoopCompletions.faults = (loop, queue) -> loop.parent() != children ? queue : new WatchedQueue(queue, n -> {
                lastPoll.set(System.nanoTime());
                polled.release(n);
            });
            Channel server = new ServerBootstrap().group(listeners, children).channel(RpmaServerChannel.class).handler(mover)
                .childHandler(echo).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            InetSocketAddress address = (InetSocketAddress) server.localAddress();
            CountDownLatch first = new CountDownLatch(1);
            connect(address, new Counter(1, first)).sync();
            assertTrue(first.await(60, TimeUnit.SECONDS));
            // The client is the only one by now that sends to the children's event loops.
            LoopCompletions.beforeAdding = () -> {
                if (!listeners.iterator().next().inEventLoop()) {
                    return;
                }
                try {
                    assertTrue(polled.tryAcquire(20, TimeUnit.SECONDS));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                while (System.nanoTime() - lastPoll.get() < TimeUnit.MILLISECONDS.toNanos(50)) {
                    Thread.onSpinWait();
                }
                added.set(System.nanoTime());
            };
            long shortest = Long.MAX_VALUE;
            for (int i = 0; i < 10 && shortest > TimeUnit.MILLISECONDS.toNanos(700); i++) {
                polled.drainPermits();
                CountDownLatch done = new CountDownLatch(1);
                Channel client = connect(address, new Counter(1, done)).sync().channel();
                assertTrue(done.await(20, TimeUnit.SECONDS));
                shortest = Math.min(shortest, System.nanoTime() - added.get());
                client.close().sync();
            }
            assertNull(failures.peek());
            assertTrue(shortest < TimeUnit.MILLISECONDS.toNanos(700), "the first message was read after " + shortest + " ns");
        } finally {
            LoopCompletions.faults = (loop, queue) -> queue;
            LoopCompletions.beforeAdding = () -> { };
            others.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    /** The queue of an event loop is kept for a short time after its last connection has closed, and is then destroyed. */
    @Test
    void shortConnectionsDoNotMakeTheirLoopsAnotherQueueEachTime() throws Exception {
        int rounds = 20;
        long before = RpmaByteBufAllocator.DEFAULT.usedBytes();
        AtomicInteger created = new AtomicInteger();
        LoopCompletions.faults = (loop, queue) -> {
            if (loop.parent() == clients) {
                created.incrementAndGet();
            }
            return queue;
        };
        long most = before;
        try {
            InetSocketAddress address = listen(new Echo());
            for (int i = 0; i < rounds; i++) {
                CountDownLatch done = new CountDownLatch(CONNECTIONS);
                List<Channel> connected = new ArrayList<>();
                for (int k = 0; k < CONNECTIONS; k++) {
                    connected.add(connect(address, new Counter(1, done)).sync().channel());
                }
                assertTrue(done.await(60, TimeUnit.SECONDS));
                most = Math.max(most, RpmaByteBufAllocator.DEFAULT.usedBytes());
                for (Channel channel : connected) {
                    channel.close().sync();
                }
            }
        } finally {
            LoopCompletions.faults = (loop, queue) -> queue;
        }
        assertNull(failures.peek());
        // On a busy machine, an event loop may be without a connection for longer than its queue is kept.
        assertTrue(created.get() <= rounds / 2, created + " queues for " + rounds + " rounds");
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (RpmaByteBufAllocator.DEFAULT.usedBytes() - before > (most - before) / 2) {
            assertTrue(System.nanoTime() - deadline < 0, RpmaByteBufAllocator.DEFAULT.usedBytes() + " bytes of " + most
                + " are in use by queues without connections, " + before + " were before");
            Thread.sleep(10);
        }
    }

    /** An event loop polls one queue, regardless of the number of its busy connections. */
    @Test
    void aLoopPollsOneQueueForItsBusyConnections() throws Exception {
        AtomicInteger most = new AtomicInteger();
        AtomicInteger looks = new AtomicInteger();
        Echo echo = new Echo() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                // By then, all channels have been on their event loops for a long time.
                boolean look = ((ByteBuf) msg).getInt(0) >= 100;
                super.channelRead(ctx, msg);
                if (look && ((RpmaChannel) ctx.channel()).home() != null) {
                    looks.incrementAndGet();
                    String thread = Thread.currentThread().getName();
                    RpmaMetrics.loops().stream().filter(loop -> loop.name().equals(thread)).forEach(
                        loop -> most.accumulateAndGet(loop.hotQueues(), Math::max));
                }
            }
        };
        InetSocketAddress address = listen(echo);
        CountDownLatch done = new CountDownLatch(4 * CONNECTIONS);
        List<Channel> all = new ArrayList<>();
        for (int i = 0; i < 4 * CONNECTIONS; i++) {
            all.add(connect(address, new ChannelInboundHandlerAdapter()).sync().channel());
        }
        for (Channel client : all) {
            client.pipeline().addLast(new Counter(300, done));
            client.writeAndFlush(Unpooled.copyInt(0));
        }
        assertTrue(done.await(60, TimeUnit.SECONDS));
        assertNull(failures.peek());
        assertTrue(looks.get() > 200 * (4 * CONNECTIONS - 2), () -> looks + " looks");
        if (!Rpma.provider().name().equals("soft")) {
            // If sending takes time, the connections that have sent are polled until the sends have completed.
            return;
        }
        // These are the queue of the event loop, and that of the first child if it is on this event loop.
        assertTrue(most.get() <= 2, () -> "a loop polled " + most + " queues");
    }

    /** Data that is sent before the server's event loop has the channel arrives in order, followed by the end of the stream. */
    @Test
    void whatAClientSendsBeforeItClosesArrives() throws Exception {
        int clientsInAll = 200;
        CountDownLatch ended = new CountDownLatch(clientsInAll);
        AtomicInteger sum = new AtomicInteger();
        @ChannelHandler.Sharable
        class Sum extends ChannelInboundHandlerAdapter {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ByteBuf buf = (ByteBuf) msg;
                sum.addAndGet(buf.readableBytes());
                buf.release();
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                ended.countDown();
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                failures.add(cause);
            }
        }
        InetSocketAddress address = listen(new Sum());
        for (int i = 0; i < clientsInAll; i++) {
            connect(address, new ChannelInboundHandlerAdapter() {
                @Override
                public void channelActive(ChannelHandlerContext ctx) {
                    ctx.writeAndFlush(Unpooled.wrappedBuffer(new byte[1000]));
                    ctx.close();
                }
            });
        }
        assertTrue(ended.await(60, TimeUnit.SECONDS));
        assertNull(failures.peek());
        assertEquals(1000 * clientsInAll, sum.get());
    }

    /** A child is moved from event loop to event loop while its peer sends and then closes. No data is lost or out of order. */
    @Test
    void aChannelThatIsMovedAgainAndAgainLosesNothing() throws Exception {
        Echo echo = new Echo();
        InetSocketAddress address = listen(echo);
        connect(address, new ChannelInboundHandlerAdapter()).sync();
        CountDownLatch done = new CountDownLatch(1);
        Channel client = connect(address, new Counter(3000, done)).sync().channel();
        RpmaChannel child = null;
        while (child == null) {
            child = echo.active.stream().filter(active -> active.home() != null).findFirst().orElse(null);
            Thread.onSpinWait();
        }
        assertNotNull(child.home());
        for (int moves = 0; done.getCount() > 0; moves++) {
            child.deregister().sync();
            EventLoop to = children.next();
            to.register(child).sync();
            assertSame(to, child.eventLoop());
        }
        assertNull(failures.peek());
        client.close().sync();
        assertTrue(child.closeFuture().await(20, TimeUnit.SECONDS));
        assertNull(failures.peek());
    }

    /** An exception that the options of one channel throw closes this channel only, and the others of its event loop continue. */
    @Test
    void aChannelThatThrowsEndsAlone() throws Exception {
        Echo echo = new Echo();
        InetSocketAddress address = listen(echo);
        for (int i = 0; i < CONNECTIONS; i++) {
            connect(address, new ChannelInboundHandlerAdapter()).sync();
        }
        CountDownLatch done = new CountDownLatch(3);
        List<Channel> others = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            others.add(connect(address, new ChannelInboundHandlerAdapter()).sync().channel());
        }
        Channel bad = connect(address, new ChannelInboundHandlerAdapter()).sync().channel();
        while (echo.active.size() < CONNECTIONS + 4) {
            Thread.onSpinWait();
        }
        RpmaChannel child = echo.active.stream().filter(active -> active.remoteAddress().equals(bad.localAddress())).findFirst()
            .orElseThrow();
        assertNotNull(child.home());
        child.config().setRecvByteBufAllocator(new ThrowingAllocator());
        bad.writeAndFlush(Unpooled.copyInt(1)).sync();
        assertTrue(child.closeFuture().await(20, TimeUnit.SECONDS));
        for (Channel other : others) {
            other.pipeline().addLast(new Counter(100, done));
            other.writeAndFlush(Unpooled.copyInt(0));
        }
        assertTrue(done.await(20, TimeUnit.SECONDS));
    }

    /** A completion queue that reports how many completions each poll has returned. */
    private record WatchedQueue(CompletionQueue queue, IntConsumer polls) implements CompletionQueue {
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
            int n = queue.poll(completions);
            polls.accept(n);
            return n;
        }
    }

    /** Throws an exception in an unexpected place. */
    private static final class ThrowingAllocator extends FixedRecvByteBufAllocator {
        ThrowingAllocator() {
            super(64);
        }

        @Override
        @SuppressWarnings("deprecation")
        public Handle newHandle() {
            throw new IllegalStateException("on purpose");
        }
    }
}
