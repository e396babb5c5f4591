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
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoop;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.util.NetUtil;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.stream.AreasInUse;
import io.rpma.netty.stream.BulkAreas;
import io.rpma.netty.stream.StreamSender;
import java.io.File;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests large data, which the sender writes to memory that the receiver has granted, and the rules for that memory. */
@Timeout(120)
class BulkTest {
    private static final int MIB = 1 << 20;
    private static final int AREA = StreamOptions.DEFAULT_BULK_BYTES;

    private static final int MOST_TRIES = 1000;

    private RpmaEventLoopGroup group;
    private final Sink sink = new Sink();
    private Channel server;
    private RpmaChannel client;
    // The data consists of consecutive numbers of eight bytes each, over everything that is sent.
    private long written;

    @BeforeEach
    void start() {
        group = new RpmaEventLoopGroup(2);
    }

    @AfterEach
    void stop() throws Exception {
        sink.releaseAll();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        AreasInUse.awaitNone();
    }

    /** Checks the received data, and passes it on. */
    private static final class Sink extends ChannelInboundHandlerAdapter {
        final BlockingQueue<RpmaChannel> accepted = new LinkedBlockingQueue<>();
        final BlockingQueue<ByteBuf> received = new LinkedBlockingQueue<>();
        final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        private long next;
        private int partBytes;
        private long part;

        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            accepted.add((RpmaChannel) ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf buf = (ByteBuf) msg;
            int i = buf.readerIndex();
            while (i < buf.writerIndex()) {
                if (partBytes == 0 && buf.writerIndex() - i >= Long.BYTES) {
                    expect(buf.getLong(i));
                    i += Long.BYTES;
                } else {
                    part = part << 8 | buf.getUnsignedByte(i++);
                    if (++partBytes == Long.BYTES) {
                        expect(part);
                        partBytes = 0;
                    }
                }
            }
            received.add(buf);
        }

        private void expect(long value) {
            if (value != next) {
                throw new AssertionError(value + " came where " + next + " was due");
            }
            next++;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failures.add(cause);
        }

        void releaseAll() {
            for (ByteBuf buf = received.poll(); buf != null; buf = received.poll()) {
                buf.release();
            }
        }
    }

    private void connect(int bulkBytes, boolean autoRead) throws Exception {
        server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .option(RpmaChannelOption.RPMA_BULK_BYTES, bulkBytes).childOption(ChannelOption.AUTO_READ, autoRead)
            .childHandler(sink)
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        client = (RpmaChannel) new Bootstrap().group(group).channel(RpmaChannel.class)
            .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
    }

    private RpmaChannel accepted() throws InterruptedException {
        RpmaChannel channel = sink.accepted.poll(30, TimeUnit.SECONDS);
        assertNotNull(channel);
        return channel;
    }

    private ByteBuf fill(ByteBuf buf, int bytes) {
        for (int i = 0; i < bytes; i += Long.BYTES) {
            buf.writeLong(written++);
        }
        return buf;
    }

    private void send(int bytes) throws InterruptedException {
        client.writeAndFlush(fill(client.alloc().directBuffer(bytes), bytes)).sync();
    }

    /** Takes and releases the given number of bytes. Returns the length of the longest buffer. */
    private int take(int bytes) throws InterruptedException {
        int longest = 0;
        for (int n = 0; n < bytes;) {
            ByteBuf buf = sink.received.poll(30, TimeUnit.SECONDS);
            int sofar = n;
            assertNotNull(buf, () -> sofar + " of " + bytes + " bytes came; failures: " + sink.failures);
            n += buf.readableBytes();
            longest = Math.max(longest, buf.readableBytes());
            buf.release();
        }
        return longest;
    }

    /** Sends until the peer has granted memory. */
    private void sendUntilGranted(int bytes) throws InterruptedException {
        for (long before = client.counters().bulkSent(); client.counters().bulkSent() == before;) {
            send(bytes);
            take(bytes);
        }
    }

