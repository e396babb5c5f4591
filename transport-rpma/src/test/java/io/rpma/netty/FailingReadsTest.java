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
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.NetUtil;
import io.rpma.netty.ConnectedChannels.Kind;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that nothing is lost and nothing leaks if the {@link RecvByteBufAllocator} of the application throws exceptions. */
@Timeout(60)
class FailingReadsTest {
    private static final int BYTES = 60_000;

    private final RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
    private final RuntimeException failure = new IllegalStateException("the handle fails");

    /** The method of the handle that fails. */
    enum Failing { ATTEMPTED, LAST }

    /** Fails once, when something has been read. */
    private final class FailingOnce extends DefaultMaxMessagesRecvByteBufAllocator {
        private final Failing failing;
        private final int guess;
        private boolean hasFailed;
        private ByteBuf allocated;

        FailingOnce(Failing failing, int guess) {
            this.failing = failing;
            this.guess = guess;
        }

        @Override
        public MaxMessageHandle newHandle() {
            return new MaxMessageHandle() {
                @Override
                public int guess() {
                    return guess;
                }

                @Override
                public ByteBuf allocate(ByteBufAllocator allocator) {
                    ByteBuf buf = super.allocate(allocator);
                    if (!hasFailed) {
                        allocated = buf;
                    }
                    return buf;
                }

                @Override
                public void attemptedBytesRead(int bytes) {
                    fail(Failing.ATTEMPTED, bytes);
                    super.attemptedBytesRead(bytes);
                }

                @Override
                public void lastBytesRead(int bytes) {
                    fail(Failing.LAST, bytes);
                    super.lastBytesRead(bytes);
                }

                private void fail(Failing at, int bytes) {
                    if (at == failing && bytes > 0 && !hasFailed) {
                        hasFailed = true;
                        throw failure;
                    }
                }
            };
        }
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static ByteBuf numbered(int bytes) {
        ByteBuf data = Unpooled.buffer(bytes);
        for (int i = 0; i < bytes; i++) {
            data.writeByte(i * 31 >> 3);
        }
        return data;
    }

    /** Reads a stream whose handle fails once; the handle expects as many bytes as given. */
    private void aStreamLosesNothing(Failing failing, int guess) throws Exception {
        FailingOnce allocator = new FailingOnce(failing, guess);
        try (ConnectedChannels channels = new ConnectedChannels(group, Kind.STREAM,
                server -> server.childOption(ChannelOption.RECVBUF_ALLOCATOR, allocator)
                    .childOption(ChannelOption.ALLOCATOR, UnpooledByteBufAllocator.DEFAULT), client -> { })) {
            ByteBuf sent = numbered(BYTES);
            channels.client.writeAndFlush(sent.retainedDuplicate()).sync();
            ByteBuf arrived = Unpooled.buffer(BYTES);
            while (arrived.readableBytes() < BYTES) {
                ByteBuf next = (ByteBuf) channels.atServer.next();
                arrived.writeBytes(next);
                next.release();
            }
            assertEquals(sent, arrived);
            assertSame(failure, channels.atServer.failure());
            assertTrue(channels.server.isActive());
            if (allocator.allocated != null) {
                assertEquals(0, allocator.allocated.refCnt(), "the buffer of the failed read is still in use");
            }
            sent.release();
        }
    }

    /** The data is copied. */
    @ParameterizedTest
    @EnumSource
    void aStreamLosesNothingIfItsHandleFails(Failing failing) throws Exception {
        aStreamLosesNothing(failing, 1_000);
    }

    /** The buffer of the receive is passed on. */
    @ParameterizedTest
    @EnumSource
    void aStreamLosesNoBufferOfAReceiveIfItsHandleFails(Failing failing) throws Exception {
        aStreamLosesNothing(failing, 1 << 20);
    }

    /** As with Netty's own transports of messages, the application gets the message, and the channel is closed. */
    @ParameterizedTest
    @EnumSource
    void aMessageIsReadIfItsHandleFails(Failing failing) throws Exception {
        FailingOnce allocator = new FailingOnce(failing, 1);
        try (ConnectedChannels channels = new ConnectedChannels(group, Kind.MESSAGES,
                server -> server.childOption(ChannelOption.RECVBUF_ALLOCATOR, allocator), client -> { })) {
            ByteBuf sent = numbered(16_000);
            channels.client.writeAndFlush(sent.retainedDuplicate()).sync();
            ByteBuf arrived = (ByteBuf) channels.atServer.next();
            assertEquals(sent, arrived);
            assertEquals(1, arrived.refCnt());
            arrived.release();
            sent.release();
            assertSame(failure, channels.atServer.failure());
            channels.server.closeFuture().sync();
        }
    }

