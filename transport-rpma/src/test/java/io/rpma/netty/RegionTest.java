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
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.NetUtil;
import io.rpma.FlushType;
import io.rpma.MemoryUsage;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.netty.ConnectedChannels.Kind;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests regions of memory of each origin, including memory of another process, and of a process that dies. */
@Timeout(120)
class RegionTest {
    private static final Path TMPFS = Path.of("/dev/shm");
    private static final int SIZE = 64 << 10;

    private RpmaEventLoopGroup group;

    @BeforeEach
    void start() {
        group = new RpmaEventLoopGroup(1);
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** A server whose private data is the descriptor of a file's memory. It posts one receive and reads no message. */
    static final class FileServer {
        public static void main(String[] arguments) throws Exception {
            RpmaRegion region;
            try (FileChannel file = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                region = RpmaRegion.map(file, 0, SIZE, MemoryUsage.READ_SRC, MemoryUsage.WRITE_DST,
                    MemoryUsage.FLUSH_VISIBILITY);
            }
            Channel listener = new ServerBootstrap().group(new RpmaEventLoopGroup(1)).channel(RpmaMessageServerChannel.class)
                .option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1).childOption(ChannelOption.AUTO_READ, false)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelInactive(ChannelHandlerContext ctx) {
                        System.exit(0);
                    }
                }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            listener.config().setOption(RpmaChannelOption.RPMA_PRIVATE_DATA, region.descriptor(listener));
            InetSocketAddress address = (InetSocketAddress) listener.localAddress();
            System.out.println("LISTENING " + address.getAddress().getHostAddress() + " " + address.getPort());
            listener.closeFuture().sync();
        }
    }

    private RpmaMessageChannel connect(ChildJvm server) throws Exception {
        String[] address = server.await("LISTENING").split(" ");
        return (RpmaMessageChannel) new Bootstrap().group(group).channel(RpmaMessageChannel.class)
            .handler(new ChannelInboundHandlerAdapter())
            .connect(new InetSocketAddress(address[0], Integer.parseInt(address[1]))).sync().channel();
    }

    private static Path tmpfsFile() throws IOException {
        Path file = Files.createTempFile(TMPFS, "rpma-region", null);
        file.toFile().deleteOnExit();
        return file;
    }

    /** Reading memory that has been unmapped would end the process. */
    @Test
    void theMemoryOfAFreedRegionIsNotReturned() throws Exception {
        RpmaRegion region = RpmaRegion.allocate(64, MemoryUsage.READ_SRC);
        assertEquals(64, region.memory().byteSize());
        region.release();
        assertThrows(IllegalReferenceCountException.class, region::memory);
        assertEquals(64, region.size());
    }

    /** A cancelled future would say that the memory is not accessed any more, and the region could not be freed. */
    @Test
    void theFutureOfARegionCannotBeCancelled() throws Exception {
        RpmaRegion region = RpmaRegion.allocate(64, MemoryUsage.READ_SRC);
        assertFalse(region.freeFuture().cancel(true));
        assertFalse(region.freeFuture().isDone());
        assertTrue(region.release());
        region.freeFuture().sync();
    }

    /** Data that was written to a file's memory in another process is in the file after that process was killed. */
    @Test
    void aFilesMemoryOutlivesItsProcess() throws Exception {
        Path path = tmpfsFile();
        try (ChildJvm child = new ChildJvm(ChildJvm.ordinary(), FileServer.class, path.toString())) {
            RpmaMessageChannel channel = connect(child);
            RpmaRemoteRegion remote = RpmaRemoteRegion.open(channel.peerPrivateData());
            assertEquals(SIZE, remote.size());
            channel.write(RpmaOperation.write(Unpooled.copyLong(1, 2, 3), remote, 8));
            channel.write(RpmaOperation.flush(remote, 8, 24, FlushType.VISIBILITY));
            channel.writeAndFlush(RpmaOperation.atomicWrite(remote, 0, Long.MAX_VALUE)).sync();
            var back = Unpooled.buffer(8);
            channel.writeAndFlush(RpmaOperation.read(remote, 16, 8, back)).sync();
            assertEquals(2, back.readLong());
            remote.release();
            child.kill();
            assertTrue(channel.closeFuture().await(20, TimeUnit.SECONDS));
        }
        ByteBuffer content = ByteBuffer.wrap(Files.readAllBytes(path));
        Files.delete(path);
        assertEquals(Long.MAX_VALUE, content.order(ByteOrder.nativeOrder()).getLong(0));
        assertEquals(3, content.order(ByteOrder.BIG_ENDIAN).getLong(24));
    }

    /** Operations of each kind that are under way when the peer dies fail their own promises, and release their region. */
    @ParameterizedTest
    @ValueSource(strings = {"send", "read", "write", "write with immediate", "atomic write", "flush"})
    void theDeathOfThePeerFailsTheOperation(String kind) throws Exception {
        Path path = tmpfsFile();
        RpmaRegion here = RpmaRegion.allocate(64, MemoryUsage.WRITE_SRC, MemoryUsage.READ_DST);
        try (ChildJvm child = new ChildJvm(ChildJvm.ordinary(), FileServer.class, path.toString())) {
            RpmaMessageChannel channel = connect(child);
            RpmaRemoteRegion remote = RpmaRemoteRegion.open(channel.peerPrivateData());
            // This message takes the only receive. The next one finds none, and what follows it waits with it.
            channel.writeAndFlush(Unpooled.copyInt(1)).sync();
            ChannelFuture stalled = channel.writeAndFlush(Unpooled.copyInt(2));
            ChannelFuture underWay = channel.writeAndFlush(switch (kind) {
                case "send" -> Unpooled.copyInt(3);
                case "read" -> RpmaOperation.read(remote, 0, 64, here, 0);
                case "write" -> RpmaOperation.write(here, 0, 64, remote, 0);
                case "write with immediate" -> RpmaOperation.writeWithImmediate(here, 0, 64, remote, 0, 1);
                case "atomic write" -> RpmaOperation.atomicWrite(remote, 0, 1);
                default -> RpmaOperation.flush(remote, 0, 8, FlushType.VISIBILITY);
            });
            channel.eventLoop().submit(() -> { }).sync();
            assertFalse(stalled.isDone());
            assertFalse(underWay.isDone());
            child.kill();
            for (ChannelFuture future : List.of(stalled, underWay)) {
                assertTrue(future.await(20, TimeUnit.SECONDS));
                assertInstanceOf(IOException.class, future.cause());
            }
            assertTrue(channel.closeFuture().await(20, TimeUnit.SECONDS));
            remote.release();
            assertEquals(0, remote.refCnt());
        } finally {
            Files.delete(path);
        }
        here.release();
        assertEquals(0, here.refCnt());
    }

    /** A server of streams that prints the descriptor of its memory. */
    static final class StreamServer {
        public static void main(String[] arguments) throws Exception {
            Channel listener = new ServerBootstrap().group(new RpmaEventLoopGroup(1)).channel(RpmaServerChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync()
                .channel();
            RpmaRegion region = RpmaRegion.allocate(SIZE, Usages.all());
            InetSocketAddress address = (InetSocketAddress) listener.localAddress();
            System.out.println("LISTENING " + address.getAddress().getHostAddress() + " " + address.getPort() + " "
                + HexFormat.of().formatHex(region.descriptor(listener).array()));
            listener.closeFuture().sync();
        }
    }

    /**
     * An operation on a stream that is written after the peer's death fails, whether the channel has noticed the death or not.
     */
    @ParameterizedTest
    @ValueSource(strings = {"read", "write", "atomic write", "flush"})
    void theDeathOfAStreamsPeerFailsTheOperation(String kind) throws Exception {
        RpmaRegion here = RpmaRegion.allocate(64, MemoryUsage.WRITE_SRC, MemoryUsage.READ_DST);
        try (ChildJvm child = new ChildJvm(ChildJvm.ordinary(), StreamServer.class)) {
            String[] told = child.await("LISTENING").split(" ");
            Channel channel = new Bootstrap().group(group).channel(RpmaChannel.class).handler(new ChannelInboundHandlerAdapter())
                .connect(new InetSocketAddress(told[0], Integer.parseInt(told[1]))).sync().channel();
            RpmaRemoteRegion remote = RpmaRemoteRegion.open(ByteBuffer.wrap(HexFormat.of().parseHex(told[2])));
            channel.writeAndFlush(RpmaOperation.write(here, 0, 64, remote, 0)).sync();
            child.kill();
            ChannelFuture future = channel.writeAndFlush(switch (kind) {
                case "read" -> RpmaOperation.read(remote, 0, 64, here, 0);
                case "write" -> RpmaOperation.write(here, 0, 64, remote, 0);
                case "atomic write" -> RpmaOperation.atomicWrite(remote, 0, 1);
                default -> RpmaOperation.flush(remote, 0, 8, FlushType.VISIBILITY);
            });
            assertTrue(future.await(20, TimeUnit.SECONDS));
            assertInstanceOf(IOException.class, future.cause());
            assertTrue(channel.closeFuture().await(20, TimeUnit.SECONDS));
            remote.release();
            assertEquals(0, remote.refCnt());
        }
        here.release();
        assertEquals(0, here.refCnt());
    }

    /** Tests memory of the application in the same process. */
    @Test
    void memoryOfAnyOriginIsReached() throws Exception {
        try (Arena arena = Arena.ofShared(); ConnectedChannels channels = new ConnectedChannels(group, Kind.MESSAGES)) {
            MemorySegment memory = arena.allocate(4096, 8);
            RpmaRegion region = RpmaRegion.of(memory, MemoryUsage.WRITE_DST, MemoryUsage.READ_SRC);
            RpmaRemoteRegion remote = RpmaRemoteRegion.open(region.descriptor(channels.server));
            channels.client.writeAndFlush(RpmaOperation.atomicWrite(remote, 4088, 7)).sync();
            assertEquals(7, memory.get(ValueLayout.JAVA_LONG, 4088));
            assertEquals(remote.usages(), region.usages());
            remote.release();
            region.release();
            assertThrows(IllegalArgumentException.class,
                () -> RpmaRegion.of(MemorySegment.ofArray(new byte[8]), MemoryUsage.WRITE_DST));
            assertThrows(IllegalArgumentException.class, () -> RpmaRegion.of(memory.asSlice(0, 0), MemoryUsage.WRITE_DST));
            assertThrows(IllegalArgumentException.class, () -> RpmaRegion.of(memory));
        }
    }

    /** Only persistent memory can be registered for flushes to persistence. */
    @Test
    void anOrdinaryFileIsNotPersistentMemory() throws Exception {
        Path path = tmpfsFile();
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            IOException refused = assertThrows(IOException.class,
                () -> RpmaRegion.map(file, 0, SIZE, MemoryUsage.WRITE_DST, MemoryUsage.FLUSH_PERSISTENT));
            assertTrue(refused.getMessage().contains("FLUSH_VISIBILITY"), refused.getMessage());
            assertThrows(IllegalArgumentException.class, () -> RpmaRegion.map(file, -1, SIZE, MemoryUsage.WRITE_DST));
            assertThrows(IllegalArgumentException.class, () -> RpmaRegion.map(file, 0, 0, MemoryUsage.WRITE_DST));
        }
        try (FileChannel readOnly = FileChannel.open(path, StandardOpenOption.READ)) {
            assertThrows(Exception.class, () -> RpmaRegion.map(readOnly, 0, SIZE, MemoryUsage.WRITE_DST));
        }
        Files.delete(path);
    }

    /** Since Linux 6.5 a device cannot pin the page cache of an ordinary filesystem. The registration fails in that case. */
    @Test
    void aFileOfAnyFilesystemIsReachedOrRefused() throws Exception {
        Path path = Files.createTempFile("rpma-region", null);
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
                ConnectedChannels channels = new ConnectedChannels(group, Kind.MESSAGES)) {
            RpmaRegion region = RpmaRegion.map(file, 4096, 5000, MemoryUsage.WRITE_DST);
            ByteBuffer descriptor;
            try {
                descriptor = region.descriptor(channels.server);
            } catch (RpmaException e) {
                assertFalse(Rpma.provider().name().equals("soft"), e.getMessage());
                region.release();
                return;
            }
            RpmaRemoteRegion remote = RpmaRemoteRegion.open(descriptor);
            channels.client.writeAndFlush(RpmaOperation.write(Unpooled.copyLong(42), remote, 4992)).sync();
            remote.release();
            region.release();
            ByteBuffer read = ByteBuffer.allocate(8);
            file.read(read, 4096 + 4992);
            assertEquals(42, read.flip().getLong());
        } finally {
            Files.delete(path);
        }
    }

    /**
     * The release of an operation releases its region while an event loop handles completions. A listener could close channels
     * and have other completions handled in between.
     */
    @Test
    void listenersAreNotCalledByTheReleaseItself() throws Exception {
        RpmaRegion region = RpmaRegion.allocate(SIZE, MemoryUsage.WRITE_SRC);
        CompletableFuture<Thread> listening = new CompletableFuture<>();
        region.freeFuture().addListener(freed -> listening.complete(Thread.currentThread()));
        region.release();
        assertTrue(region.freeFuture().isSuccess());
        assertNotSame(Thread.currentThread(), listening.get(20, TimeUnit.SECONDS));
    }
}
