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

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.util.NetUtil;
import io.rpma.CompletionStatus;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the counters and the events of the JDK's flight recorder, with the provider of the process. */
@Timeout(60)
@Isolated("the counters are sums over the whole process")
class CountersTest {
    private static final int MESSAGE = 1 << 10;
    private static final int CREDITS = 4;

    private final RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
    private final CompletableFuture<Channel> accepted = new CompletableFuture<>();
    private final AtomicLong received = new AtomicLong();
    private final CompletableFuture<Void> all = new CompletableFuture<>();
    private long expected;
    private Channel server;

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Connects to a server that reads only on request, with messages of 1 KiB, of which 4 may be outstanding. */
    private RpmaChannel connect() throws Exception {
        server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childOption(ChannelOption.AUTO_READ, false)
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, MESSAGE)
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, CREDITS)
            .childHandler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelActive(ChannelHandlerContext ctx) {
                    accepted.complete(ctx.channel());
                }

                @Override
                public void channelRead(ChannelHandlerContext ctx, Object message) {
                    long sum = received.addAndGet(((ByteBuf) message).readableBytes());
                    ((ByteBuf) message).release();
                    if (sum == expected) {
                        all.complete(null);
                    }
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        return (RpmaChannel) new Bootstrap().group(group).channel(RpmaChannel.class).handler(new ChannelInboundHandlerAdapter())
            .connect(server.localAddress()).sync().channel();
    }

    /** Writes so much data that the speed of the reader matters. Returns when all data has arrived. */
    private RpmaChannel transfer(ByteBuf data) throws Exception {
        expected = data.readableBytes();
        RpmaChannel client = connect();
        RpmaChannel reader = (RpmaChannel) accepted.get(30, TimeUnit.SECONDS);
        client.writeAndFlush(data);
        // The task runs on the event loop of both ends, so the flush has used up the credits by then.
        while (client.eventLoop().submit(() -> client.counters().creditWaits()).get() == 0) {
            Thread.onSpinWait();
        }
        reader.config().setAutoRead(true);
        all.get(30, TimeUnit.SECONDS);
        return client;
    }

    private static void sync(Channel channel) throws Exception {
        // Everything that the event loop has written before this task is visible to this thread afterwards.
        channel.eventLoop().submit(() -> { }).sync();
    }

    @Test
    @Tag("immediate-data")
    void aConnectionCountsWhatItDoes() throws Exception {
        int messages = 64;
        RpmaChannel client = transfer(Unpooled.directBuffer().writeZero(messages * MESSAGE));
        RpmaChannel reader = (RpmaChannel) accepted.get();
        sync(client);
        RpmaChannelCounters sent = client.counters();
        assertEquals(messages * MESSAGE, sent.bytesSent());
        assertEquals(messages, sent.messagesSent());
        assertEquals(messages, sent.sendCopiesMade());
        assertEquals(0, sent.sendCopiesAvoided());
        assertTrue(sent.creditWaits() > 0 && sent.waitNanos() > 0, sent.creditWaits() + " waits, " + sent.waitNanos() + " ns");
        assertTrue(sent.completions() > 0);
        assertEquals(0, sent.bytesReceived());
        assertEquals(CREDITS * 4, sent.receivesLowWater());

        RpmaChannelCounters got = reader.counters();
        assertEquals(messages * MESSAGE, got.bytesReceived());
        assertEquals(messages, got.messagesReceived());
        assertEquals(messages, got.receiveCopiesMade() + got.receiveCopiesAvoided());
        assertTrue(got.controlMessagesSent() > 0, "credits were returned in messages of their own");
        assertEquals(0, got.receivesLowWater());
        assertEquals(0, got.failures(CompletionStatus.LOC_LEN_ERR));
    }

    @Test
    @Tag("immediate-data")
    void aRegisteredBufferIsCountedAsNotCopied() throws Exception {
        RpmaChannel client = transfer(RpmaByteBufAllocator.DEFAULT.directBuffer().writeZero(32 * MESSAGE));
        sync(client);
        RpmaChannelCounters sent = client.counters();
        assertEquals(32, sent.messagesSent());
        assertEquals(32, sent.sendCopiesAvoided(), "messages under way that hold the buffer do not prevent others");
        assertEquals(0, sent.sendCopiesMade());
    }

    @Test
    void theProcessHasTheSums() throws Exception {
        RpmaChannelCounters before = RpmaMetrics.channels();
        RpmaChannel client = transfer(Unpooled.directBuffer().writeZero(16 * MESSAGE));
        sync(client);
        assertEquals(16 * MESSAGE, RpmaMetrics.channels().bytesSent() - before.bytesSent());
        // The sum still includes connections that have ended.
        client.close().sync();
        accepted.get().close().sync();
        stop();
        assertEquals(16 * MESSAGE, RpmaMetrics.channels().bytesSent() - before.bytesSent());
        assertEquals(16 * MESSAGE, RpmaMetrics.channels().bytesReceived() - before.bytesReceived());
    }

    @Test
    void aLoopCountsWhatItDoes() throws Exception {
        RpmaChannel client = transfer(Unpooled.directBuffer().writeZero(16 * MESSAGE));
        String thread = client.eventLoop().submit(() -> Thread.currentThread().getName()).get();
        RpmaLoopCounters loop = RpmaMetrics.loops().stream().filter(each -> each.name().equals(thread)).findFirst()
            .orElseThrow();
        assertTrue(loop.turns() > 0 && loop.completions() > 0, loop.turns() + " turns, " + loop.completions() + " completions");
        assertTrue(loop.spinsPaid() <= loop.spins());
        assertEquals(3, loop.connections(), "the listener and both ends");
        assertEquals(3, RpmaMetrics.loopTotals().connections());
        RpmaLoopCounters before = RpmaMetrics.loopTotals();
        stop();
        RpmaLoopCounters after = RpmaMetrics.loopTotals();
        assertTrue(after.turns() >= before.turns() && after.blocks() >= before.blocks() && after.spins() >= before.spins()
            && after.spinsPaid() >= before.spinsPaid() && after.yields() >= before.yields()
            && after.completions() >= before.completions(), "a total fell");
        assertEquals(0, after.connections());
        assertEquals(0, after.hotQueues());
        assertTrue(RpmaMetrics.loops().stream().noneMatch(each -> each == loop), "a loop that has ended is still listed");
    }

    /** A loop that is idle can give up its thread, and continues on another one when it has work again. */
    @Test
    void aLoopThatContinuesOnAnotherThreadIsListedOnce() throws Exception {
        int before = RpmaMetrics.loops().size();
        SingleThreadIoEventLoop loop = (SingleThreadIoEventLoop) group.next();
        Thread thread = loop.submit(Thread::currentThread).get();
        assertTrue(loop.trySuspend());
        assertTrue(thread.join(Duration.ofSeconds(30)), "the loop did not give up its thread");
        assertNotSame(thread, loop.submit(Thread::currentThread).get());
        assertEquals(before + 1, RpmaMetrics.loops().size());
        stop();
        assertEquals(before, RpmaMetrics.loops().size());
    }

    @Test
    void beforeItIsConnectedAChannelHasDoneNothing() {
        assertEquals(0, new RpmaChannel().counters().bytesSent());
    }

    @Test
    void theFlightRecorderIsTold(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            for (String name : List.of("Connect", "Close", "CreditStall", "MemoryRegistration")) {
                recording.enable("io.rpma." + name).withThreshold(Duration.ZERO);
            }
            recording.start();
            RpmaChannel client = transfer(Unpooled.directBuffer().writeZero(16 * MESSAGE));
            client.close().sync();
            accepted.get().closeFuture().sync();
            stop();
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        List<RecordedEvent> connects = named(events, "io.rpma.Connect");
        assertEquals(1, connects.stream().filter(event -> event.getBoolean("active")).count(), events::toString);
        assertEquals(1, connects.stream().filter(event -> !event.getBoolean("active")).count(), events::toString);
        RecordedEvent stall = named(events, "io.rpma.CreditStall").getFirst();
        assertTrue(stall.getBoolean("credit") && stall.getDuration().toNanos() > 0, stall::toString);
        List<RecordedEvent> closes = named(events, "io.rpma.Close");
        assertEquals(2, closes.size(), closes::toString);
        assertEquals(16 * MESSAGE, closes.stream().mapToLong(event -> event.getLong("bytesSent")).sum());
        assertTrue(closes.stream().map(event -> event.getString("reason"))
            .allMatch(reason -> reason.equals("closed by this end") || reason.equals("ended by both")), closes::toString);
    }

    private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
        return events.stream().filter(event -> event.getEventType().getName().equals(name)).toList();
    }
}