    /**
     * Sends areas until one arrives as one buffer, and returns this buffer. Data that is sent before the next grant has arrived,
     * or after the memory was returned because the stream had been idle, is sent in messages, completely or in part.
     */
    private ByteBuf takeAsOneBuffer() throws InterruptedException {
        for (int i = 0; i < MOST_TRIES; i++) {
            send(AREA);
            ByteBuf first = sink.received.poll(30, TimeUnit.SECONDS);
            assertNotNull(first, sink.failures::toString);
            if (first.readableBytes() == AREA) {
                return first;
            }
            take(AREA - first.readableBytes());
            first.release();
        }
        throw new AssertionError("none of " + MOST_TRIES + " areas arrived as one buffer");
    }

    /** If only small pieces of registered memory are left, data that must be copied is sent in smaller messages. */
    @Test
    void largeDataIsSentWithoutAPieceOfMemoryForAllOfIt() throws Exception {
        connect(AREA, true);
        sendUntilGranted(AREA);
        // Now areas are available, and nothing is outstanding.
        send(AREA);
        take(AREA);
        List<ByteBuf> all = new ArrayList<>();
        for (ByteBuf buf = RegisteredMemory.registered(AREA, AREA); buf != null;
                buf = RegisteredMemory.registered(AREA, AREA)) {
            all.add(buf);
        }
        all.removeLast().release();
        all.add(RegisteredMemory.registered(AREA / 2, AREA / 2));
        try {
            client.writeAndFlush(fill(Unpooled.buffer(AREA), AREA)).sync();
            take(AREA);
        } finally {
            all.forEach(ByteBuf::release);
        }
        assertTrue(sink.failures.isEmpty(), sink.failures::toString);
    }

    /** An end that has ended its own stream can grant no areas. It must not keep them, since other connections may need them. */
    @Test
    void anEndThatHasEndedItsStreamKeepsNoAreas() throws Exception {
        connect(AREA, true);
        client.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        sendUntilGranted(AREA);
        accepted().shutdownOutput().sync();
        // The client uses all areas that it has. It returns none, which would free the others as well.
        for (int i = 0; i <= BulkAreas.WINDOW; i++) {
            send(AREA);
            take(AREA);
        }
        AreasInUse.awaitNone();
        long before = client.counters().bulkSent();
        send(AREA);
        take(AREA);
        assertEquals(before, client.counters().bulkSent());
        assertTrue(client.isOpen());
    }

    private enum Source {
        REGISTERED, HEAP, COMPOSITE, FILE
    }

    @ParameterizedTest
    @EnumSource(Source.class)
    void arrivesAsOneBuffer(Source source, @TempDir Path folder) throws Exception {
        connect(AREA, true);
        sendUntilGranted(AREA);
        // Data that is sent before the next grant has arrived is sent in messages, completely or in part.
        int wholes = 0;
        for (int i = 0; wholes < 20; i++) {
            assertTrue(i < MOST_TRIES, "only " + wholes + " of " + i + " arrived as one buffer");
            ByteBuf buf = switch (source) {
                case REGISTERED -> fill(client.alloc().directBuffer(AREA), AREA);
                case COMPOSITE -> Unpooled.wrappedBuffer(fill(Unpooled.buffer(AREA / 2), AREA / 2),
                    fill(client.alloc().directBuffer(AREA / 2), AREA / 2));
                default -> fill(Unpooled.buffer(AREA), AREA);
            };
            if (source == Source.FILE) {
                File file = folder.resolve("data" + i).toFile();
                Files.write(file.toPath(), buf.array());
                buf.release();
                client.writeAndFlush(new DefaultFileRegion(file, 0, AREA)).sync();
            } else {
                client.writeAndFlush(buf).sync();
            }
            wholes += take(AREA) / AREA;
        }
        RpmaChannelCounters received = accepted().counters();
        assertTrue(received.bulkReceived() >= 20);
        assertEquals(client.counters().bulkSent(), received.bulkReceived());
        assertEquals(written * Long.BYTES, received.bytesReceived());
    }

    /**
     * Grants grow with the pending data of the peer. Data that is larger than the largest area is sent in several areas, and the
     * rest in messages.
     */
    @Test
    void everySizeArrives() throws Exception {
        connect(AREA, true);
        for (int round = 0; round < 3; round++) {
            for (int bytes = StreamSender.BULK_BYTES - 8; bytes <= 4 * MIB; bytes = bytes * 3 / 2 / 8 * 8) {
                send(bytes);
                take(bytes);
            }
        }
        assertTrue(client.counters().bulkSent() > 0);
        assertEquals(0, client.counters().failures(io.rpma.CompletionStatus.REM_ACCESS_ERR));
    }

