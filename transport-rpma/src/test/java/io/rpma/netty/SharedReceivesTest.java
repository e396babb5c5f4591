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
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.FastThreadLocal;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.RpmaByteBuf;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests connections that share a receive queue. No connection delays another one, and no receive is lost, however connections
 * end.
 */
@Timeout(60)
class SharedReceivesTest {
    /** A number of connections for which the receives do not suffice if each one takes its share. */
    private static final int CROWD = 60;
    /** The number of messages that the peer may send before any of them is read. */
    private static final int MESSAGES = StreamOptions.DEFAULT_CREDITS;

    private static RpmaEventLoopGroup group;

    private final BlockingQueue<Reader> readers = new LinkedBlockingQueue<>();

    @BeforeAll
    static void start() {
        group = new RpmaEventLoopGroup(2);
    }

    @AfterAll
    static void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** The handler at the server's end, which echoes what it reads. */
    private static final class Reader extends ChannelInboundHandlerAdapter {
        final Semaphore starved = new Semaphore(0);
        volatile Channel channel;

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            channel = ctx.channel();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg, ctx.voidPromise());
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == RpmaReceiveStarvation.INSTANCE) {
                starved.release();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (cause instanceof IOException) {
                // The clients close before they have read all that is echoed.
                ctx.close();
            } else {
                ctx.fireExceptionCaught(cause);
            }
        }
    }

    /** The handler at the client's end, which collects the bytes that it reads. */
    private static final class Collector extends ChannelInboundHandlerAdapter {
        final BlockingQueue<Byte> bytes = new LinkedBlockingQueue<>();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf buf = (ByteBuf) msg;
            while (buf.isReadable()) {
                bytes.add(buf.readByte());
            }
            ReferenceCountUtil.release(buf);
        }

        void expect(int from, int count) throws InterruptedException {
            for (int i = from; i < from + count; i++) {
                Byte next = bytes.poll(20, TimeUnit.SECONDS);
                assertNotNull(next, "byte " + i + " was not received");
                assertEquals((byte) i, next);
            }
        }
    }

    private Channel serve(int bufferBytes, boolean autoRead, boolean shared) throws InterruptedException {
        return serve(group, bufferBytes, autoRead, shared);
    }

    private Channel serve(EventLoopGroup on, int bufferBytes, boolean autoRead, boolean shared) throws InterruptedException {
        return new ServerBootstrap().group(on).channel(RpmaServerChannel.class)
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, bufferBytes)
            .option(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, shared)
            .option(ChannelOption.SO_BACKLOG, 1024)
            .childOption(ChannelOption.AUTO_READ, autoRead)
            .childHandler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel ch) {
                    Reader reader = new Reader();
                    ch.pipeline().addLast(reader);
                    readers.add(reader);
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
    }

    private static Channel connect(Channel server, int bufferBytes, boolean shared, ChannelHandler handler)
            throws InterruptedException {
        return connect(group, server, bufferBytes, shared, handler);
    }

    private static Channel connect(EventLoopGroup on, Channel server, int bufferBytes, boolean shared, ChannelHandler handler)
            throws InterruptedException {
        return new Bootstrap().group(on).channel(RpmaChannel.class)
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, bufferBytes)
            .option(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, shared)
            .handler(handler).connect(server.localAddress()).sync().channel();
    }

    /** Sends bytes, each of them in a message of its own. */
    private static void send(Channel client, int from, int count) throws InterruptedException {
        for (int i = from; i < from + count; i++) {
            client.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {(byte) i})).sync();
        }
    }

    private Reader next() throws InterruptedException {
        Reader reader = readers.poll(20, TimeUnit.SECONDS);
        assertNotNull(reader);
        return reader;
    }

    private void finish(Channel server, List<Channel> clients) throws InterruptedException {
        for (Channel client : clients) {
            client.close().sync();
        }
        server.close().sync();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aConnectionThatDoesNotReadDelaysNoOther(boolean shared) throws Exception {
        Channel server = serve(512, false, shared);
        List<Channel> clients = new ArrayList<>();
        List<Collector> collectors = new ArrayList<>();
        List<Reader> ends = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            Collector collector = new Collector();
            collectors.add(collector);
            clients.add(connect(server, 512, shared, collector));
            ends.add(next());
        }
        for (int i = 1; i < CROWD; i++) {
            send(clients.get(i), 0, MESSAGES);
        }
        ends.get(0).channel.config().setAutoRead(true);
        for (int i = 0; i < 1000; i++) {
            send(clients.get(0), i, 1);
            collectors.get(0).expect(i, 1);
        }
        for (int i = 1; i < CROWD; i++) {
            ends.get(i).channel.config().setAutoRead(true);
            collectors.get(i).expect(0, MESSAGES);
            send(clients.get(i), MESSAGES, 3 * MESSAGES);
            collectors.get(i).expect(MESSAGES, 3 * MESSAGES);
        }
        finish(server, clients);
    }

    /**
     * The first connections fill all receives that there are with messages that nobody reads. They keep those receives, so the
     * next connections need others.
     */
    @Test
    void messagesThatWereReceivedBeforeTheCrowdDelayNobody() throws Exception {
        RpmaEventLoopGroup one = new RpmaEventLoopGroup(1);
        try {
            Channel server = serve(one, 512, false, true);
            // The clients take their receives from another queue than the server.
            List<Channel> clients = new ArrayList<>();
            // The receives of the first child do not complete in the queue of the loop.
            clients.add(connect(one, server, 1024, true, new ChannelInboundHandlerAdapter()));
            next();
            Collector early = new Collector();
            clients.add(connect(one, server, 1024, true, early));
            Reader earlyEnd = next();
            send(clients.getLast(), 0, MESSAGES);
            while (clients.size() < CROWD) {
                Channel client = connect(one, server, 1024, true, new ChannelInboundHandlerAdapter());
                clients.add(client);
                next();
                send(client, 0, MESSAGES);
            }
            Collector late = new Collector();
            clients.add(connect(one, server, 1024, true, late));
            next().channel.config().setAutoRead(true);
            for (int i = 0; i < 2000; i++) {
                send(clients.getLast(), i, 1);
                late.expect(i, 1);
            }
            earlyEnd.channel.config().setAutoRead(true);
            early.expect(0, MESSAGES);
            finish(server, clients);
        } finally {
            one.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    /**
     * Three hundred connections of one loop receive a message at the same time, while the loop does not poll. Each message finds
     * a receive; on a device, one that does not is repeated after 655 ms.
     */
    @Test
    void manyConnectionsCanReceiveAMessageAtTheSameTime() throws Exception {
        // One message each: a receive is twice as large, because without immediate data a message begins with a prefix.
        int bytes = 4096;
        // One loop of this group has 256 receives, and more only because it has more connections.
        RpmaEventLoopGroup eight = new RpmaEventLoopGroup(8);
        CountDownLatch polls = new CountDownLatch(1);
        try {
            EventLoop one = eight.next();
            Channel server = serve(2 * bytes, true, true);
            List<Channel> clients = new ArrayList<>();
            List<Collector> collectors = new ArrayList<>();
            List<Reader> ends = new ArrayList<>();
            while (clients.size() < 300) {
                Collector collector = new Collector();
                collectors.add(collector);
                clients.add(connect(one, server, 2 * bytes, true, collector));
                ends.add(next());
            }
            CountDownLatch blocked = new CountDownLatch(1);
            one.submit(() -> {
                blocked.countDown();
                polls.await();
                return null;
            });
            blocked.await();
            List<ByteBuf> messages = new ArrayList<>();
            for (Reader end : ends) {
                // It is so large that it is sent without a copy, and is released when it has been delivered.
                ByteBuf message = RegisteredMemory.registered(bytes, bytes).setZero(0, bytes).writerIndex(bytes);
                messages.add(message);
                end.channel.writeAndFlush(message, end.channel.voidPromise());
            }
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (!messages.stream().allMatch(each -> each.refCnt() == 0)) {
                long waiting = messages.stream().filter(each -> each.refCnt() > 0).count();
                assertTrue(System.nanoTime() < deadline, waiting + " messages have found no receive");
                Thread.yield();
            }
            polls.countDown();
            for (Collector each : collectors) {
                each.expect(0, 1);
            }
            finish(server, clients);
        } finally {
            polls.countDown();
            eight.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    /**
     * Half of the registered memory is in use. Further connections then share the receives that there are, so that memory is
     * left to send from.
     */
    @Test
    void manyConnectionsShareReceivesIfMemoryIsShort() throws Exception {
        int bytes = 4096;
        RpmaEventLoopGroup eight = new RpmaEventLoopGroup(8);
        List<ByteBuf> kept = new ArrayList<>();
        try {
            EventLoop one = eight.next();
            Channel server = serve(bytes, true, true);
            List<Channel> clients = new ArrayList<>();
            List<Collector> collectors = new ArrayList<>();
            long before = 0;
            while (clients.size() < 300) {
                Collector collector = new Collector();
                collectors.add(collector);
                clients.add(connect(one, server, bytes, true, collector));
                next();
                if (clients.size() == 200) {
                    while (RegisteredMemory.usedBytes() < RegisteredMemory.MAX_BYTES / 2) {
                        kept.add(RegisteredMemory.registered(RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY,
                            RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY));
                    }
                    before = RegisteredMemory.usedBytes();
                }
            }
            assertTrue(RegisteredMemory.usedBytes() - before < 100L * bytes, "a hundred connections have got receives");
            for (Channel client : clients) {
                send(client, 0, 1);
            }
            for (Collector each : collectors) {
                each.expect(0, 1);
            }
            finish(server, clients);
        } finally {
            kept.forEach(ByteBuf::release);
            eight.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    /** Connections end while many more messages than there are receives have not been read, or not even been polled. */
    @Test
    void connectionsThatEndMidwayLoseNoReceives() throws Exception {
        Channel server = serve(512, false, true);
        Collector collector = new Collector();
        Channel lasting = connect(server, 512, true, collector);
        Reader end = next();
        for (int i = 0; i < 200; i++) {
            Channel client = connect(server, 512, true, new ChannelInboundHandlerAdapter());
            Reader victim = next();
            for (int k = 0; k < MESSAGES; k++) {
                client.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {1}), client.voidPromise());
            }
            if (i % 2 == 0) {
                victim.channel.config().setOption(ChannelOption.SO_LINGER, 0);
                victim.channel.close().sync();
            } else {
                client.config().setOption(ChannelOption.SO_LINGER, 0);
                client.close().sync();
            }
            victim.channel.closeFuture().await(20, TimeUnit.SECONDS);
            client.closeFuture().await(20, TimeUnit.SECONDS);
        }
        end.channel.config().setAutoRead(true);
        for (int i = 0; i < 2000; i += MESSAGES) {
            send(lasting, i, MESSAGES);
            collector.expect(i, MESSAGES);
        }
        finish(server, List.of(lasting));
    }

    /** The receives that many connections have left are no leak, and are reported. */
    @Test
    void receivesThatNoConnectionNeedsAreReported() throws Exception {
        Channel server = serve(1024, true, true);
        List<Channel> lasting = new ArrayList<>();
        for (int i = 0; i < group.executorCount(); i++) {
            // The queue of a loop is not destroyed while it has a connection.
            lasting.add(connect(server, 1024, true, new ChannelInboundHandlerAdapter()));
            next();
        }
        long needed = neededBytes();
        List<Channel> crowd = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            crowd.add(connect(server, 1024, true, new ChannelInboundHandlerAdapter()));
            next();
        }
        long surplus = RpmaMetrics.surplusReceiveBytes();
        for (Channel each : crowd) {
            each.close().sync();
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (neededBytes() > needed) {
            assertTrue(System.nanoTime() < deadline, neededBytes() + " bytes are needed, " + needed + " before");
        }
        assertTrue(RpmaMetrics.surplusReceiveBytes() > surplus);
        finish(server, lasting);
    }

    /** Returns the registered memory in use, without surplus receives and free buffers that are kept ready. */
    private static long neededBytes() {
        for (EventExecutor loop : group) {
            loop.submit(() -> FastThreadLocal.removeAll()).syncUninterruptibly();
        }
        return RpmaByteBufAllocator.DEFAULT.usedBytes() - RpmaByteBufAllocator.DEFAULT.cachedBytes()
            - RpmaMetrics.surplusReceiveBytes();
    }

    /** An application that holds all registered memory is notified. Messages that arrive nevertheless are complete. */
    @Test
    void anApplicationThatHoldsAllMemoryIsNotified() throws Exception {
        int bytes = 32 << 10;
        Channel server = serve(bytes, false, true);
        List<Channel> clients = new ArrayList<>();
        List<Collector> collectors = new ArrayList<>();
        List<Reader> ends = new ArrayList<>();
        List<ByteBuf> kept = new ArrayList<>();
        try {
            for (int i = 0; i < CROWD; i++) {
                Collector collector = new Collector();
                collectors.add(collector);
                clients.add(connect(server, bytes, true, collector));
                ends.add(next());
            }
            // These buffers have half the size. Messages can be sent from them, but they are too small for a receive.
            List<ByteBuf> sendable = new ArrayList<>();
            for (int i = 0; i < CROWD; i++) {
                sendable.add(RegisteredMemory.registered(bytes / 2, bytes / 2));
                kept.add(RegisteredMemory.registered(bytes / 2, bytes / 2));
            }
            for (int size = RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY; size >= bytes; size /= 2) {
                RpmaByteBuf buf = RegisteredMemory.registered(size, size);
                while (buf != null) {
                    kept.add(buf);
                    buf = RegisteredMemory.registered(size, size);
                }
            }
            Thread.ofPlatform().start(() -> {
                sendable.forEach(ByteBuf::release);
                // The memory leaves this thread's magazine, so that other threads can allocate it.
                FastThreadLocal.removeAll();
            }).join();
            for (int i = 0; i < CROWD; i++) {
                send(clients.get(i), 0, MESSAGES);
            }
            int told = 0;
            for (int i = 0; i < CROWD; i++) {
                ends.get(i).channel.eventLoop().submit(() -> { }).sync();
                told += ends.get(i).starved.drainPermits();
            }
            assertTrue(told > 0);
            // Memory is needed to send the echoes.
            kept.forEach(ByteBuf::release);
            kept.clear();
            for (int i = 0; i < CROWD; i++) {
                ends.get(i).channel.config().setAutoRead(true);
                collectors.get(i).expect(0, MESSAGES);
            }
        } finally {
            kept.forEach(ByteBuf::release);
        }
        finish(server, clients);
    }
}
