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
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.rpma.CompletionQueue;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.netty.memory.MemoryInUse;
import io.rpma.netty.pair.OpenPairs;
import io.rpma.netty.receive.LoopCompletions;
import io.rpma.netty.receive.KeptReceives;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests a failure of the completion queue of an event loop's shared receive queue: its streams are closed with the reason, and no
 * other channel is affected.
 */
@Timeout(120)
class FailedCompletionQueueTest {
    private static final int CLIENTS = 9;
    private static final int LOOPS = 2;
    private static final int CLOSED = -1;

    /** The call of the completion queue that fails. */
    enum Call {
        POLL,
        CONSUME_EVENT
    }

    /** A completion queue that works until it is ordered to fail. */
    private static final class FailingQueue implements CompletionQueue {
        private final CompletionQueue queue;
        private volatile Call failing;

        FailingQueue(CompletionQueue queue) {
            this.queue = queue;
        }

        private void check(Call call) throws RpmaException {
            if (failing == call) {
                throw new RpmaException(RpmaError.PROVIDER, 5, "failed on purpose", null);
            }
        }

        @Override
        public int fd() {
            return queue.fd();
        }

        @Override
        public boolean consumeEvent() throws RpmaException {
            check(Call.CONSUME_EVENT);
            return queue.consumeEvent();
        }

        @Override
        public int poll(WorkCompletions completions) throws RpmaException {
            check(Call.POLL);
            return queue.poll(completions);
        }
    }

