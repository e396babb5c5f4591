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
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import io.rpma.netty.pair.OpenPairs;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that a server without free file descriptors pauses, logs this once, and accepts the waiting clients when descriptors are
 * free again.
 */
@Timeout(90)
class FileLimitTest {
    private static final int LIMIT = 256;
    private static final int CLIENTS = 5;
    /**
     * More time than two attempts need, which is less than 100 ms even on a busy machine. In the same two seconds, an event loop
     * that spins uses far more.
     */
    private static final long MAX_CPU_MILLIS = 500;

    private final RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** A server that opens files until only as many descriptors are free as its argument says, and closes them on request. */
    static final class Server {
        private Server() {
        }

        public static void main(String... arguments) throws Exception {
            RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
            AtomicInteger exceptions = new AtomicInteger();
            AtomicInteger children = new AtomicInteger();
            ChannelInboundHandlerAdapter child = new ChannelInboundHandlerAdapter() {
                @Override
                public boolean isSharable() {
                    return true;
                }

                @Override
                public void channelActive(ChannelHandlerContext ctx) {
                    System.out.println("CHILD " + children.incrementAndGet());
                }
            };
            Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                        exceptions.incrementAndGet();
                        System.out.println("EXCEPTION " + cause.getMessage());
                    }
                }).childHandler(child).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            InetSocketAddress bound = (InetSocketAddress) server.localAddress();
            // The first connection loads the classes that connections need, because loading them needs descriptors too.
            new Bootstrap().group(group).channel(RpmaChannel.class).handler(new ChannelInboundHandlerAdapter())
                .connect(bound).sync().channel().close().sync();
            long thread = group.next().submit(() -> Thread.currentThread().threadId()).get();
            ThreadMXBean times = ManagementFactory.getThreadMXBean();
            times.getThreadCpuTime(thread);
            loadClasses();
            // Both ends release their descriptors.
            OpenPairs.awaitOpen(0);
            Semaphore pauses = new Semaphore(0);
            RpmaMetrics.accepts().onPause(pauses::release);
            List<FileInputStream> files = new ArrayList<>();
            try {
                while (true) {
                    files.add(new FileInputStream("/dev/null"));
                }
            } catch (IOException e) {
                for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
                    files.removeLast().close();
                }
                System.out.println("FULL " + bound.getAddress().getHostAddress() + " " + bound.getPort());
            }
            pauses.acquire();
            long before = times.getThreadCpuTime(thread);
            pauses.acquire(2);
            System.out.println("CPU " + TimeUnit.NANOSECONDS.toMillis(times.getThreadCpuTime(thread) - before));
            BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            orders.readLine();
            for (FileInputStream file : files) {
                file.close();
            }
            orders.readLine();
            System.out.println("EXCEPTIONS " + exceptions.get());
            System.exit(0);
        }

        /** Loads classes in advance. Loading a class from a directory, instead of a jar, needs a descriptor. */
        static void loadClasses() throws IOException {
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
                Path root = Path.of(entry);
                if (Files.isDirectory(root)) {
                    try (Stream<Path> files = Files.walk(root)) {
                        files.map(file -> root.relativize(file).toString()).filter(name -> name.endsWith(".class"))
                            .forEach(Server::load);
                    }
                }
            }
        }

        private static void load(String file) {
            try {
                Class.forName(file.substring(0, file.length() - ".class".length()).replace('/', '.'), false,
                    Server.class.getClassLoader());
            } catch (ClassNotFoundException | LinkageError e) {
                // The class is not needed here.
                return;
            }
        }
    }

    /** Some descriptors are enough for some clients, and there may be a rest that is not enough for a further one. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void aServerWithoutDescriptorsPausesAndLosesNoClient(int free) throws Exception {
        List<String> limiting = List.of("bash", "-c", "ulimit -n " + LIMIT + " && exec \"$@\"", "limited");
        try (ChildJvm child = new ChildJvm(limiting, ChildJvm.ordinary(), Server.class, "" + free)) {
            String[] address = child.await("FULL").split(" ");
            Bootstrap bootstrap = new Bootstrap().group(group).channel(RpmaChannel.class)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 60_000);
            List<ChannelFuture> connects = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                connects.add(bootstrap.clone().handler(new ChannelInboundHandlerAdapter())
                    .connect(new InetSocketAddress(address[0], Integer.parseInt(address[1]))));
            }
            String said = child.await("EXCEPTION");
            assertTrue(said.contains("ulimit -n") && said.contains("" + LIMIT), said);
            long millis = Long.parseLong(child.await("CPU"));
            assertTrue(millis < MAX_CPU_MILLIS, () -> "the loop used " + millis + " ms of a processor in two pauses");
            for (ChannelFuture connect : connects) {
                assertTrue(!connect.isDone() || free > 0 && connect.isSuccess(), () -> "not waiting: " + connect);
            }
            child.tell("go on");
            for (ChannelFuture connect : connects) {
                connect.sync();
            }
            child.tell("end");
            // The exception is reported once, although the server has paused three times.
            assertEquals("1", child.await("EXCEPTIONS"));
        }
    }
}
