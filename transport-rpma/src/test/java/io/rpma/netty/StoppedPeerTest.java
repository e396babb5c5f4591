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
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ServerChannel;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import io.rpma.MemoryUsage;
import io.rpma.Rpma;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Tests a process that is stopped while it writes to memory of this process. The memory is not used for anything else until the
 * process has continued or died, however long that takes, and no event loop waits for it.
 */
@Timeout(300)
@Isolated("the memory that waits for other processes is counted for the whole process")
class StoppedPeerTest {
    private static final int LARGE = 1 << 20;
    /** The number of bytes that are allocated after the close, far more than the connection had. */
    private static final int ALLOCATED = 64 << 20;
    /**
     * A time that is far less than any wait for the other process, and far more than a busy machine takes without such a wait.
     */
    private static final long AT_ONCE_NANOS = 30_000_000_000L;
    /** A time for the delivery of data to the other process that is far more than the limit. */
    private static final int LINGER_SECONDS = 60;

    /** The interval at which conditions without a notification are checked. */
    private static final long LOOK_NANOS = 1_000_000;

    private RpmaEventLoopGroup group;
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();

    /** The kind of memory to which the other process writes when it stops. */
    enum Memory {
        OWN_RECEIVE,
        SHARED_RECEIVE,
        BULK_AREA,
        MESSAGE_RECEIVE,
        SHARED_MESSAGE_RECEIVE
    }

    @BeforeEach
    void start() {
        assumeTrue(Rpma.provider().name().equals("soft"), "a device does not stop together with the process that uses it");
        group = new RpmaEventLoopGroup(1);
    }

    @AfterEach
    void stop() {
        if (group != null) {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    /** The process that stops itself. Its arguments are {@code ADDRESS PORT message|stream send|write}. */
    static final class StoppingClient {
        public static void main(String[] arguments) throws Exception {
            boolean messages = arguments[2].equals("message");
            boolean sends = arguments[3].equals("send");
            stopIn(sends, 3);
            Channel channel = new Bootstrap().group(new RpmaEventLoopGroup(1))
                .channel(messages ? RpmaMessageChannel.class : RpmaChannel.class)
                .handler(new Writing(messages ? 1024 : LARGE))
                .connect(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]))).sync().channel();
            channel.closeFuture().sync();
            System.out.println("CLOSED");
            System.in.read();
        }

        /**
         * Stops this process during the given copy of a send or of a write. The process goes on when it is continued and a line
         * is written to its standard input.
         */
        private static void stopIn(boolean send, int count) throws ReflectiveOperationException {
            String[] before = {""};
            int[] left = {count};
            Consumer<String> hook = place -> {
                boolean here = place.equals("copying") && before[0].equals(send ? "taken" : "executing");
                before[0] = place;
                if (here && --left[0] == 0) {
                    try {
                        new ProcessBuilder("kill", "-STOP", String.valueOf(ProcessHandle.current().pid())).start().waitFor();
                        System.in.read();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }
            };
            Method setter = Class.forName("io.rpma.soft.Faults").getDeclaredMethod("hook", Consumer.class);
            setter.setAccessible(true);
            setter.invoke(null, hook);
        }
    }

    /** Writes bytes of the value 7 without end. It also writes to the region of each descriptor that it receives. */
    private static final class Writing extends ChannelInboundHandlerAdapter {
        private final byte[] data;

        Writing(int bytes) {
            data = new byte[bytes];
            java.util.Arrays.fill(data, (byte) 7);
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            write(ctx);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            write(ctx);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
            ByteBuf buf = (ByteBuf) msg;
            RpmaRemoteRegion region = RpmaRemoteRegion.open(buf);
            buf.release();
            for (int i = 0; i < 4; i++) {
                ctx.writeAndFlush(RpmaOperation.write(Unpooled.copiedBuffer(data), region, 0));
            }
        }