    /** The method of the allocator or of its handle without which no turn of reading can begin or end. */
    enum Unusable { NEW_HANDLE, RESET, READ_COMPLETE }

    /** Fails the given number of times. */
    private final class UnusableAllocator extends DefaultMaxMessagesRecvByteBufAllocator {
        private final Unusable unusable;
        private final AtomicInteger failuresLeft;

        UnusableAllocator(Unusable unusable, int failures) {
            this.unusable = unusable;
            failuresLeft = new AtomicInteger(failures);
        }

        @Override
        public MaxMessageHandle newHandle() {
            fail(Unusable.NEW_HANDLE);
            return new MaxMessageHandle() {
                @Override
                public int guess() {
                    return 1_000;
                }

                @Override
                public void reset(ChannelConfig config) {
                    super.reset(config);
                    fail(Unusable.RESET);
                }

                @Override
                public void readComplete() {
                    fail(Unusable.READ_COMPLETE);
                }
            };
        }

        private void fail(Unusable at) {
            if (at == unusable && failuresLeft.getAndDecrement() > 0) {
                throw failure;
            }
        }
    }

    /** Nothing can be read any more. The application is told why its channel is closed; the other channels continue. */
    @ParameterizedTest
    @CsvSource({"STREAM,NEW_HANDLE", "STREAM,RESET", "STREAM,READ_COMPLETE", "MESSAGES,NEW_HANDLE", "MESSAGES,RESET",
        "MESSAGES,READ_COMPLETE"})
    void aHandleThatCannotBeUsedClosesItsChannelWithTheReason(Kind kind, Unusable unusable) throws Exception {
        RecvByteBufAllocator allocator = new UnusableAllocator(unusable, Integer.MAX_VALUE);
        try (ConnectedChannels other = new ConnectedChannels(group, kind);
                ConnectedChannels channels = new ConnectedChannels(group, kind,
                    server -> server.childOption(ChannelOption.RECVBUF_ALLOCATOR, allocator), client -> { })) {
            channels.client.writeAndFlush(numbered(10));
            assertSame(failure, channels.atServer.failure());
            channels.server.closeFuture().sync();
            channels.client.closeFuture().sync();
            other.client.writeAndFlush(numbered(10)).sync();
            ((ByteBuf) other.atServer.next()).release();
        }
    }

    /** The same if a task reads, because the input arrived while the application did not want to read. */
    @ParameterizedTest
    @EnumSource
    void aHandleThatFailsInALaterTurnClosesItsChannelWithTheReason(Kind kind) throws Exception {
        DefaultMaxMessagesRecvByteBufAllocator allocator = new DefaultMaxMessagesRecvByteBufAllocator() {
            @Override
            public MaxMessageHandle newHandle() {
                throw failure;
            }
        };
        try (ConnectedChannels channels = new ConnectedChannels(group, kind,
                server -> server.childOption(ChannelOption.RECVBUF_ALLOCATOR, allocator)
                    .childOption(ChannelOption.AUTO_READ, false),
                client -> { })) {
            channels.client.writeAndFlush(numbered(10)).sync();
            ReadLoop.Source source = (ReadLoop.Source) channels.server.unsafe();
            while (!channels.server.eventLoop().submit(source::hasInput).get()) {
                Thread.onSpinWait();
            }
            channels.server.read();
            assertSame(failure, channels.atServer.failure());
            channels.server.closeFuture().sync();
            channels.client.closeFuture().sync();
        }
    }

