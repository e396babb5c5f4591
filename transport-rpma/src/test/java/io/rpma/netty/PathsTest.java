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

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.util.NetUtil;
import io.rpma.ConnectionRequest;
import io.rpma.MemoryUsage;
import io.rpma.Rpma;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.QueuePair;
import java.lang.foreign.ValueLayout;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests one listener that is reached over several paths, as far as this machine has them. Run with {@code
 * -Dio.rpma.provider=auto}.
 */
@Timeout(120)
class PathsTest {
    private final RpmaEventLoopGroup group = new RpmaEventLoopGroup(2);
    private final BlockingQueue<RpmaChannel> children = new LinkedBlockingQueue<>();

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static List<RpmaPath> all() {
        return Rpma.providers().stream().map(RpmaPath::of).toList();
    }

    private static Stream<RpmaPath> paths() {
        return all().stream();
    }

    private static Stream<RpmaPath> slowerPaths() {
        return all().stream().skip(1);
    }

    private static RpmaProvider provider(RpmaPath path) {
        return Rpma.providers().stream().filter(each -> RpmaPath.of(each) == path).findFirst().orElseThrow();
    }

    /** Returns the address of this host that a path uses. */
    private static InetAddress address(RpmaPath path) throws Exception {
        return provider(path).reachable(InetAddress.getLoopbackAddress());
    }

