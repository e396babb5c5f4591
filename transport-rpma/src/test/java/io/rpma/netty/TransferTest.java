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
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelProgressiveFuture;
import io.netty.channel.ChannelProgressiveFutureListener;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import io.rpma.CompletionStatus;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.netty.ConnectedChannels.Kind;
import io.rpma.netty.pair.OpenPairs;
import io.rpma.netty.pair.QueuePair;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests reads and writes that consist of several operations: the bytes that they move, how many are under way, and how they fail.
 */
@Timeout(60)
class TransferTest {
    private static final int SIZE = 6 << 20;
    private static final int PIECE = 64 << 10;
    private static final MemoryUsage[] ALL = Usages.all();

    private RpmaEventLoopGroup group;
    private ConnectedChannels channels;
    private RpmaRegion there;
    private RpmaRegion here;
    private RpmaRemoteRegion remote;
    private final Operations operations = new Operations();

    /** Counts the operations that are written to the client's channel. It is used on the loop. */
    private static final class Operations extends ChannelOutboundHandlerAdapter {
        private int count;
        private int underWay;
        private int most;
        private int closeAt;

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            if (msg instanceof RpmaOperation) {
                most = Math.max(most, ++underWay);
                promise.addListener(done -> underWay--);
                if (++count == closeAt) {
                    ctx.close();
                }
            }
            ctx.write(msg, promise);
        }
    }

    @BeforeEach
    void start() throws RpmaException {
        group = new RpmaEventLoopGroup(1);
        there = RpmaRegion.allocate(SIZE, ALL);
        here = RpmaRegion.allocate(SIZE, ALL);
    }

    @AfterEach
    void stop() {
        if (channels != null) {
            channels.close();
        }
        if (remote != null) {
            remote.release();
            assertEquals(0, remote.refCnt(), "the transfer still holds the remote region");
        }
        there.release();
        here.release();
        assertEquals(0, there.refCnt(), "the transfer still holds the region");
        assertEquals(0, here.refCnt(), "the transfer still holds the region");
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private Channel connect(Kind kind) throws Exception {
        channels = new ConnectedChannels(group, kind);
        remote = RpmaRemoteRegion.open(there.descriptor(channels.server));
        channels.client.pipeline().addFirst(operations);
        return channels.client;
    }

    private static byte[] content(int bytes, int seed) {
        byte[] content = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            content[i] = (byte) (seed + 7 * i + (i >> 8));
        }
        return content;
    }

    private static byte[] bytes(RpmaRegion region, long offset, long length) {
        return region.memory().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private static void fill(RpmaRegion region, long offset, byte[] content) {
        MemorySegment.copy(content, 0, region.memory(), ValueLayout.JAVA_BYTE, offset, content.length);
    }

    private static void assertSameBytes(byte[] expected, byte[] actual) {
        assertEquals(-1, Arrays.mismatch(expected, actual), "the first index at which they differ");
    }

    private static Throwable fails(ChannelFuture future) throws InterruptedException {
        assertTrue(future.await(20, TimeUnit.SECONDS));
        assertTrue(!future.isSuccess());
        return future.cause();
    }

    // ---- success ----

    @ParameterizedTest
    @EnumSource
    void regionsAreMovedInOperationsOfWhichSomeAreUnderWay(Kind kind) throws Exception {
        Channel client = connect(kind);
        int length = 5 << 20 | 13;
        byte[] content = content(length, 1);
        fill(here, 3, content);
        RpmaTransfer transfer = new RpmaTransfer(client, PIECE, 5);
        transfer.write(here, 3, length, remote, 1001).sync();
        assertSameBytes(content, bytes(there, 1001, length));
        assertEquals(0, there.memory().get(ValueLayout.JAVA_BYTE, 1000));
        assertEquals(0, there.memory().get(ValueLayout.JAVA_BYTE, 1001 + length));
        here.memory().fill((byte) 0);
        transfer.read(remote, 1001, length, here, 77).sync();
        assertSameBytes(content, bytes(here, 77, length));
        client.eventLoop().submit(() -> {
            assertEquals(2 * (length / PIECE + 1), operations.count);
            assertEquals(5, operations.most);
            assertEquals(0, operations.underWay);
        }).sync();
    }

    static Stream<Arguments> buffers() {
        return Stream.of(Kind.values()).flatMap(kind -> Stream.of(
            arguments(kind, "heap", (Function<Integer, ByteBuf>) Unpooled::buffer),
            arguments(kind, "direct", (Function<Integer, ByteBuf>) Unpooled::directBuffer),
            arguments(kind, "of the transport's allocator",
                (Function<Integer, ByteBuf>) RpmaByteBufAllocator.DEFAULT::directBuffer)));
    }

    /** Tests buffers of each kind, some of which are longer than a registered buffer can be. */
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("buffers")
    void buffersAreMoved(Kind kind, String name, Function<Integer, ByteBuf> buffer) throws Exception {
        Channel client = connect(kind);
        for (int length : new int[] {1, PIECE, 1 << 20, 5 << 20 | 1}) {
            byte[] content = content(length, length);
            RpmaTransfer transfer = new RpmaTransfer(client, Integer.MAX_VALUE, 2);
            ByteBuf source = buffer.apply(length + 3).writeZero(3).writeBytes(content).skipBytes(3);
            transfer.write(source, remote, 5).sync();
            assertEquals(0, source.refCnt());
            assertSameBytes(content, bytes(there, 5, length));
            ByteBuf target = buffer.apply(length + 4).writeInt(42);
            transfer.read(remote, 5, length, target).sync();
            assertEquals(1, target.refCnt());
            assertEquals(42, target.readInt());
            byte[] read = new byte[length];
            assertEquals(length, target.readableBytes());
            target.readBytes(read).release();
            assertSameBytes(content, read);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCompositeBufferIsMoved(Kind kind) throws Exception {
        Channel client = connect(kind);
        byte[] content = content(3 * PIECE, 9);
        CompositeByteBuf source = Unpooled.compositeBuffer();
        source.addComponent(true, RpmaByteBufAllocator.DEFAULT.buffer(PIECE).writeBytes(content, 0, PIECE));
        source.addComponent(true, Unpooled.wrappedBuffer(content, PIECE, 2 * PIECE));
        new RpmaTransfer(client, PIECE / 2 + 8, 3).write(source, remote, 0).sync();
        assertEquals(0, source.refCnt());
        assertSameBytes(content, bytes(there, 0, content.length));
    }

    /** Completing many small operations must not lead to a recursion that grows with their number. */
    @ParameterizedTest
    @EnumSource
    void manySmallOperations(Kind kind) throws Exception {
        Channel client = connect(kind);
        byte[] content = content(20_000, 4);
        fill(here, 0, content);
        new RpmaTransfer(client, 8, 100).write(here, 0, content.length, remote, 0).sync();
        assertSameBytes(content, bytes(there, 0, content.length));
        client.eventLoop().submit(() -> assertEquals(content.length / 8, operations.count)).sync();
    }

    @ParameterizedTest
    @EnumSource
    void anEmptyTransferSucceeds(Kind kind) throws Exception {
        Channel client = connect(kind);
        RpmaTransfer transfer = new RpmaTransfer(client);
        transfer.write(here, SIZE, 0, remote, SIZE).sync();
        transfer.read(remote, 0, 0, Unpooled.EMPTY_BUFFER).sync();
    }

    @Test
    void anOperationIsNoLargerThanTheDeviceMovesAtOnce() {
        assertEquals(1 << 20, RpmaTransfer.largest(1 << 20, false, 2L << 30));
        assertEquals(Integer.MAX_VALUE, RpmaTransfer.largest(Integer.MAX_VALUE, false, 2L << 30));
        assertEquals(8 << 20, RpmaTransfer.largest(Integer.MAX_VALUE, false, 8 << 20));
        assertEquals(4096, RpmaTransfer.largest(1 << 20, true, 4096));
        assertEquals(4 << 20, RpmaTransfer.largest(Integer.MAX_VALUE, true, 2L << 30));
    }

    @ParameterizedTest
    @EnumSource
    void progressIsReportedAndOtherMessagesAreSentInBetween(Kind kind) throws Exception {
        Channel client = connect(kind);
        List<Long> progress = new ArrayList<>();
        List<ChannelFuture> told = new ArrayList<>();
        long length = 40L * PIECE;
        ChannelProgressiveFuture future = client.eventLoop().submit(() ->
            new RpmaTransfer(client, PIECE, 2).write(here, 0, length, remote, 0)
                .addListener(new ChannelProgressiveFutureListener() {
                    @Override
                    public void operationProgressed(ChannelProgressiveFuture moving, long moved, long total) {
                        assertEquals(length, total);
                        progress.add(moved);
                        if (progress.size() == 1) {
                            told.add(client.writeAndFlush(Unpooled.copyInt(7)));
                        }
                    }

                    @Override
                    public void operationComplete(ChannelProgressiveFuture moved) {
                        told.add(told.getFirst().isSuccess() ? moved : null);
                    }
                })).get();
        future.sync();
        ByteBuf read = (ByteBuf) channels.atServer.next();
        assertEquals(7, read.readInt());
        read.release();
        client.eventLoop().submit(() -> {
            assertEquals(40, progress.size());
            for (int i = 0; i < 40; i++) {
                assertEquals((i + 1L) * PIECE, progress.get(i));
            }
            assertSame(future, told.get(1), "the message was sent only after the whole transfer");
        }).sync();
    }

    @ParameterizedTest
    @EnumSource
    void severalAreUnderWay(Kind kind) throws Exception {
        Channel client = connect(kind);
        byte[] content = content(SIZE, 6);
        fill(here, 0, content);
        RpmaTransfer transfer = new RpmaTransfer(client, PIECE / 4, 3);
        List<ChannelFuture> futures = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            futures.add(transfer.write(here, (long) i << 20, 1 << 20, remote, (long) i << 20));
        }
        for (ChannelFuture future : futures) {
            future.sync();
        }
        assertSameBytes(content, bytes(there, 0, SIZE));
        client.eventLoop().submit(() -> assertTrue(operations.most <= 18, () -> operations.most + " under way")).sync();
    }

    // ---- failure ----

    @ParameterizedTest
    @EnumSource
    void whatIsRefusedMovesNothing(Kind kind) throws Exception {
        Channel client = connect(kind);
        fill(here, 0, content(SIZE, 1));
        RpmaTransfer transfer = new RpmaTransfer(client, PIECE, 2);
        ByteBuf source = Unpooled.buffer().writeZero(100);
        ByteBuf target = Unpooled.buffer(100, 100);
        for (ChannelFuture refused : List.of(transfer.write(here, 0, SIZE, remote, 1), transfer.read(remote, 0, SIZE, here, 1),
                transfer.write(here, 0, -1, remote, 0), transfer.write(source, remote, SIZE - 99),
                transfer.read(remote, 0, 101, target))) {
            RpmaException cause = assertInstanceOf(RpmaException.class, fails(refused));
            assertTrue(cause.getMessage().contains("refused"), cause.getMessage());
        }
        assertEquals(0, source.refCnt());
        assertTrue(target.release());
        client.eventLoop().submit(() -> assertEquals(0, operations.count)).sync();
        assertSameBytes(new byte[SIZE], bytes(there, 0, SIZE));
        transfer.write(here, 0, 8, remote, 0).sync();
    }

    @ParameterizedTest
    @EnumSource
    void aRegionIsUsedForWhatItWasRegisteredFor(Kind kind) throws Exception {
        Channel client = connect(kind);
        RpmaRegion source = RpmaRegion.allocate(64, MemoryUsage.WRITE_SRC);
        assertTrue(fails(new RpmaTransfer(client).read(remote, 0, 64, source, 0)).getMessage().contains("not for READ_DST"));
        source.release();
    }

    /** The peer's region is shorter than its descriptor says. All bytes before its end are moved. */
    @ParameterizedTest
    @EnumSource
    @Tag("refusals-by-the-peer")
    void aTransferFailsOnceWithTheOffset(Kind kind) throws Exception {
        Channel client = connect(kind);
        RpmaRegion small = RpmaRegion.allocate(4 * PIECE, ALL);
        ByteBuffer descriptor = small.descriptor(channels.server);
        descriptor.put(8 + 3, (byte) 1);
        RpmaRemoteRegion forged = RpmaRemoteRegion.open(descriptor);
        byte[] content = content(SIZE, 2);
        fill(here, 0, content);
        ChannelFuture future = new RpmaTransfer(client, PIECE, 3).write(here, 0, SIZE, forged, 0);
        RpmaTransferException failure = assertInstanceOf(RpmaTransferException.class, fails(future));
        assertEquals(4L * PIECE, failure.offset());
        assertEquals("write of " + SIZE + " bytes failed at offset " + 4 * PIECE + ": " + failure.getCause().getMessage(),
            failure.getMessage());
        assertEquals(CompletionStatus.REM_ACCESS_ERR,
            assertInstanceOf(RpmaCompletionException.class, failure.getCause()).status());
        assertEquals(1, here.refCnt());
        assertEquals(1, forged.refCnt());
        assertSameBytes(Arrays.copyOf(content, 4 * PIECE), bytes(small, 0, 4 * PIECE));
        assertTrue(client.closeFuture().await(20, TimeUnit.SECONDS));
        group.next().submit(() -> assertEquals(0, operations.underWay)).sync();
        forged.release();
        small.release();
    }

    /** The channel is closed when the tenth operation is written. That operation and those after it are not executed. */
    @ParameterizedTest
    @EnumSource
    void closingTheChannelEndsIt(Kind kind) throws Exception {
        int open = RpmaMetrics.openChannels();
        Channel client = connect(kind);
        operations.closeAt = 10;
        byte[] content = content(SIZE, 8);
        ByteBuf source = Unpooled.copiedBuffer(content);
        RpmaTransferException failure = assertInstanceOf(RpmaTransferException.class,
            fails(new RpmaTransfer(client, PIECE, 4).write(source, remote, 0)));
        assertInstanceOf(ClosedChannelException.class, failure.getCause());
        // This exception has no message of its own.
        assertTrue(failure.getMessage().endsWith(" failed at offset " + failure.offset() + ": " + failure.getCause()),
            failure.getMessage());
        assertEquals(0, failure.offset() % PIECE);
        assertTrue(failure.offset() <= 9L * PIECE, failure.getMessage());
        // A device may execute operations that were under way when the channel was closed, until its connection has ended.
        OpenPairs.awaitOpen(open);
        client.eventLoop().submit(() -> { }).sync();
        assertEquals(0, source.refCnt());
        assertSameBytes(Arrays.copyOf(content, (int) failure.offset()), bytes(there, 0, failure.offset()));
    }

    static Stream<Arguments> endings() {
        Consumer<Channel> close = Channel::close;
        Consumer<Channel> shutdownOutput = channel -> ((RpmaChannel) channel).shutdownOutput();
        return Stream.of(arguments(Kind.STREAM, "close", -1, close), arguments(Kind.STREAM, "abort", 0, close),
            arguments(Kind.STREAM, "shut down output", -1, shutdownOutput), arguments(Kind.MESSAGES, "close", -1, close),
            arguments(Kind.MESSAGES, "abort", 0, close));
    }

    /**
     * The memory may be used for something else as soon as the future is done, although the connection has not ended yet. On the
     * provider tcp the operations are under way when the channel is closed.
     */
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("endings")
    void theMemoryIsNotAccessedAfterTheEnd(Kind kind, String name, int linger, Consumer<Channel> end) throws Exception {
        Channel client = connect(kind);
        client.config().setOption(ChannelOption.SO_LINGER, linger);
        QueuePair pair = ((AbstractRpmaChannel) client).pair();
        there.memory().fill((byte) 1);
        ChannelFuture read = client.eventLoop().submit(() -> {
            ChannelFuture reading = new RpmaTransfer(client).read(remote, 0, 4 << 20, here, 0);
            reading.addListener(done -> here.memory().fill((byte) 2));
            end.accept(client);
            return reading;
        }).get();
        assertTrue(read.await(20, TimeUnit.SECONDS));
        client.close().sync();
        while (!client.eventLoop().submit(pair::isClosed).get()) {
            // Each check is a turn of the event loop, which handles what the peer has sent.
            continue;
        }
        byte[] expected = new byte[SIZE];
        Arrays.fill(expected, (byte) 2);
        assertSameBytes(expected, bytes(here, 0, SIZE));
        if (kind == Kind.STREAM) {
            assertInstanceOf(IOException.class, assertInstanceOf(RpmaTransferException.class, read.cause()).getCause());
        }
    }

    /** The device may access the memory of a connection that has failed, until the connection is destroyed. */
    @ParameterizedTest
    @EnumSource
    void itFailsOnlyWhenTheConnectionHasEnded(Kind kind) throws Exception {
        Channel client = connect(kind);
        QueuePair pair = ((AbstractRpmaChannel) client).pair();
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        ChannelFuture read = client.eventLoop().submit(() -> {
            ChannelFuture reading = new RpmaTransfer(client).read(remote, 0, 4 << 20, here, 0);
            reading.addListener(done -> ended.complete(pair.isClosed()));
            pair.breakWith(new IOException("broken by the test"));
            pair.listener.readable();
            return reading;
        }).get();
        assertTrue(read.await(20, TimeUnit.SECONDS));
        assertTrue(ended.get(20, TimeUnit.SECONDS) || read.isSuccess());
        assertTrue(client.closeFuture().await(20, TimeUnit.SECONDS));
    }

    /** The loop ends while the connection of the closed channel is kept for the operations. */
    @ParameterizedTest
    @EnumSource
    void itEndsWithTheLoop(Kind kind) throws Exception {
        RpmaEventLoopGroup ending = new RpmaEventLoopGroup(1);
        connect(kind);
        Channel client = new Bootstrap().group(ending).channel(kind.client).option(ChannelOption.SO_LINGER, 1_000)
            .handler(new ChannelInboundHandlerAdapter()).connect(channels.listener.localAddress()).sync().channel();
        ChannelFuture read = client.eventLoop().submit(() -> {
            ChannelFuture reading = new RpmaTransfer(client).read(remote, 0, SIZE, here, 0);
            client.close();
            ending.shutdownGracefully(0, 5, TimeUnit.SECONDS);
            return reading;
        }).get();
        assertTrue(ending.terminationFuture().await(20, TimeUnit.SECONDS));
        assertTrue(read.isDone());
    }

    /** Keeps the first operation, and neither executes nor releases it. */
    private static final class Keeper extends ChannelOutboundHandlerAdapter {
        private final CompletableFuture<Object> message = new CompletableFuture<>();
        private ChannelPromise promise;

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise ofWrite) {
            promise = ofWrite;
            message.complete(msg);
        }

        void fail() {
            ReferenceCountUtil.release(message.join());
            promise.setFailure(new IOException("failed by the test"));
        }
    }

    /** Begins a transfer on a loop of its own, and moves the channel to another loop before the operation is executed. */
    private ChannelFuture beginAndMove(Channel client, Keeper keeper, EventLoop first) throws Exception {
        client.pipeline().addFirst(keeper);
        client.deregister().sync();
        first.register(client).sync();
        ChannelFuture read = new RpmaTransfer(client).read(remote, 0, 8, here, 0);
        keeper.message.get(20, TimeUnit.SECONDS);
        client.deregister().sync();
        group.register(client).sync();
        return read;
    }

    /** The loop on which the transfer began has ended when its operation ends. */
    @ParameterizedTest
    @EnumSource
    void itEndsAlthoughTheLoopOnWhichItBeganHasEnded(Kind kind) throws Exception {
        Channel client = connect(kind);
        Keeper keeper = new Keeper();
        RpmaEventLoopGroup ending = new RpmaEventLoopGroup(1);
        ChannelFuture read = beginAndMove(client, keeper, ending.next());
        assertTrue(ending.shutdownGracefully(0, 5, TimeUnit.SECONDS).await(20, TimeUnit.SECONDS));
        client.eventLoop().submit(() -> keeper.fail()).sync();
        assertTrue(read.await(20, TimeUnit.SECONDS));
        assertInstanceOf(RpmaTransferException.class, read.cause());
    }

    /**
     * The loop on which the transfer began runs its last tasks, and accepts no others, while the loop to which the channel has
     * moved handles the end of an operation. The last tasks may belong to the transfer, so the end is counted only after them.
     */
    @ParameterizedTest
    @EnumSource
    void anEndIsCountedAfterTheLastTasksOfALoopThatTheChannelHasLeft(Kind kind) throws Exception {
        Channel client = connect(kind);
        Keeper keeper = new Keeper();
        EventLoop first = new RpmaEventLoopGroup(1).next();
        ChannelFuture read = beginAndMove(client, keeper, first);
        CountDownLatch last = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        first.execute(() -> {
            begun.countDown();
            try {
                last.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        assertTrue(begun.await(20, TimeUnit.SECONDS));
        refuseTasks(first);
        client.eventLoop().submit(() -> keeper.fail()).sync();
        client.eventLoop().submit(() -> { }).sync();
        boolean early = read.isDone();
        last.countDown();
        assertTrue(first.terminationFuture().await(20, TimeUnit.SECONDS));
        assertTrue(read.await(20, TimeUnit.SECONDS));
        assertFalse(early, "two threads may have counted");
        assertInstanceOf(RpmaTransferException.class, read.cause());
    }

    @SuppressWarnings("deprecation")
    private static void refuseTasks(EventLoop loop) {
        loop.shutdown();
    }

    /**
     * The channel moves to another loop while operations are under way. Their results and those of later operations are handled
     * on one loop.
     */
    @ParameterizedTest
    @EnumSource
    void itContinuesWhenTheChannelMoves(Kind kind) throws Exception {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        group = new RpmaEventLoopGroup(2);
        byte[] content = content(SIZE, 3);
        fill(there, 0, content);
        Channel client = connect(kind);
        for (int i = 0; i < 10; i++) {
            EventLoop before = client.eventLoop();
            EventLoop next = group.next();
            here.memory().fill((byte) 0);
            ChannelFuture read = new RpmaTransfer(client, PIECE, 3).read(remote, 0, SIZE, here, 0);
            client.deregister().sync();
            // Waits for the remaining tasks of the previous event loop.
            before.submit(() -> { }).sync();
            before.submit(() -> { }).sync();
            (next == before ? group.next() : next).register(client).sync();
            assertTrue(read.await(20, TimeUnit.SECONDS));
            assertNull(read.cause());
            assertSameBytes(content, bytes(here, 0, SIZE));
        }
    }

    @ParameterizedTest
    @EnumSource
    void onAChannelThatIsNotConnectedItFails(Kind kind) throws Exception {
        Channel client = connect(kind);
        client.close().sync();
        ByteBuf source = Unpooled.buffer().writeZero(8);
        RpmaTransferException closed =
            assertInstanceOf(RpmaTransferException.class, fails(new RpmaTransfer(client).write(source, remote, 0)));
        assertEquals(0, closed.offset());
        assertInstanceOf(ClosedChannelException.class, closed.getCause());
        assertEquals(0, source.refCnt());
        Channel fresh = kind == Kind.STREAM ? new RpmaChannel() : new RpmaMessageChannel();
        group.register(fresh).sync();
        assertInstanceOf(IllegalArgumentException.class, fails(new RpmaTransfer(fresh).read(remote, 0, 8, here, 0)));
        fresh.close().sync();
    }

    /** Such a channel has no event loop that could notify listeners. */
    @ParameterizedTest
    @EnumSource
    void onAChannelThatIsNotRegisteredItFails(Kind kind) throws Exception {
        connect(kind);
        Channel unregistered = kind == Kind.STREAM ? new RpmaChannel() : new RpmaMessageChannel();
        ByteBuf source = Unpooled.buffer().writeZero(8);
        ChannelFuture failed = new RpmaTransfer(unregistered).write(source, remote, 0);
        assertInstanceOf(IllegalStateException.class, fails(failed));
        assertEquals(0, source.refCnt());
        CompletableFuture<Throwable> notified = new CompletableFuture<>();
        failed.addListener(done -> notified.complete(done.cause()));
        assertSame(failed.cause(), notified.get());
        fails(new RpmaTransfer(unregistered).read(remote, 0, 8, here, 0));
        assertEquals(1, here.refCnt());
        assertEquals(1, remote.refCnt());
        unregistered.unsafe().closeForcibly();
    }

    /** A buffer of the application that throws an error when a part is made of it fails the transfer, and nothing leaks. */
    @ParameterizedTest
    @CsvSource({"STREAM,0", "STREAM,3", "MESSAGES,0", "MESSAGES,3"})
    void aBufferThatThrowsAnErrorFailsTheTransfer(Kind kind, int parts) throws Exception {
        Channel client = connect(kind);
        AssertionError error = new AssertionError("the buffer fails");
        ByteBuf source = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 8 * PIECE, 8 * PIECE) {
            private int taken;

            @Override
            public ByteBuf retainedSlice(int index, int length) {
                if (taken++ == parts) {
                    throw error;
                }
                return super.retainedSlice(index, length);
            }
        }.writerIndex(8 * PIECE);
        assertSame(error, fails(new RpmaTransfer(client, PIECE, 2).write(source, remote, 0)).getCause());
        assertEquals(0, source.refCnt());
        new RpmaTransfer(client).write(here, 0, SIZE, remote, 0).sync();
    }

    /** The same if it throws the error when the transfer is checked. */
    @ParameterizedTest
    @EnumSource
    void aBufferThatThrowsAnErrorWhenItIsCheckedFailsTheTransfer(Kind kind) throws Exception {
        Channel client = connect(kind);
        AssertionError error = new AssertionError("the buffer fails");
        ByteBuf target = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 8, 8) {
            @Override
            public boolean isReadOnly() {
                throw error;
            }
        };
        assertSame(error, fails(new RpmaTransfer(client).read(remote, 0, 8, target)));
        assertEquals(1, target.refCnt());
        target.release();
    }

    /** The same if it throws the error when all parts have been read, or if its writer index cannot advance any more. */
    @ParameterizedTest
    @EnumSource
    void aBufferThatThrowsAnErrorAtTheEndFailsTheTransfer(Kind kind) throws Exception {
        Channel client = connect(kind);
        AssertionError error = new AssertionError("the buffer fails");
        ByteBuf target = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 2 * PIECE, 2 * PIECE) {
            @Override
            public ByteBuf writerIndex(int index) {
                throw error;
            }
        };
        RpmaTransferException failure = assertInstanceOf(RpmaTransferException.class,
            fails(new RpmaTransfer(client, PIECE, 2).read(remote, 0, 2 * PIECE, target)));
        assertSame(error, failure.getCause());
        assertEquals(2 * PIECE, failure.offset());
        assertEquals(1, target.refCnt());
        target.release();
        new RpmaTransfer(client).write(here, 0, SIZE, remote, 0).sync();
    }

    /** A region that the application releases once too often while it is used ends the transfer; the other one is released. */
    @ParameterizedTest
    @CsvSource({"STREAM,true", "STREAM,false", "MESSAGES,true", "MESSAGES,false"})
    void aRegionThatIsReleasedTooOftenDoesNotKeepTheTransfer(Kind kind, boolean isLocal) throws Exception {
        Channel client = connect(kind);
        RpmaRegion source = RpmaRegion.allocate(8 * PIECE, ALL);
        RpmaRemoteRegion target = RpmaRemoteRegion.open(there.descriptor(channels.server));
        ReferenceCounted released = isLocal ? source : target;
        AtomicBoolean first = new AtomicBoolean(true);
        ChannelFuture future = client.eventLoop().submit(() -> new RpmaTransfer(client, PIECE, 2)
            .write(source, 0, 8 * PIECE, target, 0).addListener(new ChannelProgressiveFutureListener() {
                @Override
                public void operationProgressed(ChannelProgressiveFuture transfer, long progress, long total) {
                    if (first.getAndSet(false)) {
                        released.release(2);
                    }
                }

                @Override
                public void operationComplete(ChannelProgressiveFuture transfer) {
                    // Only the progress matters.
                }
            })).get();
        assertTrue(future.await(20, TimeUnit.SECONDS), "the transfer does not end");
        assertEquals(0, released.refCnt());
        assertTrue((isLocal ? target : source).release(), "the transfer still holds the other region");
        new RpmaTransfer(client).write(here, 0, SIZE, remote, 0).sync();
    }

    /** What has been read from the buffer since the transfer was created would be missing at the end of the peer's memory. */
    @ParameterizedTest
    @EnumSource
    void aBufferWhoseReadableBytesHaveChangedIsRefused(Kind kind) throws Exception {
        Channel client = connect(kind);
        CountDownLatch busy = new CountDownLatch(1);
        client.eventLoop().execute(() -> {
            try {
                busy.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        ByteBuf source = Unpooled.buffer().writeZero(16);
        ChannelFuture changed = new RpmaTransfer(client).write(source, remote, 0);
        source.skipBytes(8);
        busy.countDown();
        assertInstanceOf(RpmaException.class, fails(changed));
        assertEquals(0, source.refCnt());
        new RpmaTransfer(client).write(here, 0, SIZE, remote, 0).sync();
    }

    /** A buffer that the application has released too early fails the transfer, which nobody could wait for otherwise. */
    @ParameterizedTest
    @EnumSource
    void aBufferThatIsReleasedTooEarlyFailsTheTransfer(Kind kind) throws Exception {
        Channel client = connect(kind);
        RpmaTransfer transfer = new RpmaTransfer(client);
        List<ByteBuf> released = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            ByteBuf source = (i < 2 ? Unpooled.buffer(8) : RpmaByteBufAllocator.DEFAULT.directBuffer(8)).writeZero(8);
            source.release();
            released.add(source);
        }
        RpmaTransferException fromOutside =
            assertInstanceOf(RpmaTransferException.class, fails(transfer.write(released.get(0), remote, 0)));
        assertEquals(0, fromOutside.offset());
        assertInstanceOf(IllegalReferenceCountException.class, fromOutside.getCause());
        for (int i = 1; i < 4; i++) {
            ByteBuf source = released.get(i);
            ChannelFuture onLoop = client.eventLoop().submit(() -> transfer.write(source, remote, 0)).get();
            assertInstanceOf(RpmaTransferException.class, fails(onLoop));
        }
        transfer.write(here, 0, 8, remote, 0).sync();
    }

    @Test
    void badArgumentsAreRefused() throws Exception {
        Channel client = connect(Kind.STREAM);
        assertThrows(IllegalArgumentException.class, () -> new RpmaTransfer(client, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> new RpmaTransfer(client, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new RpmaTransfer(new EmbeddedChannel()));
        assertThrows(IllegalArgumentException.class, () -> new RpmaTransfer(channels.listener));
        assertThrows(NullPointerException.class, () -> new RpmaTransfer(client).write(here, 0, 8, null, 0));
        assertThrows(NullPointerException.class, () -> new RpmaTransfer(client).write(null, 0, 8, remote, 0));
    }
}