        private void write(ChannelHandlerContext ctx) {
            while (ctx.channel().isWritable()) {
                ctx.writeAndFlush(Unpooled.wrappedBuffer(data));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    private static ChildJvm stopping(Channel server, boolean message, boolean send) throws IOException {
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        List<String> options = new ArrayList<>(ChildJvm.ordinary());
        options.add("-Dio.rpma.soft.faults=true");
        return new ChildJvm(options, StoppingClient.class, address.getAddress().getHostAddress(),
            String.valueOf(address.getPort()), message ? "message" : "stream", send ? "send" : "write");
    }

    private static void awaitStop(ChildJvm child) throws IOException {
        while (!Files.readString(Path.of("/proc/" + child.pid() + "/stat")).contains(") T ")) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    private static void goOn(ChildJvm child) throws Exception {
        new ProcessBuilder("kill", "-CONT", String.valueOf(child.pid())).start().waitFor();
        child.tell("go on");
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    private ServerBootstrap bootstrap(Class<? extends ServerChannel> type, ChannelInboundHandlerAdapter handler) {
        return new ServerBootstrap().group(group).channel(type)
            .childHandler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(handler);
                    accepted.add(channel);
                }
            });
    }

    private static Channel bind(ServerBootstrap bootstrap) throws InterruptedException {
        return bootstrap.bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
    }

    private static final class Dropping extends ChannelInboundHandlerAdapter {
        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ReferenceCountUtil.release(msg);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    private static final class Echoing extends ChannelInboundHandlerAdapter {
        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg);
        }
    }

    /** Closes the channel, and checks that the loop can run its next task soon. */
    private void closeAtOnce(Channel channel) throws Exception {
        lingerForLong(channel);
        long start = System.nanoTime();
        channel.close().sync();
        group.submit(() -> { }).get();
        long took = System.nanoTime() - start;
        assertTrue(took < AT_ONCE_NANOS, "the loop was blocked for " + took + " ns");
    }

    private static void lingerForLong(Channel channel) {
        if (channel instanceof RpmaChannel stream) {
            stream.config().setSoLinger(LINGER_SECONDS);
        }
    }

    private List<ByteBuf> allocate(int bytes) throws Exception {
        // This runs on the loop, because the memory that the loop has released is in its own magazines.
        return group.submit(() -> {
            List<ByteBuf> buffers = new ArrayList<>();
            for (int i = 0; i < ALLOCATED / bytes; i++) {
                buffers.add(RpmaByteBufAllocator.DEFAULT.directBuffer(bytes).writeZero(bytes));
            }
            return buffers;
        }).get();
    }

    private void assertUntouched(List<ByteBuf> buffers) throws Exception {
        group.submit(() -> {
            for (ByteBuf buf : buffers) {
                assertEquals(-1, buf.forEachByte(value -> value == 0), "another process has written to this buffer");
                buf.release();
            }
            return null;
        }).get();
    }