    private Channel listen(InetSocketAddress address, List<RpmaPath> paths) throws Exception {
        ServerBootstrap bootstrap = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInitializer<RpmaChannel>() {
                @Override
                protected void initChannel(RpmaChannel child) {
                    child.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelActive(ChannelHandlerContext ctx) {
                            children.add(child);
                        }

                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object data) {
                            ctx.writeAndFlush(data);
                        }
                    });
                }
            });
        if (paths != null) {
            bootstrap.option(RpmaChannelOption.RPMA_PATHS, paths);
        }
        return bootstrap.bind(address).sync().channel();
    }

    private Bootstrap client(List<RpmaPath> paths) {
        Bootstrap bootstrap = new Bootstrap().group(group).channel(RpmaChannel.class).handler(new ChannelInboundHandlerAdapter());
        return paths == null ? bootstrap : bootstrap.option(RpmaChannelOption.RPMA_PATHS, paths);
    }

    /** Returns the addresses of this host's network interfaces, without loopback and link-local addresses. */
    private static List<InetAddress> addressesForOthers() throws Exception {
        return NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
            .filter(each -> !each.isLoopbackAddress() && !each.isLinkLocalAddress()).toList();
    }

    private static int port(Channel server) {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    private static void expectEcho(Channel channel, int bytes) throws Exception {
        byte[] sent = new byte[bytes];
        new Random(bytes).nextBytes(sent);
        byte[] received = new byte[bytes];
        CompletableFuture<Void> all = new CompletableFuture<>();
        channel.pipeline().addLast(new SimpleChannelInboundHandler<ByteBuf>() {
            private int count;

            @Override
            protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) {
                int length = data.readableBytes();
                data.readBytes(received, count, length);
                count += length;
                if (count == bytes) {
                    ctx.pipeline().remove(this);
                    all.complete(null);
                }
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                all.completeExceptionally(cause);
            }
        });
        channel.writeAndFlush(Unpooled.wrappedBuffer(sent)).sync();
        all.get(30, TimeUnit.SECONDS);
        assertArrayEquals(sent, received);
    }

    @Test
    void allPathsLeadToOneListenerAtTheSameTime() throws Exception {
        int port = port(listen(new InetSocketAddress(0), all()));
        List<Channel> channels = new ArrayList<>();
        for (RpmaPath path : all()) {
            RpmaChannel channel = (RpmaChannel) client(List.of(path)).connect(address(path), port).sync().channel();
            assertEquals(path, channel.path());
            assertEquals(path, children.take().path());
            channels.add(channel);
        }
        for (Channel channel : channels) {
            for (int bytes : new int[] {1, 3000, 100_000, 5_000_000}) {
                expectEcho(channel, bytes);
            }
        }
    }

    /** Neither end configures its paths. */
    @Test
    void everyPathIsTakenByDefault() throws Exception {
        assumeTrue(all().size() > 1, "this machine has one path");
        int port = port(listen(new InetSocketAddress(0), null));
        for (RpmaPath path : all()) {
            expectEcho(client(List.of(path)).connect(address(path), port).sync().channel(), 1000);
            assertEquals(path, children.take().path());
        }
        assertEquals(all(), client(null).register().sync().channel().config().getOption(RpmaChannelOption.RPMA_PATHS));
        int byTcp = port(listen(new InetSocketAddress(0), List.of(RpmaPath.TCP)));
        RpmaChannel channel = (RpmaChannel) client(null).connect(address(RpmaPath.TCP), byTcp).sync().channel();
        assertEquals(RpmaPath.TCP, channel.path());
    }

    /** A server that is bound to a loopback address is only reachable from this host, as with TCP. */
    @Test
    void aServerOnALoopbackAddressIsForThisHost() throws Exception {
        assumeTrue(all().contains(RpmaPath.TCP), "TCP is none of the paths");
        int port = port(listen(new InetSocketAddress(NetUtil.LOCALHOST4, 0), null));
        expectEcho(client(List.of(RpmaPath.TCP)).connect(NetUtil.LOCALHOST4, port).sync().channel(), 1000);
        for (InetAddress address : addressesForOthers()) {
            for (RpmaPath path : all()) {
                Throwable failure = client(List.of(path)).connect(address, port).await().cause();
                assertInstanceOf(ConnectException.class, failure, () -> path + " to " + address);
            }
        }
    }

    @Test
    void aServerOnSeveralPathsHasNoDescriptorOfItsOwn() throws Exception {
        assumeTrue(all().size() > 1, "this machine has one path");
        Channel server = listen(new InetSocketAddress(0), null);
        RpmaRegion region = RpmaRegion.allocate(4096, MemoryUsage.READ_SRC);
        Throwable failure = assertThrows(IllegalArgumentException.class, () -> region.descriptor(server));
        assertTrue(failure.getMessage().contains("RPMA_PRIVATE_DATA_FACTORY"), failure::getMessage);
        region.release();
    }

    @Test
    void theBestPathIsTaken() throws Exception {
        int port = port(listen(new InetSocketAddress(0), all()));
        RpmaChannel channel = connectByAllPaths(port);
        RpmaChannel child = children.take();
        // On a busy machine the best path may answer after its head start, when another path may be taken.
        for (int i = 0; i < 50 && wasOvertaken(channel); i++) {
            channel.close().sync();
            child.closeFuture().sync();
            channel = connectByAllPaths(port);
            child = children.take();
        }
        assertEquals(Map.of(), channel.pathsNotTaken());
        assertEquals(all().getFirst(), channel.path());
        expectEcho(channel, 10_000);
        assertEquals(all().getFirst(), child.path());
        assertTrue(children.isEmpty());
    }

    private RpmaChannel connectByAllPaths(int port) throws Exception {
        return (RpmaChannel) client(all()).connect(InetAddress.getLoopbackAddress(), port).sync().channel();
    }

    private static boolean wasOvertaken(RpmaChannel channel) {
        return !channel.pathsNotTaken().isEmpty()
            && channel.pathsNotTaken().values().stream().allMatch(reason -> reason.startsWith("no answer within"));
    }

    /** The server does not have the better paths. The client detects this, and uses the best available path. */
    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("slowerPaths")
    void theNextPathIsTakenWhereTheBestIsNotThere(RpmaPath path) throws Exception {
        int port = port(listen(new InetSocketAddress(address(path), 0), List.of(path)));
        long before = System.nanoTime();
        // The time limit is far less than the timeout of an attempt.
        RpmaChannel channel = (RpmaChannel) client(all()).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 100_000)
            .connect(address(path), port).sync().channel();
        assertEquals(path, channel.path());
        assertTrue(System.nanoTime() - before < TimeUnit.SECONDS.toNanos(30));
        expectEcho(channel, 10_000);
        channel.close().sync();
        assertEquals(path, channel.path());
        assertTrue(channel.toString().contains(path.toString()), channel::toString);
        assertEquals(all().subList(0, all().indexOf(path)), List.copyOf(channel.pathsNotTaken().keySet()));
        assertTrue(channel.pathsNotTaken().values().stream().noneMatch(String::isBlank), channel.pathsNotTaken()::toString);
    }

    @Test
    void whereNobodyListensEveryPathSaysWhy() throws Exception {
        assumeTrue(all().size() > 1, "this machine has one path");
        Channel closed = listen(new InetSocketAddress(0), all());
        int port = port(closed);
        closed.close().sync();
        RpmaPath last = all().getLast();
        Throwable failure = assertThrows(ConnectException.class, () -> client(all()).connect(address(last), port).sync());
        for (RpmaPath path : all()) {
            assertTrue(failure.getMessage().contains(path + ": "), failure::getMessage);
        }
        assertTrue(failure.getMessage().startsWith("Connection refused by every path"), failure::getMessage);
        assertEquals(all().size(), failure.getCause().getSuppressed().length);
        RpmaChannel channel = (RpmaChannel) client(all()).connect(address(last), port).await().channel();
        assertEquals(all(), List.copyOf(channel.pathsNotTaken().keySet()));
        channel = (RpmaChannel) client(List.of(last)).connect(address(last), port).await().channel();
        assertEquals(List.of(last), List.copyOf(channel.pathsNotTaken().keySet()));
        assertTrue(channel.pathsNotTaken().get(last).startsWith("Connection refused"), channel.pathsNotTaken()::toString);
    }

    /** A path that is skipped without an attempt also has a reason. */
    @Test
    void whatIsNotAskedSaysWhy() throws Exception {
        assumeTrue(all().size() > 1, "this machine has one path");
        PathChoice elsewhere = new PathChoice(List.of(RpmaPath.values()), InetAddress.getByName("192.0.2.1"));
        assertEquals("192.0.2.1 is not an address of this host", elsewhere.notTaken(RpmaPath.TCP).get(RpmaPath.SHARED_MEMORY));
        if (!all().contains(RpmaPath.RDMA)) {
            assertEquals(Rpma.unavailabilityCause().getMessage(), elsewhere.notTaken(RpmaPath.TCP).get(RpmaPath.RDMA));
        }
        assertEquals(Map.of(), elsewhere.notTaken(RpmaPath.SHARED_MEMORY));
        RpmaChannel unconnected = new RpmaChannel();
        assertEquals(Map.of(), unconnected.pathsNotTaken());
        unconnected.unsafe().closeForcibly();
    }

    @Test
    void aPortThatIsTakenOnOnePathIsTaken() throws Exception {
        assumeTrue(all().size() > 1, "this machine has one path");
        RpmaPath last = all().getLast();
        Channel taking = listen(new InetSocketAddress(address(last), 0), List.of(last));
        int port = port(taking);
        assertThrows(BindException.class, () -> listen(new InetSocketAddress(port), all()));
        // Nothing is left on the paths on which the port was free.
        taking.close().sync();
        assertEquals(port, port(listen(new InetSocketAddress(port), all())));
    }

    /**
     * An iWARP device listens on a TCP port of its address, which the other paths need themselves. The server is reached by the
     * other paths then, whatever their order. No client tries the device where the server does not listen on it, because Linux
     * crashes (testsuite/softroce/README.md).
     */
    @Test
    @Tag("iwarp")
    void anIwarpDeviceLeavesThePortToTheOtherPaths() throws Exception {
        assumeTrue(all().contains(RpmaPath.RDMA) && provider(RpmaPath.RDMA).localDevice(address(RpmaPath.RDMA)).isIwarp(),
            "no iWARP device");
        for (List<RpmaPath> paths : List.of(all(), List.of(RpmaPath.RDMA, RpmaPath.TCP),
                List.of(RpmaPath.RDMA, RpmaPath.SHARED_MEMORY))) {
            for (InetAddress address : List.of(new InetSocketAddress(0).getAddress(), address(RpmaPath.RDMA))) {
                Channel server = listen(new InetSocketAddress(address, 0), paths);
                RpmaPath other = paths.getLast();
                Channel channel = client(List.of(other)).connect(address(RpmaPath.RDMA), port(server)).sync().channel();
                assertEquals(other, children.take().path());
                expectEcho(channel, 10_000);
                server.close().sync();
            }
        }
        int port = port(listen(new InetSocketAddress(0), List.of(RpmaPath.RDMA)));
        RpmaChannel channel = (RpmaChannel) client(List.of(RpmaPath.RDMA)).connect(address(RpmaPath.RDMA), port).sync().channel();
        assertEquals(RpmaPath.RDMA, channel.path());
        expectEcho(channel, 10_000);
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("paths")
    void oneSidedOperationsTakeTheConnectionsPath(RpmaPath path) throws Exception {
        int port = port(listen(new InetSocketAddress(0), all()));
        Channel channel = client(List.of(path)).connect(address(path), port).sync().channel();
        RpmaRegion region = RpmaRegion.allocate(4096, MemoryUsage.READ_SRC, MemoryUsage.WRITE_DST);
        RpmaRemoteRegion remote = RpmaRemoteRegion.open(region.descriptor(children.take()));
        ByteBuf data = RpmaByteBufAllocator.DEFAULT.directBuffer(64).writeLong(42).writeZero(56);
        channel.writeAndFlush(RpmaOperation.write(data, remote.retain(), 128)).sync();
        assertEquals(42, region.memory().get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), 128));
        remote.release();
        region.release();
    }

    @Test
    void whatCannotBeUsedIsNamed() {
        RpmaChannel channel = new RpmaChannel();
        assertThrows(IllegalArgumentException.class,
            () -> channel.config().setOption(RpmaChannelOption.RPMA_PATHS, List.of()));
        assertThrows(IllegalArgumentException.class,
            () -> channel.config().setOption(RpmaChannelOption.RPMA_PATHS, List.of(RpmaPath.TCP, RpmaPath.TCP)));
        assertThrows(IllegalArgumentException.class, () -> Paths.parse("shared-memory,pigeon"));
        assertThrows(IllegalArgumentException.class, () -> Paths.parse("tcp,tcp"));
        assertEquals(List.of(RpmaPath.TCP, RpmaPath.RDMA), Paths.parse("tcp, rdma"));
        assertNull(channel.path());
        channel.unsafe().closeForcibly();
        for (RpmaPath path : RpmaPath.values()) {
            if (!all().contains(path)) {
                Throwable failure = client(List.of(path)).connect(InetAddress.getLoopbackAddress(), 1).awaitUninterruptibly()
                    .cause();
                assertTrue(failure.getMessage().contains(path.toString()), failure::getMessage);
            }
        }
    }

    /** The channel stays usable: another attempt is not refused because of an earlier attempt that never began. */
    @Test
    void anAttemptWithoutAUsablePathLeavesTheChannelAsItWas() throws Exception {
        List<RpmaPath> missing = Stream.of(RpmaPath.values()).filter(each -> !all().contains(each)).toList();
        assumeFalse(missing.isEmpty(), "this process has every path");
        Channel server = listen(new InetSocketAddress(address(all().getFirst()), 0), null);
        RpmaChannel channel = new RpmaChannel();
        channel.config().setOption(RpmaChannelOption.RPMA_PATHS, missing);
        channel.config().setConnectTimeoutMillis(100);
        group.register(channel).sync();
        for (int i = 0; i < 2; i++) {
            Throwable cause = channel.connect(server.localAddress()).await().cause();
            assertInstanceOf(IllegalArgumentException.class, cause);
        }
        // The timeout of the first attempt must not close the channel either.
        assertFalse(channel.closeFuture().await(200, TimeUnit.MILLISECONDS));
        channel.config().setOption(RpmaChannelOption.RPMA_PATHS, all());
        channel.config().setConnectTimeoutMillis(30_000);
        channel.connect(server.localAddress()).sync();
        assertTrue(channel.isActive());
    }

    /** A server that can make only its first connection, and any number of connections on the last path. */
    private static final class FailingServer extends AbstractRpmaServerChannel {
        private static final int ENOMEM = 12;

        private final int errno;
        private final ChannelConfig config = new DefaultChannelConfig(this);
        private final DeclaredOptions declared = new DeclaredOptions();
        private final MessageOptions options = new MessageOptions(
            new MessageOptions.Declarations(declared, ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA), new OptionValues(declared));

        FailingServer(int errno) {
            this.errno = errno;
        }

        @Override
        public ChannelConfig config() {
            return config;
        }

        @Override
        int backlog() {
            return 128;
        }

        @Override
        List<RpmaPath> paths() {
            return all();
        }

        @Override
        NextChild newNext(Fabric fabric, boolean first) throws RpmaException {
            RpmaPath path = RpmaPath.of(fabric.provider());
            if (!first && path != all().getLast()) {
                throw new RpmaException(RpmaError.PROVIDER, errno, "no further one on " + path, null);
            }
            MessageSizes sizes = options.sizes(fabric.limits());
            return new NextChild(fabric, sizes.newConfig(fabric, REQUEST_TIMEOUT_MILLIS)) {
                @Override
                QueuePair accept(ConnectionRequest request) throws RpmaException {
                    return MessageQueuePair.accept(fabric, sizes, request, ByteBuffer.allocate(0));
                }

                @Override
                Admission admit(ConnectionRequest request) {
                    throw new UnsupportedOperationException();
                }

                @Override
                void release() {
                    // Only the configuration was created for the child.
                }
            };
        }

        @Override
        AbstractRpmaChannel newChild(QueuePair pair) {
            return new RpmaMessageChannel(this, (MessageQueuePair) pair);
        }
    }

    private ChannelFuture connectMessages(RpmaPath path, int port) throws Exception {
        return connectMessagesLater(path, port).await();
    }

    private ChannelFuture connectMessagesLater(RpmaPath path, int port) throws Exception {
        return new Bootstrap().group(group).channel(RpmaMessageChannel.class).handler(new ChannelInboundHandlerAdapter())
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 30_000).option(RpmaChannelOption.RPMA_PATHS, List.of(path))
            .connect(address(path), port);
    }

    private Channel bindFailing(int errno, BlockingQueue<Throwable> failures) throws InterruptedException {
        assumeTrue(all().size() > 1, "this machine has one path");
        return new ServerBootstrap().group(group).channelFactory(() -> new FailingServer(errno))
            .handler(new ChannelInboundHandlerAdapter() {
                @Override
                public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    failures.add(cause);
                }
            }).childHandler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress(0)).sync().channel();
    }

    @Test
    void aPathOnWhichNoConnectionCanBeMadeDoesNotStopTheOthers() throws Exception {
        BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        Channel server = bindFailing(0, failures);
        RpmaPath failing = all().getFirst();
        connectMessages(failing, port(server)).sync();
        assertEquals("no further one on " + failing, failures.poll(30, TimeUnit.SECONDS).getMessage());
        for (int i = 0; i < 3; i++) {
            connectMessages(all().getLast(), port(server)).sync();
        }
        failures.clear();
        assertInstanceOf(ConnectException.class, connectMessages(failing, port(server)).cause());
        assertEquals("no further one on " + failing, failures.poll(30, TimeUnit.SECONDS).getMessage());
    }

    /** A lack of memory may be temporary, so the endpoint pauses and tries again as long as its client waits. */
    @Test
    void aPathThatLacksMemoryDoesNotStopTheOthers() throws Exception {
        BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        Channel server = bindFailing(FailingServer.ENOMEM, failures);
        RpmaPath failing = all().getFirst();
        connectMessages(failing, port(server)).sync();
        ChannelFuture waiting = connectMessagesLater(failing, port(server));
        assertEquals("no further one on " + failing, failures.poll(30, TimeUnit.SECONDS).getMessage());
        for (int i = 0; i < 3; i++) {
            connectMessages(all().getLast(), port(server)).sync();
        }
        waiting.channel().close().sync();
    }
}
