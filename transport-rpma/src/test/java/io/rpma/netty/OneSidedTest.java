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
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.IllegalReferenceCountException;
import io.rpma.CompletionStatus;
import io.rpma.FlushType;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.netty.ConnectedChannels.Kind;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.pair.ThreadBatch;
import java.lang.foreign.ValueLayout;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests one-sided operations on both kinds of channels: successful operations, and the effect of each kind of error. The tag
 * {@code refusals-by-the-peer} names information that an iWARP device does not report: why the peer's device has refused an
 * operation.
 */
@Timeout(60)
class OneSidedTest {
    private static final int SIZE = 64 << 10;
    private static final MemoryUsage[] ALL = Usages.all();

    private RpmaEventLoopGroup group;
    private ConnectedChannels channels;
    /** The server's memory. */
    private RpmaRegion there;
    private RpmaRemoteRegion remote;
    /** The client's own memory. */
    private RpmaRegion here;
    private ByteBuf readOnly;

    @BeforeEach
    void start() throws Exception {
        group = new RpmaEventLoopGroup(1);
        there = RpmaRegion.allocate(SIZE, ALL);
        here = RpmaRegion.allocate(SIZE, ALL);
        readOnly = RpmaByteBufAllocator.DEFAULT.directBuffer(4).setInt(0, 17).asReadOnly();
    }

