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

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.rpma.netty.memory.RegisteredMemory;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests the allocator on threads of every kind: when threads end, all of their registered memory is available to other threads.
 */
@Timeout(300)
class AllocatorThreadsTest {
    private static final int MIB = 1 << 20;
    private static final int LIMIT = 64 * MIB;
    private static final int TASKS = 3000;

    /** The threads that allocate and release. */
    enum Threads {
        VIRTUAL {
            @Override
            ExecutorService executor() {
                return Executors.newVirtualThreadPerTaskExecutor();
            }
        },
        FORK_JOIN {
            @Override
            ExecutorService executor() {
                // Workers end after a short idle time, so that many of them are created.
                return new ForkJoinPool(16, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true, 0, 16, 1, null, 1,
                    TimeUnit.MILLISECONDS);
            }
        },
        PLAIN {
            @Override
            ExecutorService executor() {
                return Executors.newThreadPerTaskExecutor(Thread::new);
            }
        };

        abstract ExecutorService executor();
    }

    /** A program whose registered memory is limited to 64 MiB. */
    static final class LimitedMain {
        private LimitedMain() {
        }

        public static void main(String... arguments) throws Exception {
            Threads threads = Threads.valueOf(arguments[0]);
            allocateAndRelease(threads);
            System.out.println("UNREGISTERED " + RpmaByteBufAllocator.DEFAULT.unregisteredBuffers());
            System.out.println("ALLOCATED " + largeBuffers());
            sendAndReceive(threads);
            System.out.println("EXCHANGED " + largeBuffers());
            System.exit(0);
        }

        /** Allocates buffers of many sizes. Each thread releases one of its own buffers and one of another thread's buffers. */
        private static void allocateAndRelease(Threads threads) throws InterruptedException {
            BlockingQueue<ByteBuf> handedOver = new LinkedBlockingQueue<>();
            // At most 8 MiB are in use at a time, regardless of the kind of threads.
            Semaphore together = new Semaphore(32);
            try (ExecutorService executor = threads.executor()) {
                for (int task = 0; task < TASKS; task++) {
                    int bytes = 1 << 8 + task % 9;
                    together.acquire();
                    executor.execute(() -> {
                        ByteBuf own = RpmaByteBufAllocator.DEFAULT.directBuffer(bytes).writeLong(bytes);
                        handedOver.add(RpmaByteBufAllocator.DEFAULT.directBuffer(bytes).writeLong(bytes));
                        own.release();
                        if (handedOver.size() > 32) {
                            handedOver.poll().release();
                        }
                        together.release();
                    });
                }
            }
            handedOver.forEach(ByteBuf::release);
        }

        /** Sends messages that such threads allocate and such threads release, with event loops in between. */
        private static void sendAndReceive(Threads threads) throws Exception {
            int bytes = 48 << 10;
            EventLoopGroup group = new RpmaEventLoopGroup(2);
            AtomicLong arrived = new AtomicLong();
            CountDownLatch all = new CountDownLatch(1);
            ExecutorService executor = threads.executor();
            // A message counts until its receiver has released it, also if the receiving threads get little processor time.
            // Otherwise the messages that wait for them could take all registered memory, and the next write would fail.
            Semaphore together = new Semaphore(32);
            @Sharable
            final class Receiver extends ChannelInboundHandlerAdapter {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    executor.execute(() -> {
                        int readable = ((ByteBuf) msg).readableBytes();
                        ((ByteBuf) msg).release();
                        long before = arrived.getAndAdd(readable);
                        long now = before + readable;
                        together.release((int) (now / bytes - before / bytes));
                        if (now == (long) TASKS * bytes) {
                            all.countDown();
                        }
                    });
                }
            }
            // A shared receive queue keeps some receives for future connections.
            Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class).childHandler(new Receiver())
                .option(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, false)
                .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            Channel client = new Bootstrap().group(group).channel(RpmaChannel.class)
                .option(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, false)
                .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
            for (int task = 0; task < TASKS; task++) {
                together.acquire();
                executor.execute(() -> client.writeAndFlush(client.alloc().directBuffer(bytes).writeZero(bytes))
                    .addListener(LimitedMain::endIfFailed));
            }
            all.await();
            executor.close();
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }

        /** Ends the program if a message could not be sent: it would wait for the message for ever. */
        private static void endIfFailed(Future<?> sent) {
            if (!sent.isSuccess()) {
                System.out.println("FAILED " + sent.cause());
                System.out.flush();
                Runtime.getRuntime().halt(1);
            }
        }

        /** Returns how many of the largest registered buffers can be allocated at once. */
        private static int largeBuffers() {
            List<ByteBuf> all = new ArrayList<>();
            int most = RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY;
            for (ByteBuf buf = RegisteredMemory.registered(most, most); buf != null;
                    buf = RegisteredMemory.registered(most, most)) {
                all.add(buf);
            }
            all.forEach(ByteBuf::release);
            return all.size();
        }
    }

    @ParameterizedTest
    @EnumSource(Threads.class)
    void allMemoryIsBackWhenTheThreadsHaveEnded(Threads threads) throws Exception {
        List<String> options = new ArrayList<>(ChildJvm.ordinary());
        options.add("-Dio.rpma.netty.maxRegisteredBytes=" + LIMIT);
        int whole = LIMIT / RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY;
        try (ChildJvm child = new ChildJvm(options, LimitedMain.class, threads.name())) {
            assertEquals("0", child.await("UNREGISTERED"));
            assertEquals("" + whole, child.await("ALLOCATED"));
            assertEquals("" + whole, child.await("EXCHANGED"));
        }
    }

    /** Runs an event loop on a plain thread. */
    static final class PlainLoopMain {
        private static final int BYTES = 50_000;

        private PlainLoopMain() {
        }

        public static void main(String... arguments) throws Exception {
            long used = RpmaByteBufAllocator.DEFAULT.usedBytes();
            EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, (ThreadFactory) Thread::new, RpmaIoHandler.newFactory());
            long[] addresses = new long[2];
            group.submit(() -> addresses[0] = allocateAndRelease(BYTES)).sync();
            AtomicReference<ByteBuf> elsewhere = new AtomicReference<>();
            Thread other = new Thread(() -> elsewhere.set(RpmaByteBufAllocator.DEFAULT.directBuffer(BYTES)));
            other.start();
            other.join();
            group.submit(() -> addresses[1] = allocateAndRelease(BYTES)).sync();
            System.out.println("SAME " + (addresses[0] == addresses[1]));
            System.out.println("SHARED " + (addresses[0] == elsewhere.get().memoryAddress()));
            elsewhere.get().release();
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
            System.out.println("KEPT " + (RpmaByteBufAllocator.DEFAULT.usedBytes() - used));
            System.exit(0);
        }
    }

    /** The threads of event loops cache buffers, regardless of who created the threads, and release them when they end. */
    @Test
    void anEventLoopOnAPlainThreadHasMagazinesOfItsOwn() throws Exception {
        try (ChildJvm child = new ChildJvm(ChildJvm.ordinary(), PlainLoopMain.class)) {
            assertEquals("true", child.await("SAME"));
            assertEquals("false", child.await("SHARED"));
            // The buffer that the other thread allocated is kept for all threads of that kind.
            assertEquals("" + (64 << 10), child.await("KEPT"));
        }
    }

    private static long allocateAndRelease(int bytes) {
        ByteBuf buf = RpmaByteBufAllocator.DEFAULT.directBuffer(bytes);
        long address = buf.memoryAddress();
        buf.release();
        return address;
    }
}