    @Test
    void memoryGoesWhenThePeerIsIdleAndComesAgain() throws Exception {
        connect(AREA, true);
        int tries = 0;
        do {
            // On a busy machine the memory may already have been released again.
            assertTrue(tries++ < MOST_TRIES, "no memory is held for large data");
            sendUntilGranted(AREA);
        } while (BulkAreas.bytes() < AREA);
        AreasInUse.awaitNone();
        sendUntilGranted(AREA);
        client.close().sync();
        AreasInUse.awaitNone();
    }

    /** A channel may move to another event loop while the peer's memory waits to be released. */
    @Test
    void aChannelThatMovedGivesMemoryBackOnItsLoop() throws Exception {
        connect(AREA, true);
        sendUntilGranted(AREA);
        client.deregister().sync();
        EventLoop other = group.next();
        while (other == client.eventLoop()) {
            other = group.next();
        }
        other.register(client).sync();
        AreasInUse.awaitNone();
        sendUntilGranted(AREA);
        send(AREA);
        take(AREA);
    }

    /** While no event loop has the channel, nothing is sent: its next loop may begin to use the connection at any moment. */
    @Test
    void aChannelThatNoLoopHasGivesMemoryBackWhenALoopHasIt() throws Exception {
        connect(AREA, true);
        sendUntilGranted(AREA);
        EventLoop loop = client.eventLoop();
        client.deregister().sync();
        long before = client.counters().controlMessagesSent();
        // Memory is released after two seconds at most.
        loop.schedule(() -> { }, 2_500, TimeUnit.MILLISECONDS).sync();
        assertEquals(before, client.counters().controlMessagesSent(), "messages were sent for a channel that no loop has");
        loop.register(client).sync();
        AreasInUse.awaitNone();
    }

    @Test
    void smallMessagesHoldNoMemory() throws Exception {
        connect(AREA, true);
        for (int i = 0; i < 100; i++) {
            send(StreamSender.BULK_BYTES - 8);
            take(StreamSender.BULK_BYTES - 8);
        }
        assertEquals(0, BulkAreas.bytes());
        assertEquals(0, client.counters().bulkSent());
    }

    @Test
    void noneIsGrantedWhereItIsTurnedOff() throws Exception {
        connect(0, true);
        for (int i = 0; i < 10; i++) {
            send(MIB);
            assertTrue(take(MIB) <= StreamOptions.DEFAULT_MESSAGE_BYTES);
        }
        assertEquals(0, client.counters().bulkSent());
        assertEquals(0, BulkAreas.bytes());
    }

    /** An application that does not read stops the peer after a bounded amount of memory. */
    @Test
    void aReceiverThatDoesNotReadStopsTheSender() throws Exception {
        connect(AREA, true);
        RpmaChannel receiver = accepted();
        sendUntilGranted(AREA);
        receiver.config().setAutoRead(false);
        receiver.eventLoop().submit(() -> { }).sync();
        int sent = 0;
        for (; client.isWritable(); sent += AREA) {
            client.writeAndFlush(fill(client.alloc().directBuffer(AREA), AREA));
            client.eventLoop().submit(() -> { }).sync();
            assertTrue(sent < 64 * MIB, "the sender is never stopped");
        }
        assertTrue(BulkAreas.bytes() <= (long) BulkAreas.AREAS * AREA);
        receiver.config().setAutoRead(true);
        take(sent);
        assertTrue(sink.failures.isEmpty());
    }