    @AfterEach
    void stop() {
        if (channels != null) {
            channels.close();
        }
        if (remote != null) {
            remote.release();
        }
        there.release();
        here.release();
        assertEquals(0, there.refCnt(), "an operation still holds the region");
        assertEquals(0, here.refCnt(), "an operation still holds the region");
        assertEquals(17, readOnly.getInt(0), "an operation wrote to a read-only buffer");
        assertTrue(readOnly.release(), "an operation still holds the buffer");
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private Channel connect(Kind kind) throws Exception {
        channels = new ConnectedChannels(group, kind);
        remote = RpmaRemoteRegion.open(there.descriptor(channels.server));
        return channels.client;
    }

    private static void fill(RpmaRegion region, int offset, int bytes, int seed) {
        for (int i = 0; i < bytes; i++) {
            region.memory().set(ValueLayout.JAVA_BYTE, offset + i, (byte) (seed + 7 * i));
        }
    }

    private static void assertFilled(RpmaRegion region, int offset, int bytes, int seed) {
        for (int i = 0; i < bytes; i++) {
            assertEquals((byte) (seed + 7 * i), region.memory().get(ValueLayout.JAVA_BYTE, offset + i), "byte " + i);
        }
    }

    private static ByteBuf filled(ByteBuf buf, int bytes, int seed) {
        for (int i = 0; i < bytes; i++) {
            buf.writeByte(seed + 7 * i);
        }
        return buf;
    }

    private static void assertFilled(ByteBuf buf, int bytes, int seed) {
        assertEquals(bytes, buf.readableBytes());
        for (int i = 0; i < bytes; i++) {
            assertEquals((byte) (seed + 7 * i), buf.getByte(buf.readerIndex() + i), "byte " + i);
        }
    }

    private static void succeeds(Channel channel, RpmaOperation operation) throws InterruptedException {
        channel.writeAndFlush(operation).sync();
        assertEquals(0, operation.refCnt());
    }

    private static Throwable fails(ChannelFuture future) throws InterruptedException {
        assertTrue(future.await(20, TimeUnit.SECONDS));
        assertFalse(future.isSuccess());
        return future.cause();
    }

    /** Checks that the channel still works: an operation and a message in each direction succeed. */
    private void goesOn() throws Exception {
        fill(here, 0, 64, 99);
        succeeds(channels.client, RpmaOperation.write(here, 0, 64, remote, 0));
        assertFilled(there, 0, 64, 99);
        for (ConnectedChannels.End end : List.of(channels.atServer, channels.atClient)) {
            Channel from = end == channels.atServer ? channels.client : channels.server;
            from.writeAndFlush(Unpooled.copyInt(42)).sync();
            ByteBuf read = (ByteBuf) end.next();
            assertEquals(42, read.readInt());
            read.release();
        }
    }

    // ---- success ----

    static Stream<Arguments> buffers() {
        Stream.Builder<Arguments> all = Stream.builder();
        for (Kind kind : Kind.values()) {
            all.add(arguments(kind, "heap", (Function<Integer, ByteBuf>) Unpooled::buffer));
            all.add(arguments(kind, "direct", (Function<Integer, ByteBuf>) Unpooled::directBuffer));
            all.add(arguments(kind, "registered", (Function<Integer, ByteBuf>) RpmaByteBufAllocator.DEFAULT::directBuffer));
        }
        return all.build();
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("buffers")
    void aBufferIsWritten(Kind kind, String name, Function<Integer, ByteBuf> buffer) throws Exception {
        Channel client = connect(kind);
        ByteBuf source = filled(buffer.apply(5003), 5003, 3).skipBytes(3);
        ByteBuf kept = source.retain();
        succeeds(client, RpmaOperation.write(source, remote, 1001));
        assertFilled(there, 1001, 5000, 3 + 7 * 3);
        assertEquals(1, kept.refCnt());
        kept.release();
        goesOn();
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("buffers")
    void aBufferIsReadInto(Kind kind, String name, Function<Integer, ByteBuf> buffer) throws Exception {
        Channel client = connect(kind);
        fill(there, 777, 5000, 4);
        ByteBuf target = buffer.apply(6000).writeInt(1);
        succeeds(client, RpmaOperation.read(remote, 777, 5000, target));
        assertEquals(1, target.refCnt());
        assertEquals(1, target.readInt());
        assertFilled(target, 5000, 4);
        target.release();
        goesOn();
    }

    @ParameterizedTest
    @EnumSource
    void aCompositeBufferIsWritten(Kind kind) throws Exception {
        Channel client = connect(kind);
        CompositeByteBuf source = Unpooled.compositeBuffer();
        source.addComponent(true, filled(RpmaByteBufAllocator.DEFAULT.buffer(100), 100, 0));
        source.addComponent(true, filled(Unpooled.buffer(100), 100, 7 * 100));
        succeeds(client, RpmaOperation.write(source, remote, 0));
        assertFilled(there, 0, 200, 0);
        assertEquals(0, source.refCnt());
    }

    @ParameterizedTest
    @EnumSource
    void regionsAreWrittenAndRead(Kind kind) throws Exception {
        Channel client = connect(kind);
        fill(here, 0, SIZE, 1);
        succeeds(client, RpmaOperation.write(here, 0, SIZE, remote, 0));
        assertFilled(there, 0, SIZE, 1);
        fill(there, 5, 1000, 9);
        succeeds(client, RpmaOperation.read(remote, 5, 1000, here, 3));
        assertFilled(here, 3, 1000, 9);
        // This writes the last byte, and then no byte.
        succeeds(client, RpmaOperation.write(here, SIZE - 1, 1, remote, SIZE - 1));
        succeeds(client, RpmaOperation.read(remote, SIZE - 1, 1, here, SIZE - 1));
        succeeds(client, RpmaOperation.write(here, SIZE, 0, remote, SIZE));
        succeeds(client, RpmaOperation.read(remote, SIZE, 0, here, SIZE));
        succeeds(client, RpmaOperation.write(Unpooled.EMPTY_BUFFER, remote, 0));
        goesOn();
    }

    /** Operations are executed in the order of the pipeline, in one flush, each with its own promise. */
    @ParameterizedTest
    @EnumSource
    void operationsAreExecutedInOrder(Kind kind) throws Exception {
        Channel client = connect(kind);
        List<Integer> order = new ArrayList<>();
        ByteBuf back = RpmaByteBufAllocator.DEFAULT.buffer(16);
        List<RpmaOperation> operations = List.of(
            RpmaOperation.write(filled(Unpooled.buffer(), 8, 1), remote, 64),
            RpmaOperation.flush(remote, 64, 8, FlushType.VISIBILITY),
            RpmaOperation.atomicWrite(remote, 72, 0x0102030405060708L),
            RpmaOperation.read(remote, 64, 16, back));
        List<ChannelFuture> futures = new ArrayList<>();
        for (int i = 0; i < operations.size(); i++) {
            int number = i;
            futures.add(client.write(operations.get(i)).addListener(done -> order.add(number)));
        }
        client.flush();
        for (ChannelFuture future : futures) {
            future.sync();
        }
        // Listeners run on the event loop, in the order of completion.
        client.eventLoop().submit(() -> assertEquals(List.of(0, 1, 2, 3), order)).sync();
        assertEquals(0x0102030405060708L, there.memory().get(ValueLayout.JAVA_LONG, 72));
        assertEquals(0x0102030405060708L, ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? back.getLong(8) : back.getLongLE(8));
        back.writerIndex(8);
        assertFilled(back, 8, 1);
        back.release();
    }

    /**
     * A flush may take the completion of what it has posted. The channel is notified at the next poll, and may post more then. A
     * loop that believed that this poll had found nothing would block.
     */
    @Test
    void thePollThatNotifiesTheChannelHasFoundSomething() throws Exception {
        Channel client = connect(Kind.STREAM);
        client.eventLoop().submit(() -> {
            ChannelFuture written = client.writeAndFlush(RpmaOperation.atomicWrite(remote, 0, 7));
            QueuePair pair = ((AbstractRpmaChannel) client).pair();
            int found = 0;
            while (!written.isDone()) {
                found = pair.poll(ThreadBatch.get());
            }
            assertTrue(written.isSuccess());
            assertTrue(found > 0, "the poll returned " + found);
            return null;
        }).sync();
    }

    /** There are more operations than the send queue holds, with messages between them. */
    @ParameterizedTest
    @EnumSource
    void moreThanTheSendQueueHolds(Kind kind) throws Exception {
        Channel client = connect(kind);
        int count = 1000;
        List<ChannelFuture> futures = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            futures.add(client.write(RpmaOperation.atomicWrite(remote, 8L * i, i)));
            if (i % 100 == 99) {
                futures.add(client.write(Unpooled.copyInt(i)));
            }
        }
        client.flush();
        for (ChannelFuture future : futures) {
            future.sync();
        }
        for (int i = 0; i < count; i++) {
            assertEquals(i, there.memory().get(ValueLayout.JAVA_LONG, 8L * i));
        }
        for (int bytes = 0; bytes < 4 * count / 100;) {
            ByteBuf read = (ByteBuf) channels.atServer.next();
            bytes += read.readableBytes();
            read.release();
        }
    }

    /**
     * An operation that is cancelled before the flush is not executed. The operations around it are executed once, and their
     * promises complete.
     */
    @ParameterizedTest
    @EnumSource
    void aCancelledOperationIsNotExecuted(Kind kind) throws Exception {
        Channel client = connect(kind);
        RpmaOperation cancelled = RpmaOperation.atomicWrite(remote, 8, 2);
        ByteBuf target = Unpooled.buffer(8);
        // This runs on the event loop, because an operation that is cancelled on its way to the event loop is never written.
        List<ChannelFuture> futures = client.eventLoop().submit(() -> {
            ChannelFuture first = client.write(RpmaOperation.atomicWrite(remote, 0, 1));
            assertTrue(client.write(cancelled).cancel(false));
            ChannelFuture read = client.write(RpmaOperation.read(remote, 0, 8, target));
            ChannelFuture last = client.write(RpmaOperation.atomicWrite(remote, 16, 3));
            assertTrue(client.write(RpmaOperation.atomicWrite(remote, 8, 4)).cancel(false));
            client.flush();
            return List.of(first, read, last);
        }).get();
        for (ChannelFuture future : futures) {
            assertTrue(future.await(20, TimeUnit.SECONDS));
            future.sync();
        }
        assertEquals(0, cancelled.refCnt());
        assertEquals(8, target.readableBytes());
        target.release();
        assertEquals(0, there.memory().get(ValueLayout.JAVA_LONG, 8));
        RpmaChannelCounters counters = client instanceof RpmaChannel stream ? stream.counters()
            : ((RpmaMessageChannel) client).counters();
        assertTrue(counters.completions() <= 3, () -> counters.completions() + " completions of three operations");
        goesOn();
    }

    /** A message that is written after an operation arrives after the operation has been executed. */
    @ParameterizedTest
    @EnumSource
    void aMessageFollowsTheWriteItSpeaksOf(Kind kind) throws Exception {
        Channel client = connect(kind);
        for (int i = 1; i <= 100; i++) {
            client.write(RpmaOperation.atomicWrite(remote, 0, i));
            client.writeAndFlush(Unpooled.copyInt(i));
            ByteBuf told = (ByteBuf) channels.atServer.next();
            assertEquals(i, told.readInt());
            told.release();
            assertTrue(there.memory().get(ValueLayout.JAVA_LONG, 0) >= i);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theServerReachesTheClient(Kind kind) throws Exception {
        connect(kind);
        RpmaRemoteRegion atClient = RpmaRemoteRegion.open(here.descriptor(channels.client));
        succeeds(channels.server, RpmaOperation.atomicWrite(atClient, 8, 5));
        assertEquals(5, here.memory().get(ValueLayout.JAVA_LONG, 8));
        atClient.release();
    }

    @Test
    @Tag("immediate-data")
    void aWriteWithImmediateDataTellsThePeer() throws Exception {
        Channel client = connect(Kind.MESSAGES);
        succeeds(client, RpmaOperation.writeWithImmediate(filled(Unpooled.buffer(), 100, 5), remote, 50, 0xcafe));
        assertEquals(new RpmaWritten(0xcafe, 100), channels.atServer.next());
        assertFilled(there, 50, 100, 5);
        fill(here, 0, 10, 6);
        succeeds(client, RpmaOperation.writeWithImmediate(here, 0, 10, remote, 0, -1));
        assertEquals(new RpmaWritten(-1, 10), channels.atServer.next());
        succeeds(client, RpmaOperation.writeWithImmediate(Unpooled.EMPTY_BUFFER, remote, 0, 7));
        assertEquals(new RpmaWritten(7, 0), channels.atServer.next());
        goesOn();
    }

    @Test
    void aStreamHasNoWriteWithImmediateData() throws Exception {
        Channel client = connect(Kind.STREAM);
        Throwable cause =
            fails(client.writeAndFlush(RpmaOperation.writeWithImmediate(Unpooled.copyInt(1), remote, 0, 1)));
        assertInstanceOf(UnsupportedOperationException.class, cause);
        assertTrue(cause.getMessage().contains("RpmaMessageChannel"), cause.getMessage());
        goesOn();
    }

    @ParameterizedTest
    @EnumSource
    void aFlushToPersistenceNeedsThePeersConfiguration(Kind kind) throws Exception {
        assumeTrue(Usages.isPersistenceTakenOnTrust(), "the device requires persistent memory");
        Channel client = connect(kind);
        Throwable cause = fails(client.writeAndFlush(RpmaOperation.flush(remote, 0, 8, FlushType.PERSISTENT)));
        assertInstanceOf(RpmaException.class, cause);
        AbstractRpmaChannel channel = (AbstractRpmaChannel) client;
        channel.applyPeerConfig(RpmaPeerConfig.descriptor(false)).sync();
        fails(client.writeAndFlush(RpmaOperation.flush(remote, 0, 8, FlushType.PERSISTENT)));
        channel.applyPeerConfig(RpmaPeerConfig.descriptor(true)).sync();
        succeeds(client, RpmaOperation.flush(remote, 0, 8, FlushType.PERSISTENT));
        assertInstanceOf(RpmaException.class, fails(channel.applyPeerConfig(ByteBuffer.allocate(0))));
        goesOn();
    }

    /** Occupies an event loop until the latch is counted down. */
    private static CountDownLatch occupy(EventLoop loop) {
        CountDownLatch busy = new CountDownLatch(1);
        loop.execute(() -> {
            try {
                busy.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        return busy;
    }

    /** The configuration is applied in any case, so a future that has been cancelled would be wrong. */
    @ParameterizedTest
    @EnumSource
    void applyingAConfigurationCannotBeCancelled(Kind kind) throws Exception {
        AbstractRpmaChannel channel = (AbstractRpmaChannel) connect(kind);
        CountDownLatch busy = occupy(channel.eventLoop());
        ChannelFuture applied = channel.applyPeerConfig(ByteBuffer.allocate(0));
        boolean cancelled = applied.cancel(false);
        busy.countDown();
        assertFalse(cancelled);
        assertInstanceOf(RpmaException.class, fails(applied));
        goesOn();
    }

    /** The caller may use its buffer for something else at once, although the event loop applies the configuration later. */
    @ParameterizedTest
    @EnumSource
    void theDescriptorOfAConfigurationMayBeChangedAfterTheCall(Kind kind) throws Exception {
        AbstractRpmaChannel channel = (AbstractRpmaChannel) connect(kind);
        CountDownLatch busy = occupy(channel.eventLoop());
        ByteBuffer descriptor = RpmaPeerConfig.descriptor(true);
        ChannelFuture applied = channel.applyPeerConfig(descriptor);
        assertEquals(0, descriptor.position());
        descriptor.position(descriptor.limit());
        busy.countDown();
        applied.sync();
        assertThrows(NullPointerException.class, () -> channel.applyPeerConfig(null));
        goesOn();
    }

    /** The future fails, and its listeners are notified, although no event loop of the channel can do that. */
    @ParameterizedTest
    @EnumSource
    void withoutAnEventLoopAConfigurationCannotBeApplied(Kind kind) throws Exception {
        AbstractRpmaChannel unregistered = kind == Kind.STREAM ? new RpmaChannel() : new RpmaMessageChannel();
        ChannelFuture early = unregistered.applyPeerConfig(RpmaPeerConfig.descriptor(true));
        assertInstanceOf(IllegalStateException.class, fails(early));
        CompletableFuture<Throwable> notified = new CompletableFuture<>();
        early.addListener(done -> notified.complete(done.cause()));
        assertSame(early.cause(), notified.get());
        unregistered.unsafe().closeForcibly();
        RpmaEventLoopGroup ending = new RpmaEventLoopGroup(1);
        AbstractRpmaChannel registered = kind == Kind.STREAM ? new RpmaChannel() : new RpmaMessageChannel();
        ending.register(registered).sync();
        assertInstanceOf(NotYetConnectedException.class, fails(registered.applyPeerConfig(RpmaPeerConfig.descriptor(true))));
        ending.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        assertInstanceOf(RejectedExecutionException.class, fails(registered.applyPeerConfig(RpmaPeerConfig.descriptor(true))));
    }

    // ---- errors that this end detects ----

    /** An operation with an error, and a word of the exception's message. */
    private record Mistake(String word, Function<OneSidedTest, RpmaOperation> operation) {
        @Override
        public String toString() {
            return word;
        }
    }

    private static Arguments mistake(Kind kind, String name, String word, Function<OneSidedTest, RpmaOperation> operation) {
        return arguments(kind, name, new Mistake(word, operation));
    }

    static Stream<Arguments> mistakes() {
        return Stream.of(Kind.values()).flatMap(kind -> Stream.of(
            mistake(kind, "write beyond there", "remote region", t -> RpmaOperation.write(t.here, 0, 9, t.remote, SIZE - 8)),
            mistake(kind, "write beyond here", "local region", t -> RpmaOperation.write(t.here, SIZE - 8, 9, t.remote, 0)),
            mistake(kind, "write at a negative offset there", "offset -1",
                t -> RpmaOperation.write(t.here, 0, 8, t.remote, -1)),
            mistake(kind, "write at a negative offset here", "offset -1",
                t -> RpmaOperation.write(t.here, -1, 8, t.remote, 0)),
            mistake(kind, "write of a negative length", "-8 bytes", t -> RpmaOperation.write(t.here, 0, -8, t.remote, 0)),
            mistake(kind, "write whose end overflows", "remote region",
                t -> RpmaOperation.write(t.here, 0, 8, t.remote, Long.MAX_VALUE - 3)),
            mistake(kind, "write of too many bytes", "remote region",
                t -> RpmaOperation.write(t.here, 0, Long.MAX_VALUE, t.remote, 8)),
            mistake(kind, "write of a buffer beyond there", "remote region",
                t -> RpmaOperation.write(Unpooled.copyLong(1), t.remote, SIZE - 7)),
            mistake(kind, "write of a buffer too long", "remote region",
                t -> RpmaOperation.write(Unpooled.buffer(5 << 20).writerIndex(5 << 20), t.remote, 0)),
            mistake(kind, "read beyond there", "remote region", t -> RpmaOperation.read(t.remote, SIZE - 8, 9, t.here, 0)),
            mistake(kind, "read beyond here", "local region", t -> RpmaOperation.read(t.remote, 0, 9, t.here, SIZE - 8)),
            mistake(kind, "read at a negative offset", "offset -8", t -> RpmaOperation.read(t.remote, -8, 8, t.here, 0)),
            mistake(kind, "read of a negative length", "-1 bytes",
                t -> RpmaOperation.read(t.remote, 0, -1, Unpooled.EMPTY_BUFFER)),
            mistake(kind, "read that overflows", "remote region",
                t -> RpmaOperation.read(t.remote, Long.MAX_VALUE, Long.MAX_VALUE, t.here, 0)),
            mistake(kind, "read into a buffer without room", "room for 0 bytes",
                t -> RpmaOperation.read(t.remote, 0, 4, Unpooled.EMPTY_BUFFER)),
            mistake(kind, "read into a read-only buffer on the heap", "read-only",
                t -> RpmaOperation.read(t.remote, 0, 4, Unpooled.buffer(4, 4).asReadOnly())),
            mistake(kind, "read into a read-only registered buffer", "read-only",
                t -> RpmaOperation.read(t.remote, 0, 4, t.readOnly)),
            mistake(kind, "atomic write off its alignment", "not a multiple of 8",
                t -> RpmaOperation.atomicWrite(t.remote, 4, 1)),
            mistake(kind, "atomic write beyond there", "remote region", t -> RpmaOperation.atomicWrite(t.remote, SIZE, 1)),
            mistake(kind, "atomic write at a negative offset", "offset -8",
                t -> RpmaOperation.atomicWrite(t.remote, -8, 1)),
            mistake(kind, "flush beyond there", "remote region",
                t -> RpmaOperation.flush(t.remote, 8, SIZE, FlushType.VISIBILITY)),
            mistake(kind, "flush of a negative length", "-1 bytes",
                t -> RpmaOperation.flush(t.remote, 8, -1, FlushType.VISIBILITY)),
            mistake(kind, "flush that overflows", "remote region",
                t -> RpmaOperation.flush(t.remote, Long.MAX_VALUE, 1, FlushType.VISIBILITY))));
    }

    /** The error fails the operation's own promise with the reason. Everything that was written before and after it succeeds. */
    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("mistakes")
    void aMistakeFailsItsOwnPromise(Kind kind, String name, Mistake mistake) throws Exception {
        Channel client = connect(kind);
        RpmaOperation bad = mistake.operation.apply(this);
        ChannelFuture before = client.write(RpmaOperation.atomicWrite(remote, 0, 1));
        ChannelFuture failing = client.write(bad);
        ChannelFuture after = client.write(RpmaOperation.atomicWrite(remote, 8, 2));
        client.flush();
        Throwable cause = fails(failing);
        assertInstanceOf(RpmaException.class, cause);
        assertTrue(cause.getMessage().contains(mistake.word), cause.getMessage());
        assertEquals(0, bad.refCnt());
        before.sync();
        after.sync();
        assertEquals(2, there.memory().get(ValueLayout.JAVA_LONG, 8));
        goesOn();
    }

    static Stream<Arguments> usages() {
        return Stream.of(Kind.values()).flatMap(kind -> Stream.of(
            mistake(kind, "read", "READ_SRC", t -> RpmaOperation.read(t.remote, 0, 8, t.here, 0)),
            mistake(kind, "write", "WRITE_DST", t -> RpmaOperation.write(t.here, 0, 8, t.remote, 0)),
            mistake(kind, "write of a buffer", "WRITE_DST", t -> RpmaOperation.write(Unpooled.copyInt(1), t.remote, 0)),
            mistake(kind, "atomic write", "WRITE_DST", t -> RpmaOperation.atomicWrite(t.remote, 0, 1)),
            mistake(kind, "flush to visibility", "FLUSH_VISIBILITY",
                t -> RpmaOperation.flush(t.remote, 0, 8, FlushType.VISIBILITY)),
            mistake(kind, "flush to persistence", "FLUSH_PERSISTENT",
                t -> RpmaOperation.flush(t.remote, 0, 8, FlushType.PERSISTENT))));
    }

    /** The region was registered for all other usages. */
    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("usages")
    void aRegionIsUsedForWhatItWasRegisteredFor(Kind kind, String name, Mistake mistake) throws Exception {
        Channel client = connect(kind);
        RpmaRemoteRegion good = remote;
        RpmaRegion other = RpmaRegion.allocate(SIZE, Stream.of(ALL).filter(usage -> usage != MemoryUsage.valueOf(mistake.word))
            .toArray(MemoryUsage[]::new));
        remote = RpmaRemoteRegion.open(other.descriptor(channels.server));
        Throwable cause = fails(client.writeAndFlush(mistake.operation.apply(this)));
        assertInstanceOf(RpmaException.class, cause);
        assertTrue(cause.getMessage().contains("not for " + mistake.word), cause.getMessage());
        remote.release();
        remote = good;
        other.release();
        assertEquals(0, other.refCnt());
        goesOn();
    }

    @ParameterizedTest
    @EnumSource
    void aLocalRegionIsUsedForWhatItWasRegisteredFor(Kind kind) throws Exception {
        Channel client = connect(kind);
        RpmaRegion source = RpmaRegion.allocate(64, MemoryUsage.WRITE_SRC);
        RpmaRegion target = RpmaRegion.allocate(64, MemoryUsage.READ_DST);
        assertTrue(fails(client.writeAndFlush(RpmaOperation.read(remote, 0, 8, source, 0))).getMessage()
            .contains("not for READ_DST"));
        assertTrue(fails(client.writeAndFlush(RpmaOperation.write(target, 0, 8, remote, 0))).getMessage()
            .contains("not for WRITE_SRC"));
        source.release();
        target.release();
        goesOn();
    }

    @ParameterizedTest
    @EnumSource
    void anOperationIsUsedOnce(Kind kind) throws Exception {
        Channel client = connect(kind);
        RpmaOperation operation = RpmaOperation.atomicWrite(remote, 0, 1).retain();
        client.writeAndFlush(operation).sync();
        assertInstanceOf(IllegalStateException.class, fails(client.writeAndFlush(operation)));
        assertEquals(0, operation.refCnt());
        goesOn();
    }

    /** A device would end the connection, or the eight bytes would not be written as one word. */
    @ParameterizedTest
    @EnumSource
    void anAtomicWriteNeedsAnAlignedAddress(Kind kind) throws Exception {
        Channel client = connect(kind);
        RpmaRegion odd = RpmaRegion.of(there.memory().asSlice(4, 64), ALL);
        RpmaRemoteRegion known = RpmaRemoteRegion.open(odd.descriptor(channels.server));
        Throwable cause = fails(client.writeAndFlush(RpmaOperation.atomicWrite(known, 8, 1)));
        assertInstanceOf(RpmaException.class, cause);
        assertTrue(cause.getMessage().contains("not at a multiple of 8"), cause.getMessage());
        assertEquals(0, there.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, 12));
        succeeds(client, RpmaOperation.write(Unpooled.copyLong(-1), known, 8));
        assertEquals(-1, there.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, 12));
        known.release();
        odd.release();
        goesOn();
    }

    /** The operation would send what lies behind the readable bytes, perhaps memory of other buffers. */
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("buffers")
    void aBufferWhoseReadableBytesHaveChangedIsRefused(Kind kind, String name, Function<Integer, ByteBuf> buffer)
            throws Exception {
        Channel client = connect(kind);
        ByteBuf source = buffer.apply(16).writeZero(16);
        RpmaOperation changed = RpmaOperation.write(source, remote, 0);
        source.skipBytes(8);
        fill(there, 0, 16, 5);
        Throwable cause = fails(client.writeAndFlush(changed));
        assertInstanceOf(RpmaException.class, cause);
        assertTrue(cause.getMessage().contains("8 readable bytes, not the 16"), cause.getMessage());
        assertEquals(0, source.refCnt());
        assertFilled(there, 0, 16, 5);
        goesOn();
    }

    /** A buffer that does not take the bytes of a read, because it has become shorter, fails this read alone. */
    @ParameterizedTest
    @EnumSource
    void aBufferThatDoesNotTakeTheBytesFailsItsReadAlone(Kind kind) throws Exception {
        Channel client = connect(kind);
        ByteBuf target = Unpooled.buffer(8, 8);
        List<ChannelFuture> futures = client.eventLoop().submit(() -> {
            ChannelFuture before = client.write(RpmaOperation.atomicWrite(remote, 0, 1));
            ChannelFuture read = client.write(RpmaOperation.read(remote, 0, 8, target));
            ChannelFuture after = client.write(RpmaOperation.atomicWrite(remote, 8, 2));
            target.capacity(4);
            client.flush();
            return List.of(before, read, after);
        }).get();
        assertInstanceOf(IndexOutOfBoundsException.class, fails(futures.get(1)));
        futures.get(0).sync();
        futures.get(2).sync();
        assertEquals(1, target.refCnt());
        target.release();
        goesOn();
    }

    /** The mistake is one of the operation, and does not concern the connection. */
    @ParameterizedTest
    @EnumSource
    void anOperationThatIsReleasedTooEarlyFailsAlone(Kind kind) throws Exception {
        Channel client = connect(kind);
        RpmaOperation released = RpmaOperation.write(here, 0, 8, remote, 0);
        released.release();
        assertInstanceOf(IllegalStateException.class, fails(client.writeAndFlush(released)));
        ByteBuf registered = RpmaByteBufAllocator.DEFAULT.directBuffer(8);
        for (ByteBuf buffer : List.of(Unpooled.buffer(8), registered)) {
            RpmaOperation ofBuffer = RpmaOperation.write(buffer.writeZero(8), remote, 0);
            buffer.release();
            assertInstanceOf(IllegalStateException.class, fails(client.writeAndFlush(ofBuffer)));
            assertEquals(0, ofBuffer.refCnt());
        }
        goesOn();
    }

    @ParameterizedTest
    @EnumSource
    void anOperationOnAClosedChannelFails(Kind kind) throws Exception {
        Channel client = connect(kind);
        client.close().sync();
        RpmaOperation operation = RpmaOperation.write(here, 0, 8, remote, 0);
        assertInstanceOf(ClosedChannelException.class, fails(client.writeAndFlush(operation)));
        assertEquals(0, operation.refCnt());
    }

    /** An operation that cannot be created retains nothing, and it releases the buffer whose reference it takes over. */
    @Test
    void anOperationThatCannotBeCreatedHoldsNothing() throws Exception {
        connect(Kind.STREAM);
        RpmaRegion freed = RpmaRegion.allocate(64, ALL);
        freed.release();
        RpmaRemoteRegion closed = RpmaRemoteRegion.open(there.descriptor(channels.server));
        closed.release();
        assertThrows(IllegalReferenceCountException.class, () -> RpmaOperation.write(freed, 0, 8, remote, 0));
        assertThrows(IllegalReferenceCountException.class, () -> RpmaOperation.read(remote, 0, 8, freed, 0));
        assertEquals(1, remote.refCnt());
        assertThrows(IllegalReferenceCountException.class, () -> RpmaOperation.write(here, 0, 8, closed, 0));
        assertThrows(NullPointerException.class, () -> RpmaOperation.write(here, 0, 8, null, 0));
        assertEquals(1, here.refCnt());
        ByteBuf target = Unpooled.buffer(8);
        assertThrows(IllegalReferenceCountException.class, () -> RpmaOperation.read(closed, 0, 8, target));
        assertThrows(NullPointerException.class, () -> RpmaOperation.read(null, 0, 8, target));
        assertEquals(1, target.refCnt(), "the buffer is still retained for an operation that does not exist");
        target.release();
        assertThrows(IllegalReferenceCountException.class, () -> RpmaOperation.read(remote, 0, 8, target));
        assertEquals(1, remote.refCnt());
        ByteBuf written = Unpooled.copyLong(1);
        assertThrows(IllegalReferenceCountException.class, () -> RpmaOperation.write(written, closed, 0));
        assertEquals(0, written.refCnt(), "nobody releases the buffer");
        ByteBuf announced = Unpooled.copyLong(1);
        assertThrows(NullPointerException.class, () -> RpmaOperation.writeWithImmediate(announced, null, 0, 1));
        assertEquals(0, announced.refCnt(), "nobody releases the buffer");
    }

    @Test
    void aFlushNeedsAType() throws Exception {
        connect(Kind.STREAM);
        NullPointerException refused = assertThrows(NullPointerException.class, () -> RpmaOperation.flush(remote, 0, 8, null));
        assertEquals("type", refused.getMessage());
        assertEquals(1, remote.refCnt());
    }

    /** If one more region cannot be registered, only the operation fails and not the connection. */
    @ParameterizedTest
    @EnumSource
    void anOperationWhoseRegionCannotBeRegisteredFailsAlone(Kind kind) throws Exception {
        assumeTrue(Rpma.provider().name().equals("soft"), "a device supports very many regions");
        Channel client = connect(kind);
        succeeds(client, RpmaOperation.write(here, 0, 8, remote, 0));
        RpmaRegion late = RpmaRegion.allocate(64, MemoryUsage.WRITE_SRC);
        List<LocalMemoryRegion> all = new ArrayList<>();
        RpmaException full = assertThrows(RpmaException.class, () -> {
            while (all.size() < 1 << 20) {
                all.add(ChannelFabric.of(client).peer().register(here.memory(), EnumSet.of(MemoryUsage.READ_SRC)));
            }
        });
        try {
            Throwable cause = fails(client.writeAndFlush(RpmaOperation.write(late, 0, 8, remote, 0)));
            assertEquals(full.getMessage(), cause.getMessage());
            goesOn();
        } finally {
            for (LocalMemoryRegion region : all) {
                region.close();
            }
        }
        succeeds(client, RpmaOperation.write(late, 0, 8, remote, 0));
        late.release();
    }

    // ---- errors that the peer's device detects ----

    /** Everything that the peer had sent before is read, even if more receives were to be posted. */
    @Test
    @Tag("refusals-by-the-peer")
    void whatArrivedBeforeAnOperationFailedIsRead() throws Exception {
        Channel client = connect(Kind.MESSAGES);
        RpmaRegion readOnly = RpmaRegion.allocate(SIZE, MemoryUsage.READ_SRC);
        RpmaRemoteRegion forged = forged(readOnly, 20, 0xff);
        ChannelFuture failing = client.eventLoop().submit(() -> {
            for (int i = 0; i < 3; i++) {
                channels.server.writeAndFlush(Unpooled.copyInt(i));
            }
            ChannelFuture first = client.write(RpmaOperation.write(here, 0, 8, forged, 0));
            for (int i = 0; i < 100; i++) {
                client.write(RpmaOperation.atomicWrite(remote, 0, 1));
            }
            client.flush();
            return first;
        }).get();
        assertInstanceOf(RpmaCompletionException.class, fails(failing));
        for (int i = 0; i < 3; i++) {
            ByteBuf read = (ByteBuf) channels.atClient.next();
            assertEquals(i, read.readInt());
            read.release();
        }
        assertTrue(client.closeFuture().await(20, TimeUnit.SECONDS));
        forged.release();
        readOnly.release();
    }

    /** Changes bytes of a descriptor, so that this end assumes too much. */
    private RpmaRemoteRegion forged(RpmaRegion region, int index, int value) throws Exception {
        ByteBuffer descriptor = region.descriptor(channels.server);
        descriptor.put(index, (byte) value);
        return RpmaRemoteRegion.open(descriptor);
    }

    private void theConnectionEnds(RpmaOperation operation) throws Exception {
        ChannelFuture before = channels.client.write(RpmaOperation.atomicWrite(remote, 0, 1));
        // This operation is written when the previous one succeeds and cannot be sent. It must not replace the failure reason of
        // others.
        before.addListener(future -> channels.client.writeAndFlush(RpmaOperation.atomicWrite(remote, 0, 3)));
        ChannelFuture failing = channels.client.write(operation);
        ChannelFuture after = channels.client.write(RpmaOperation.atomicWrite(remote, 0, 2));
        channels.client.flush();
        before.sync();
        RpmaCompletionException cause = assertInstanceOf(RpmaCompletionException.class, fails(failing));
        assertEquals(CompletionStatus.REM_ACCESS_ERR, cause.status());
        assertTrue(cause.getMessage().contains("descriptor"), cause.getMessage());
        fails(after);
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS));
        assertTrue(channels.server.closeFuture().await(20, TimeUnit.SECONDS));
        assertEquals(0, operation.refCnt());
        assertEquals(1, there.memory().get(ValueLayout.JAVA_LONG, 0));
    }

    @ParameterizedTest
    @EnumSource
    @Tag("refusals-by-the-peer")
    void aDescriptorThatPromisesTooMuch(Kind kind) throws Exception {
        connect(kind);
        RpmaRegion readOnly = RpmaRegion.allocate(SIZE, MemoryUsage.READ_SRC);
        RpmaRemoteRegion forged = forged(readOnly, 20, 0xff);
        theConnectionEnds(RpmaOperation.write(here, 0, 8, forged, 0));
        forged.release();
        readOnly.release();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("refusals-by-the-peer")
    void aDescriptorThatSaysTheRegionIsLonger(Kind kind) throws Exception {
        connect(kind);
        RpmaRemoteRegion forged = forged(there, 8 + 3, 1);
        theConnectionEnds(RpmaOperation.read(forged, SIZE - 4, 8, here, 0));
        forged.release();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("refusals-by-the-peer")
    void aRegionThatWasFreed(Kind kind) throws Exception {
        connect(kind);
        RpmaRegion gone = RpmaRegion.allocate(SIZE, ALL);
        RpmaRemoteRegion known = RpmaRemoteRegion.open(gone.descriptor(channels.server));
        succeeds(channels.client, RpmaOperation.write(here, 0, 8, known, 0));
        gone.release();
        theConnectionEnds(RpmaOperation.write(here, 0, 8, known, 0));
        known.release();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("refusals-by-the-peer")
    void aRegionOfAnotherPeer(Kind kind) throws Exception {
        connect(kind);
        try (RawPeer other = new RawPeer()) {
            RpmaRemoteRegion foreign = RpmaRemoteRegion.open(other.descriptor());
            theConnectionEnds(RpmaOperation.write(here, 0, 8, foreign, 0));
            foreign.release();
        }
    }

    // ---- descriptors ----

    @Test
    @Tag("refusals-by-the-peer")
    void aBadDescriptorIsRefused() throws Exception {
        connect(Kind.MESSAGES);
        ByteBuffer good = there.descriptor(channels.server);
        assertEquals(RpmaRegion.DESCRIPTOR_BYTES, good.remaining());
        for (int bytes = 0; bytes < RpmaRegion.DESCRIPTOR_BYTES; bytes++) {
            assertRefused(good.slice(0, bytes), "truncated");
        }
        assertRefused(ByteBuffer.allocate(RpmaRegion.DESCRIPTOR_BYTES), "another version");
        assertRefused(ByteBuffer.wrap("GET / HTTP/1.1\r\nHost: x".getBytes(StandardCharsets.US_ASCII)), "another version");
        // A descriptor version that contains something before the address.
        ByteBuffer shifted = ByteBuffer.allocate(RpmaRegion.DESCRIPTOR_BYTES).put((byte) 2).put(good.slice(0, 20)).flip();
        assertRefused(shifted, "not a descriptor");
        ByteBuffer useless = ByteBuffer.allocate(21).put(good.duplicate()).flip().put(20, (byte) MemoryUsage.SEND.bit());
        assertRefused(useless, "none of which allows access by the peer");
        ByteBuffer huge = ByteBuffer.allocate(21).put(good.duplicate()).flip().put(15, (byte) 0x7f);
        assertRefused(huge, "outside of every address space");
        // The data after the descriptor belongs to the application.
        ByteBuf more = Unpooled.buffer().writeBytes(good.duplicate()).writeInt(7);
        RpmaRemoteRegion.open(more).release();
        assertEquals(7, more.readInt());
    }

    private static void assertRefused(ByteBuffer descriptor, String word) {
        ProtocolException refused = assertThrows(ProtocolException.class, () -> RpmaRemoteRegion.open(descriptor));
        assertTrue(refused.getMessage().contains(word), refused.getMessage());
        assertThrows(ProtocolException.class, () -> RpmaRemoteRegion.open(Unpooled.wrappedBuffer(descriptor)));
    }

    @Test
    void aDescriptorNeedsAConnectedOrBoundChannel() throws Exception {
        assertThrows(IllegalArgumentException.class, () -> there.descriptor(new RpmaMessageChannel()));
        assertThrows(IllegalArgumentException.class, () -> there.descriptor(new RpmaServerChannel()));
        RpmaMessageChannel closed = new RpmaMessageChannel();
        closed.unsafe().closeForcibly();
        String message = assertThrows(IllegalArgumentException.class, () -> there.descriptor(closed)).getMessage();
        assertTrue(message.endsWith(" has never been connected or bound: its device is unknown"), message);
        connect(Kind.MESSAGES);
        assertEquals(there.descriptor(channels.listener), there.descriptor(channels.server));
        RpmaRegion freed = RpmaRegion.allocate(8, ALL);
        freed.release();
        assertThrows(IllegalReferenceCountException.class, () -> freed.descriptor(channels.server));
    }

    // ---- lifetimes ----

    /** An operation that cannot complete yet keeps its region, even if the owner releases it. */
    @Test
    @Tag("immediate-data")
    void aRegionUnderAnOperationIsNotFreed() throws Exception {
        channels = new ConnectedChannels(group, Kind.MESSAGES, server -> server
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1).childOption(ChannelOption.AUTO_READ, false), client -> { });
        remote = RpmaRemoteRegion.open(there.descriptor(channels.server));
        RpmaRegion source = RpmaRegion.allocate(64, MemoryUsage.WRITE_SRC);
        fill(source, 0, 64, 3);
        succeeds(channels.client, RpmaOperation.writeWithImmediate(source, 0, 64, remote, 0, 1));
        ChannelFuture stalled = channels.client.writeAndFlush(RpmaOperation.writeWithImmediate(source, 0, 64, remote, 64, 2));
        channels.client.eventLoop().submit(() -> { }).sync();
        source.release();
        assertEquals(1, source.refCnt());
        assertFalse(stalled.isDone());
        channels.server.config().setAutoRead(true);
        assertEquals(new RpmaWritten(1, 64), channels.atServer.next());
        stalled.sync();
        assertEquals(new RpmaWritten(2, 64), channels.atServer.next());
        assertFilled(there, 64, 64, 3);
        assertEquals(0, source.refCnt());
        assertThrows(IllegalArgumentException.class, () -> RpmaRegion.allocate(0, ALL));
        assertThrows(IllegalArgumentException.class, () -> RpmaRegion.allocate(8));
    }

    /** An operation that cannot complete any more fails when the channel is closed, and releases its region. */
    @Test
    @Tag("immediate-data")
    void closingFailsWhatIsUnderWay() throws Exception {
        channels = new ConnectedChannels(group, Kind.MESSAGES, server -> server
            .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1).childOption(ChannelOption.AUTO_READ, false),
            client -> client.option(ChannelOption.SO_LINGER, 0));
        remote = RpmaRemoteRegion.open(there.descriptor(channels.server));
        succeeds(channels.client, RpmaOperation.writeWithImmediate(here, 0, 64, remote, 0, 1));
        ChannelFuture stalled = channels.client.writeAndFlush(RpmaOperation.writeWithImmediate(here, 0, 64, remote, 64, 2));
        channels.client.close().sync();
        assertInstanceOf(ClosedChannelException.class, fails(stalled));
        assertEquals(1, here.refCnt());
    }
}