    /** As with Netty's epoll transport, the client is accepted, and so are those after it. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aServerWhoseHandleFailsLosesNoClient(Kind kind) throws Exception {
        BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        ChannelInboundHandlerAdapter atListener = new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                failures.add(cause);
            }
        };
        FailingOnce allocator = new FailingOnce(Failing.LAST, 1);
        try (ConnectedChannels channels = new ConnectedChannels(group, kind,
                server -> server.handler(atListener).option(ChannelOption.RECVBUF_ALLOCATOR, allocator), client -> { })) {
            assertSame(failure, failures.poll(20, TimeUnit.SECONDS));
            Channel second = new Bootstrap().group(group).channel(kind.client).handler(channels.atClient)
                .connect(channels.listener.localAddress()).sync().channel();
            Channel accepted = channels.atServer.accepted();
            second.close().sync();
            accepted.closeFuture().sync();
            assertTrue(failures.isEmpty(), failures::toString);
        }
    }

    /** Two clients, in the turn of the first of which the handle cannot begin or end, are both accepted. */
    @ParameterizedTest
    @EnumSource
    void aServerWhoseHandleCannotBeginOrEndATurnLosesNoClient(Unusable unusable) throws Exception {
        for (Kind kind : Kind.values()) {
            RecvByteBufAllocator allocator = new UnusableAllocator(unusable, 1);
            BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
            CountDownLatch accepted = new CountDownLatch(2);
            Channel listener = new ServerBootstrap().group(group).channel(kind.server)
                .option(ChannelOption.RECVBUF_ALLOCATOR, allocator)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                        failures.add(cause);
                    }
                }).childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public boolean isSharable() {
                        return true;
                    }

                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        accepted.countDown();
                    }
                }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            Bootstrap clients = new Bootstrap().group(group).channel(kind.client).handler(new ChannelInboundHandlerAdapter() {
                @Override
                public boolean isSharable() {
                    return true;
                }
            });
            Channel first = clients.connect(listener.localAddress()).sync().channel();
            assertSame(failure, failures.poll(20, TimeUnit.SECONDS));
            Channel second = clients.connect(listener.localAddress()).sync().channel();
            assertTrue(accepted.await(20, TimeUnit.SECONDS));
            assertTrue(listener.isOpen());
            first.close().sync();
            second.close().sync();
            listener.close().sync();
            assertTrue(failures.isEmpty(), failures::toString);
        }
    }

    /**
     * Messages that are not read leave the receives that other connections share. If there is no memory for them, their channel
     * ends, and says why. The other connections can use the receives.
     */
    @Test
    void aMessageThatCannotBeSetAsideEndsItsChannelAlone() throws Exception {
        OutOfMemoryError noMemory = new OutOfMemoryError("the allocator fails");
        AbstractByteBufAllocator failing = new AbstractByteBufAllocator(true) {
            @Override
            protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
                throw noMemory;
            }

            @Override
            protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
                throw noMemory;
            }

            @Override
            public boolean isDirectBufferPooled() {
                return false;
            }
        };
        RpmaSharedReceiveQueue shared = new RpmaSharedReceiveQueue(4, 1024);
        try (ConnectedChannels channels = new ConnectedChannels(group, Kind.MESSAGES,
                server -> server.option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, shared), client -> { })) {
            channels.server.config().setAllocator(failing);
            channels.server.config().setAutoRead(false);
            channels.client.writeAndFlush(numbered(10)).sync();
            assertSame(noMemory, channels.atServer.failure());
            channels.server.closeFuture().sync();
            channels.client.closeFuture().sync();
            Channel other = new Bootstrap().group(group).channel(RpmaMessageChannel.class).handler(channels.atClient)
                .connect(channels.listener.localAddress()).sync().channel();
            channels.atServer.accepted();
            for (int i = 0; i < 16; i++) {
                other.writeAndFlush(numbered(i + 1)).sync();
                ByteBuf arrived = (ByteBuf) channels.atServer.next();
                assertEquals(i + 1, arrived.readableBytes());
                arrived.release();
            }
            other.close().sync();
        } finally {
            shared.release();
        }
    }

    /** The message cannot be read, so its channel ends, but the buffer that was to contain it is released. */
    @Test
    void aBufferThatIsTooSmallForItsMessageIsReleased() throws Exception {
        List<ByteBuf> allocated = new CopyOnWriteArrayList<>();
        AbstractByteBufAllocator small = new AbstractByteBufAllocator(true) {
            @Override
            protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
                throw new UnsupportedOperationException();
            }

            @Override
            protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
                ByteBuf buf = UnpooledByteBufAllocator.DEFAULT.directBuffer(1, 1);
                allocated.add(buf);
                return buf;
            }

            @Override
            public boolean isDirectBufferPooled() {
                return false;
            }
        };
        try (ConnectedChannels channels = new ConnectedChannels(group, Kind.MESSAGES,
                server -> server.childOption(ChannelOption.ALLOCATOR, small), client -> { })) {
            channels.client.writeAndFlush(numbered(10)).sync();
            assertInstanceOf(IndexOutOfBoundsException.class, channels.atServer.failure());
            channels.server.closeFuture().sync();
            assertEquals(1, allocated.size());
            assertEquals(0, allocated.getFirst().refCnt());
        }
    }
}