    /**
     * If the application keeps its buffers, large data is sent in messages, and in areas again after the buffers have been
     * released.
     */
    @Test
    void areasThatTheApplicationHoldsAreNotGrantedAgain() throws Exception {
        connect(AREA, true);
        RpmaChannel receiver = accepted();
        sendUntilGranted(AREA);
        List<ByteBuf> held = new ArrayList<>();
        List<byte[]> copies = new ArrayList<>();
        for (int i = 0; i < 3 * BulkAreas.AREAS; i++) {
            send(AREA);
            for (int n = 0; n < AREA;) {
                ByteBuf buf = sink.received.poll(30, TimeUnit.SECONDS);
                assertNotNull(buf);
                n += buf.readableBytes();
                held.add(buf);
                copies.add(io.netty.buffer.ByteBufUtil.getBytes(buf));
            }
        }
        assertEquals((long) BulkAreas.AREAS * AREA, BulkAreas.bytes());
        assertTrue(receiver.counters().bulkRefused() > 0);
        for (int i = 0; i < held.size(); i++) {
            // Later data has not overwritten it.
            assertEquals(Unpooled.wrappedBuffer(copies.get(i)), held.get(i));
            held.get(i).release();
        }
        takeAsOneBuffer().release();
    }

    /** Buffers stay valid after their connection has closed, regardless of the thread that releases them. */
    @Test
    void buffersOutliveTheConnection() throws Exception {
        connect(AREA, true);
        ByteBuf kept = takeAsOneBuffer();
        RpmaChannel receiver = accepted();
        client.close().sync();
        assertTrue(receiver.closeFuture().await(30, TimeUnit.SECONDS));
        assertTrue(BulkAreas.bytes() >= AREA);
        assertEquals(written - 1, kept.getLong(AREA - Long.BYTES));
        kept.release();
        AreasInUse.awaitNone();
    }

    /** An orderly close delivers outstanding large data, and the promise has succeeded. */
    @Test
    void closeDelivers() throws Exception {
        connect(AREA, true);
        sendUntilGranted(AREA);
        int bytes = 3 * AREA;
        for (int i = 0; i < 3; i++) {
            client.write(fill(client.alloc().directBuffer(AREA), AREA));
        }
        client.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(future -> client.close());
        take(bytes);
        assertTrue(accepted().closeFuture().await(30, TimeUnit.SECONDS));
        assertTrue(sink.failures.isEmpty());
    }

    /** If the application has configured a buffer size, it gets no longer buffers. */
    @Test
    void aFixedBufferSizeIsKept() throws Exception {
        connect(AREA, true);
        accepted().config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(1000));
        for (int i = 0; i < 4; i++) {
            send(AREA);
            assertEquals(1000, take(AREA));
        }
        assertTrue(client.counters().bulkSent() > 0);
    }

    /** Grants use credits. Both directions must continue even if there are few credits. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8})
    void fewCreditsAreEnough(int credits) throws Exception {
        server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, credits)
            .childHandler(new ChannelInboundHandlerAdapter() {
                private int unanswered;

                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    unanswered += ((ByteBuf) msg).readableBytes();
                    ((ByteBuf) msg).release();
                    for (; unanswered >= AREA; unanswered -= AREA) {
                        ctx.writeAndFlush(ctx.alloc().buffer(8).writeLong(written++));
                    }
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        client = (RpmaChannel) new Bootstrap().group(group).channel(RpmaChannel.class).handler(sink)
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, credits).connect(server.localAddress()).sync().channel();
        // Each message is followed by one answer, so the connection must not be blocked for answers.
        for (int i = 0; i < 30; i++) {
            client.writeAndFlush(client.alloc().directBuffer(AREA).writeZero(AREA)).sync();
            take(Long.BYTES);
        }
        assertTrue(client.counters().bulkSent() > 0);
        client.close().sync();
    }

    /** Both ends send at once and are half-closed in the end, and memory is granted in both directions. */
    @Test
    void goesBothWays() throws Exception {
        server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter() {
                @Override
                public boolean isSharable() {
                    return true;
                }

                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    ctx.writeAndFlush(msg);
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        client = (RpmaChannel) new Bootstrap().group(group).channel(RpmaChannel.class).handler(sink)
            .option(ChannelOption.ALLOW_HALF_CLOSURE, true).connect(server.localAddress()).sync().channel();
        for (int i = 0; i < 50; i++) {
            send(AREA);
            take(AREA);
        }
        assertTrue(client.counters().bulkSent() > 0);
        assertTrue(client.counters().bulkReceived() > 0);
        client.writeAndFlush(fill(client.alloc().directBuffer(AREA), AREA));
        client.shutdownOutput().sync();
        take(AREA);
        client.close().sync();
        assertTrue(sink.failures.isEmpty(), () -> sink.failures.toString());
    }
}
