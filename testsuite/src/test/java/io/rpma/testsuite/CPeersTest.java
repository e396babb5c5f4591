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
package io.rpma.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.rpma.FlushType;
import io.rpma.MemoryUsage;
import io.rpma.Rpma;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaMessage;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.netty.RpmaMessageServerChannel;
import io.rpma.netty.RpmaOperation;
import io.rpma.netty.RpmaRegion;
import io.rpma.netty.RpmaRemoteRegion;
import io.rpma.netty.RpmaSharedReceiveQueue;
import io.rpma.netty.RpmaWritten;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Tests message channels against an ordinary C program that uses librpma, {@code src/test/c/peer.c}, in both roles. */
@Timeout(120)
class CPeersTest {
    private static final int CONNECTIONS = 3;
    private static final int RECEIVES = 16;

    private static Path folder;
    private static Path program;

    private EventLoopGroup group;
    private RpmaRegion memory;
    private Process peer;

    @BeforeAll
    static void compile() throws Exception {
        assumeTrue(Rpma.provider().name().equals("librpma"), "C programs can only be peers with real librpma");
        assumeTrue(Files.exists(Path.of("/usr/include/librpma.h")) && Files.exists(Path.of("/usr/include/infiniband/verbs.h")),
            "librpma-dev and libibverbs-dev are not installed");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "gcc is not installed");
        folder = Files.createTempDirectory("c-peers");
        program = folder.resolve("peer");
        Process gcc = new ProcessBuilder("/usr/bin/gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-o",
            program.toString(), System.getProperty("basedir", ".") + "/src/test/c/peer.c", "-lrpma", "-libverbs")
            .redirectErrorStream(true).start();
        String output = new String(gcc.getInputStream().readAllBytes());
        assertEquals(0, gcc.waitFor(), output);
    }

    @AfterAll
    static void delete() throws IOException {
        if (folder != null) {
            Files.deleteIfExists(program);
            Files.delete(folder);
        }
    }

    @BeforeEach
    void start() throws Exception {
        group = new RpmaEventLoopGroup(1);
        memory = RpmaRegion.allocate(4096, MemoryUsage.values());
        for (int i = 0; i < 1024; i++) {
            memory.memory().set(ValueLayout.JAVA_BYTE, 1024 + i, (byte) (3 * i));
        }
    }

    @AfterEach
    void stop() {
        if (peer != null) {
            peer.destroyForcibly();
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        memory.release();
    }

    // ---- the Java side of each scenario ----

    /** One connection as seen by a program that executes one step after another. */
    private static final class Side extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<Object> read = new LinkedBlockingQueue<>();
        private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        private volatile RpmaMessageChannel channel;
        private RpmaRemoteRegion remote;

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            channel = (RpmaMessageChannel) ctx.channel();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            read.add(msg);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failures.add(cause);
        }

        void write(Object message) throws InterruptedException {
            channel.writeAndFlush(message).sync();
        }

        void send(long number) throws InterruptedException {
            write(Unpooled.buffer().writeLongLE(number));
        }

        Object next() throws InterruptedException {
            Object message = read.poll(30, TimeUnit.SECONDS);
            assertNotNull(message, () -> "no message came; failures: " + failures);
            return message;
        }

        private static long number(ByteBuf message) {
            assertEquals(8, message.readableBytes());
            long number = message.readLongLE();
            message.release();
            return number;
        }

        long receive() throws InterruptedException {
            return number(assertInstanceOf(ByteBuf.class, next()));
        }

        long receive(int immediate) throws InterruptedException {
            RpmaMessage message = assertInstanceOf(RpmaMessage.class, next());
            assertEquals(immediate, message.immediate());
            return number(message.content());
        }
    }

    /** The scenarios, under the names that the C program uses. */
    enum Scenario {
        PING {
            @Override
            void client(Side side) throws Exception {
                for (long i = 0; i < 1000; i++) {
                    side.send(i);
                    assertEquals(i + 1, side.receive());
                }
            }

            @Override
            void server(Side side, RpmaRegion memory) throws Exception {
                for (long i = 0; i < 1000; i++) {
                    assertEquals(i, side.receive());
                    side.send(i + 1);
                }
            }
        },
        IMMEDIATE {
            @Override
            void client(Side side) throws Exception {
                side.write(new RpmaMessage(Unpooled.buffer().writeLongLE(77), 0x81223344));
                assertEquals(78, side.receive(0x81223345));
                side.write(RpmaOperation.writeWithImmediate(Unpooled.buffer().writeLongLE(99), side.remote, 64, 5));
                assertEquals(99, side.receive());
            }

            @Override
            void server(Side side, RpmaRegion memory) throws Exception {
                assertEquals(77, side.receive(0x81223344));
                side.write(new RpmaMessage(Unpooled.buffer().writeLongLE(78), 0x81223345));
                assertEquals(new RpmaWritten(5, 8), side.next());
                side.send(memory.memory().get(ValueLayout.JAVA_LONG, 64));
            }
        },
        READ {
            @Override
            void client(Side side) throws Exception {
                ByteBuf bytes = Unpooled.buffer(1024);
                side.write(RpmaOperation.read(side.remote, 1024, 1024, bytes));
                for (int i = 0; i < 1024; i++) {
                    assertEquals((byte) (3 * i), bytes.getByte(i));
                }
                side.send(1);
                assertEquals(2, side.receive());
            }

            @Override
            void server(Side side, RpmaRegion memory) throws Exception {
                assertEquals(1, side.receive());
                side.send(2);
            }
        },
        WRITE_FLUSH {
            @Override
            void client(Side side) throws Exception {
                ByteBuf bytes = Unpooled.buffer(512);
                for (int i = 0; i < 512; i++) {
                    bytes.writeByte(5 * i);
                }
                side.channel.write(RpmaOperation.write(bytes, side.remote, 2048));
                side.write(RpmaOperation.flush(side.remote, 2048, 512, FlushType.VISIBILITY));
                side.send(1);
                assertEquals(2, side.receive());
            }

            @Override
            void server(Side side, RpmaRegion memory) throws Exception {
                assertEquals(1, side.receive());
                for (int i = 0; i < 512; i++) {
                    assertEquals((byte) (5 * i), memory.memory().get(ValueLayout.JAVA_BYTE, 2048 + i));
                }
                side.send(2);
            }
        },
        ATOMIC_APPEND {
            @Override
            void client(Side side) throws Exception {
                for (long k = 1; k <= 100; k++) {
                    ByteBuf record = Unpooled.buffer().writeLongLE(k * 1_000_003);
                    side.channel.write(RpmaOperation.write(record, side.remote, 2048 + 8 * k));
                    side.channel.write(RpmaOperation.flush(side.remote, 2048 + 8 * k, 8, FlushType.VISIBILITY));
                    side.write(RpmaOperation.atomicWrite(side.remote, 0, k));
                }
                side.send(1);
                assertEquals(2, side.receive());
            }

            @Override
            void server(Side side, RpmaRegion memory) throws Exception {
                assertEquals(1, side.receive());
                assertEquals(100, memory.memory().get(ValueLayout.JAVA_LONG, 0));
                for (long k = 1; k <= 100; k++) {
                    assertEquals(k * 1_000_003, memory.memory().get(ValueLayout.JAVA_LONG, 2048 + 8 * k));
                }
                side.send(2);
            }
        },
        /** Several connections that share their receives at both ends. */
        SRQ {
            @Override
            void client(Side side) {
                throw new UnsupportedOperationException("this scenario has more than one connection");
            }

            @Override
            void server(Side side, RpmaRegion memory) throws Exception {
                for (int i = 0; i < 100; i++) {
                    side.send(side.receive() + 1);
                }
            }
        };

        abstract void client(Side side) throws Exception;

        abstract void server(Side side, RpmaRegion memory) throws Exception;

        String argument() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        int connections() {
            return this == SRQ ? CONNECTIONS : 1;
        }
    }

    private static void clients(List<Side> sides) throws Exception {
        for (int i = 0; i < 100; i++) {
            for (int c = 0; c < sides.size(); c++) {
                sides.get(c).send(1000L * c + i);
            }
            for (int c = 0; c < sides.size(); c++) {
                assertEquals(1000L * c + i + 1, sides.get(c).receive());
            }
        }
    }

    // ---- the two roles ----

    private static String host() throws IOException {
        return Rpma.provider().reachable(InetAddress.getLoopbackAddress()).getHostAddress();
    }

    private BufferedReader run(String role, int port, Scenario scenario) throws IOException {
        peer = new ProcessBuilder(program.toString(), role, host(), "" + port, scenario.argument())
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        return peer.inputReader();
    }

    private void ended(BufferedReader output) throws Exception {
        assertEquals("done", output.readLine(), "the C program failed; see its error output");
        assertTrue(peer.waitFor(30, TimeUnit.SECONDS));
        assertEquals(0, peer.exitValue());
    }

    @ParameterizedTest
    @EnumSource
    void aCClientPlaysWithAJavaServer(Scenario scenario) throws Exception {
        BlockingQueue<Side> accepted = new LinkedBlockingQueue<>();
        ServerBootstrap bootstrap = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    Side side = new Side();
                    ch.pipeline().addLast(side);
                    accepted.add(side);
                }
            });
        RpmaSharedReceiveQueue shared = new RpmaSharedReceiveQueue(RECEIVES, 64);
        if (scenario == Scenario.SRQ) {
            bootstrap.option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, shared);
        }
        Channel server = bootstrap.bind(new InetSocketAddress(host(), 0)).sync().channel();
        server.config().setOption(RpmaChannelOption.RPMA_PRIVATE_DATA, memory.descriptor(server));
        BufferedReader output = run("client", ((InetSocketAddress) server.localAddress()).getPort(), scenario);
        List<Thread> serving = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        List<Side> sides = new ArrayList<>();
        for (int i = 0; i < scenario.connections(); i++) {
            Side side = accepted.poll(30, TimeUnit.SECONDS);
            assertNotNull(side, "the C program has not connected");
            sides.add(side);
            serving.add(Thread.ofPlatform().start(() -> {
                try {
                    scenario.server(side, memory);
                } catch (Throwable e) {
                    synchronized (failures) {
                        failures.add(e);
                    }
                }
            }));
        }
        for (Thread thread : serving) {
            thread.join();
        }
        assertEquals(List.of(), failures);
        ended(output);
        for (Side side : sides) {
            assertTrue(side.channel.closeFuture().await(30, TimeUnit.SECONDS));
            assertEquals(List.of(), List.copyOf(side.failures));
        }
        server.close().sync();
        shared.release();
        assertEquals(0, shared.refCnt());
    }

    @ParameterizedTest
    @EnumSource
    void aCServerServesAJavaClient(Scenario scenario) throws Exception {
        int port = ThreadLocalRandom.current().nextInt(20_000, 30_000);
        BufferedReader output = run("server", port, scenario);
        assertEquals("listening", output.readLine(), "the C program failed; see its error output");
        RpmaSharedReceiveQueue shared = new RpmaSharedReceiveQueue(RECEIVES, 64);
        List<Side> sides = new ArrayList<>();
        for (int i = 0; i < scenario.connections(); i++) {
            Side side = new Side();
            Bootstrap bootstrap = new Bootstrap().group(group).channel(RpmaMessageChannel.class).handler(side);
            if (scenario == Scenario.SRQ) {
                bootstrap.option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, shared);
            }
            bootstrap.connect(host(), port).sync();
            side.remote = RpmaRemoteRegion.open(side.channel.peerPrivateData());
            sides.add(side);
        }
        if (scenario == Scenario.SRQ) {
            clients(sides);
        } else {
            scenario.client(sides.getFirst());
        }
        for (Side side : sides) {
            side.channel.close().sync();
            side.remote.release();
            assertEquals(List.of(), List.copyOf(side.failures));
        }
        ended(output);
        shared.release();
        assertEquals(0, shared.refCnt());
    }
}