    /** Sends everything back, and records failures. */
    @Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<RpmaChannel> active = new LinkedBlockingQueue<>();
        private final Map<Channel, Throwable> failures = new ConcurrentHashMap<>();

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
            failures.put(ctx.channel(), cause);
        }
    }

    /** Records what it reads, and that the channel has been closed. */
    private static final class Reader extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<Integer> read = new LinkedBlockingQueue<>();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            read.add(((ByteBuf) msg).getInt(0));
            ((ByteBuf) msg).release();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            read.add(CLOSED);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // The other end has been closed.
            ctx.close();
        }
    }

    private final Map<IoEventLoop, FailingQueue> queues = new ConcurrentHashMap<>();
    private final Echo echo = new Echo();
    private RpmaEventLoopGroup group;
    private RpmaEventLoopGroup children;
    private InetSocketAddress address;

    @BeforeEach
    void start() throws Exception {
        LoopCompletions.faults = (loop, queue) -> {
            FailingQueue failing = new FailingQueue(queue);
            queues.put(loop, failing);
            return failing;
        };
        group = new RpmaEventLoopGroup(1);
        children = new RpmaEventLoopGroup(LOOPS);
        address = (InetSocketAddress) new ServerBootstrap().group(group, children).channel(RpmaServerChannel.class)
            .childHandler(echo).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel().localAddress();
    }

    @AfterEach
    void stop() {
        LoopCompletions.faults = (loop, queue) -> queue;
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS);
        children.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        group.terminationFuture().syncUninterruptibly();
    }

    private Channel connect() throws InterruptedException {
        return connect(new Reader());
    }

    private Channel connect(Reader reader) throws InterruptedException {
        return new Bootstrap().group(group).channel(RpmaChannel.class).handler(reader).connect(address).sync().channel();
    }

    private List<RpmaChannel> children(int count) throws InterruptedException {
        List<RpmaChannel> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            RpmaChannel child = echo.active.poll(20, TimeUnit.SECONDS);
            assertNotNull(child, "a connection is missing");
            all.add(child);
        }
        return all;
    }

    private static void exchange(Channel client, int value) throws InterruptedException {
        client.writeAndFlush(Unpooled.copyInt(value)).sync();
        assertEquals(value, client.pipeline().get(Reader.class).read.poll(20, TimeUnit.SECONDS));
    }

    private static Channel clientOf(Channel child, List<Channel> clients) {
        return clients.stream().filter(client -> client.localAddress().equals(child.remoteAddress())).findFirst().orElseThrow();
    }

    @ParameterizedTest
    @EnumSource
    void itsStreamsEndAndNoOthers(Call call) throws Exception {
        List<Channel> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(connect());
            exchange(clients.get(i), i);
        }
        List<RpmaChannel> all = children(CLIENTS);
        IoEventLoop broken = all.stream().filter(child -> child.home() != null).findFirst().orElseThrow().home();
        List<RpmaChannel> ending = all.stream().filter(child -> child.home() == broken).toList();
        List<RpmaChannel> staying = all.stream().filter(child -> child.home() != broken).toList();
        assertTrue(ending.size() > 1 && staying.size() > 1, () -> ending + " end, and stay " + staying);
        queues.get(broken).failing = call;
        wake(clientOf(ending.get(0), clients));
        for (RpmaChannel child : ending) {
            assertTrue(child.closeFuture().await(20, TimeUnit.SECONDS), child::toString);
            assertTrue(clientOf(child, clients).closeFuture().await(20, TimeUnit.SECONDS));
            Throwable why = echo.failures.get(child);
            assertTrue(why instanceof IOException && why.getMessage().contains("the completion queue of its event loop failed")
                && why.getMessage().contains("failed on purpose"), () -> "the reason is " + why);
        }
        for (RpmaChannel child : staying) {
            exchange(clientOf(child, clients), 4711);
            assertNull(echo.failures.get(child));
        }
        // A server channel chooses the queue of a connection before the connection is requested, so one more connection may have
        // this queue.
        int failed = 0;
        int again = 0;
        for (int i = 0; i < CLIENTS; i++) {
            Reader reader = new Reader();
            Channel client = connect(reader);
            RpmaChannel child = children(1).get(0);
            client.writeAndFlush(Unpooled.copyInt(i));
            // A closed channel has no handlers any more.
            int answer = reader.read.poll(20, TimeUnit.SECONDS);
            if (answer == CLOSED) {
                assertTrue(child.closeFuture().await(20, TimeUnit.SECONDS));
                assertSame(IOException.class, echo.failures.get(child).getClass());
                failed++;
            } else {
                assertEquals(i, answer);
                again += child.home() == broken ? 1 : 0;
            }
        }
        String many = failed + " connections had the queue that failed before";
        assertTrue(failed <= 1, many);
        assertTrue(again > 0, "the loop has streams again");
    }

    /**
     * Wakes the event loop whose queue fails. If that loop was polling, its streams may have ended already, and the write of the
     * client fails.
     */
    private static void wake(Channel client) {
        client.writeAndFlush(Unpooled.copyInt(0));
    }

    /** The channel cannot be notified at once, because it is not registered with any event loop. */
    @Test
    void aChannelThatIsBetweenTwoLoopsEndsWhenItIsOnOneAgain() throws Exception {
        List<Channel> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(connect());
        }
        List<RpmaChannel> all = children(CLIENTS);
        RpmaChannel moving = all.stream().filter(child -> child.home() != null).findFirst().orElseThrow();
        IoEventLoop broken = moving.home();
        RpmaChannel other = all.stream().filter(child -> child.home() == broken && child != moving).findFirst().orElseThrow();
        moving.deregister().sync();
        queues.get(broken).failing = Call.POLL;
        wake(clientOf(other, clients));
        assertTrue(other.closeFuture().await(20, TimeUnit.SECONDS));
        EventLoop to = children.next();
        while (to == broken) {
            to = children.next();
        }
        assertNotSame(broken, to);
        to.register(moving).sync();
        assertTrue(moving.closeFuture().await(20, TimeUnit.SECONDS));
        assertSame(IOException.class, echo.failures.get(moving).getClass());
    }

    @Test
    void nothingIsLeft() throws Exception {
        int open = RpmaMetrics.openChannels();
        // The loops of earlier tests have ended, but the memory of their queues may be released only now.
        await(() -> KeptReceives.haveNoLoop() && RpmaMetrics.limboBytes() == 0);
        long before = bytesInUse();
        List<Channel> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(connect());
        }
        List<RpmaChannel> all = children(CLIENTS);
        for (FailingQueue queue : queues.values()) {
            queue.failing = Call.POLL;
        }
        for (Channel client : clients) {
            client.writeAndFlush(Unpooled.copyInt(0));
        }
        for (RpmaChannel child : all) {
            clientOf(child, clients).close().sync();
            assertTrue(child.closeFuture().await(20, TimeUnit.SECONDS));
        }
        OpenPairs.awaitOpen(open);
        stop();
        // Memory that a peer may still have been writing to is released after the provider has been queried about it.
        await(() -> bytesInUse() == before);
        assertEquals(before, bytesInUse());
    }

    /** Waits up to 20 s for something that happens without an event. */
    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean() && System.nanoTime() < deadline) {
            GlobalEventExecutor.INSTANCE.schedule(() -> { }, 10, TimeUnit.MILLISECONDS).sync();
        }
    }

    /**
     * Returns the registered memory in use, without that of the queue of the clients, which belongs to no loop and is kept for
     * the next connection. How many receives it has depends on chance: it gets a spare one for each connection that has ended in
     * the middle of a message, because the device may have kept a receive of that connection.
     */
    private static long bytesInUse() {
        return MemoryInUse.bytes() - KeptReceives.bytes();
    }
}