    @ParameterizedTest
    @CsvSource({"OWN_RECEIVE,false", "OWN_RECEIVE,true", "SHARED_RECEIVE,false", "SHARED_RECEIVE,true", "BULK_AREA,false",
        "BULK_AREA,true", "MESSAGE_RECEIVE,false", "SHARED_MESSAGE_RECEIVE,false"})
    void memoryIsNotUsedBeforeTheOtherProcessHasLeftIt(Memory memory, boolean kill) throws Exception {
        boolean message = memory == Memory.MESSAGE_RECEIVE || memory == Memory.SHARED_MESSAGE_RECEIVE;
        ServerBootstrap bootstrap =
            bootstrap(message ? RpmaMessageServerChannel.class : RpmaServerChannel.class, new Dropping());
        RpmaSharedReceiveQueue queue = null;
        switch (memory) {
            case OWN_RECEIVE, SHARED_RECEIVE -> bootstrap.option(RpmaChannelOption.RPMA_BULK_BYTES, 0)
                .option(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, memory == Memory.SHARED_RECEIVE)
                // With that many receives, a shared queue is not kept for the next connection.
                .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 100);
            case SHARED_MESSAGE_RECEIVE -> {
                queue = new RpmaSharedReceiveQueue(8, 1024);
                bootstrap.option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, queue);
            }
            case MESSAGE_RECEIVE -> bootstrap.option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, 1024);
            default -> { }
        }
        RpmaSharedReceiveQueue shared = queue;
        Channel server = bind(bootstrap);
        try (ChildJvm child = stopping(server, message, memory != Memory.BULK_AREA)) {
            awaitStop(child);
            closeAtOnce(accepted.take());
            if (shared != null) {
                // This runs on the loop as well, for the reason that is given in allocate().
                group.submit(() -> shared.release()).get();
            }
            await(() -> RpmaMetrics.limboBytes() > 0);
            List<ByteBuf> buffers = allocate(message ? 1024 : memory == Memory.BULK_AREA ? LARGE : 64 << 10);
            assertTrue(RpmaMetrics.limboBytes() > 0);
            if (kill) {
                child.kill();
            } else {
                goOn(child);
            }
            await(() -> RpmaMetrics.limboBytes() == 0);
            assertUntouched(buffers);
        } finally {
            server.close().sync();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRegionIsFreeWhenTheOtherProcessHasLeftIt(boolean kill) throws Exception {
        Channel server = bind(bootstrap(RpmaServerChannel.class, new Dropping())
            .option(RpmaChannelOption.RPMA_BULK_BYTES, 0));
        RpmaRegion region = RpmaRegion.allocate(LARGE, MemoryUsage.WRITE_DST);
        RpmaRegion other = RpmaRegion.allocate(LARGE, MemoryUsage.WRITE_DST);
        try (ChildJvm child = stopping(server, false, false)) {
            Channel channel = accepted.take();
            other.descriptor(channel);
            channel.writeAndFlush(Unpooled.wrappedBuffer(region.descriptor(channel)));
            awaitStop(child);
            long start = System.nanoTime();
            region.release();
            other.release();
            long took = System.nanoTime() - start;
            assertTrue(took < AT_ONCE_NANOS, "took " + took + " ns");
            assertTrue(other.freeFuture().isSuccess());
            boolean inRegion = !region.freeFuture().isDone();
            closeAtOnce(channel);
            if (kill) {
                child.kill();
            } else {
                goOn(child);
            }
            region.freeFuture().sync();
            assertTrue(inRegion, "the other process stopped in another place");
            await(() -> RpmaMetrics.limboBytes() == 0);
        } finally {
            server.close().sync();
        }
    }

    /** While three processes are stopped and their channels are closed, another connection on the same loop is served. */
    @Test
    void theLoopGoesOn() throws Exception {
        Channel server = bind(bootstrap(RpmaServerChannel.class, new Dropping()));
        Channel echo = bind(bootstrap(RpmaServerChannel.class, new Echoing()));
        BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
        RpmaEventLoopGroup clients = new RpmaEventLoopGroup(1);
        List<ChildJvm> children = new ArrayList<>();
        try {
            Channel neighbour = new Bootstrap().group(clients).channel(RpmaChannel.class)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        ReferenceCountUtil.release(msg);
                        answers.add(msg);
                    }
                }).connect(echo.localAddress()).sync().channel();
            Channel ofNeighbour = accepted.take();
            List<Channel> stopped = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                children.add(stopping(server, false, i != 0));
                stopped.add(accepted.take());
                awaitStop(children.get(i));
            }
            for (Channel channel : stopped) {
                lingerForLong(channel);
                channel.close();
                long start = System.nanoTime();
                neighbour.writeAndFlush(Unpooled.copyInt(1));
                answers.take();
                long took = System.nanoTime() - start;
                assertTrue(took < AT_ONCE_NANOS, "the neighbour's answer took " + took + " ns");
            }
            await(() -> RpmaMetrics.limboBytes() > 0);
            closeAtOnce(ofNeighbour);
            children.forEach(ChildJvm::kill);
            await(() -> RpmaMetrics.limboBytes() == 0);
        } finally {
            children.forEach(ChildJvm::close);
            clients.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
            server.close().sync();
            echo.close().sync();
        }
    }
}
