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
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.util.NetUtil;
import io.rpma.MemoryUsage;
import io.rpma.Rpma;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Registered memory is locked, and the amount of memory that a process may lock is limited. The promise or the call that needed
 * the memory reports that the limit has been reached. Requires librpma, because soft does not lock registered memory.
 */
@Timeout(120)
class LockedMemoryTest {
    private static final int ATTEMPTS = 64;

    private EventLoopGroup group;
    private Channel stream;
    private Channel message;

    @BeforeEach
    void start() throws Exception {
        assumeTrue(Rpma.provider().name().equals("librpma"), "soft locks no memory");
        assumeTrue(!isRoot() || Files.isExecutable(Path.of("/usr/bin/setpriv")), "root has no limit without setpriv(1)");
        group = new RpmaEventLoopGroup(1);
        InetSocketAddress anyPort = new InetSocketAddress(NetUtil.LOCALHOST, 0);
        stream = server(group, RpmaServerChannel.class, new Reports("")).bind(anyPort).sync().channel();
        message = server(group, RpmaMessageServerChannel.class, new Reports("")).bind(anyPort).sync().channel();
    }

    @AfterEach
    void stop() {
        if (group != null) {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private static ServerBootstrap server(EventLoopGroup group, Class<? extends ServerChannel> kind, Reports reports) {
        return new ServerBootstrap().group(group).channel(kind).handler(reports).childHandler(new Reports(""));
    }

    private static Bootstrap client(EventLoopGroup group, Class<? extends Channel> kind) {
        return new Bootstrap().group(group).channel(kind).handler(new Reports(""));
    }

    /** Prints the failures of a channel if this handler has a name. */
    @Sharable
    private static final class Reports extends ChannelInboundHandlerAdapter {
        private final String name;

        Reports(String name) {
            this.name = name;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (name.isEmpty()) {
                ctx.close();
            } else {
                say(name, cause);
            }
        }
    }

    private static void say(String what, Throwable failure) {
        StringBuilder words = new StringBuilder(what);
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            words.append(" | ").append(cause);
        }
        System.out.println(words.append(failure == null ? " ok" : ""));
    }

    /** A program with limited memory. Its arguments are a host, and the ports of a stream server and of a message server. */
    static final class LimitedMain {
        private LimitedMain() {
        }

        public static void main(String... arguments) throws Exception {
            EventLoopGroup group = new RpmaEventLoopGroup(1);
            InetSocketAddress anyPort = new InetSocketAddress(NetUtil.LOCALHOST, 0);
            ChannelFuture streams = server(group, RpmaServerChannel.class, new Reports("ACCEPT")).bind(anyPort).await();
            say("BIND", streams.cause());
            ChannelFuture messages = server(group, RpmaMessageServerChannel.class, new Reports("")).bind(anyPort).await();
            say("BIND", messages.cause());
            if (streams.isSuccess()) {
                InetSocketAddress bound = (InetSocketAddress) streams.channel().localAddress();
                System.out.println("PORT " + bound.getAddress().getHostAddress() + " " + bound.getPort());
                // The region is larger than the lockable memory. Existing connections are not affected.
                RpmaRegion region = RpmaRegion.allocate(64 << 20, MemoryUsage.READ_SRC);
                try {
                    region.descriptor(messages.channel());
                    say("REGION", null);
                } catch (Exception e) {
                    say("REGION", e);
                }
                region.release();
                // Waits until the other end has made enough connections to exhaust the memory of this process.
                System.in.read();
            }
            say("CONNECT", connectUntilItFails(client(group, RpmaChannel.class), arguments[0], arguments[1]));
            say("CONNECT", connectUntilItFails(client(group, RpmaMessageChannel.class), arguments[0], arguments[2]));
            System.exit(0);
        }

        private static Throwable connectUntilItFails(Bootstrap client, String host, String port) throws Exception {
            return LockedMemoryTest.connectUntilItFails(client, new InetSocketAddress(host, Integer.parseInt(port)));
        }
    }

    /**
     * Connects until a connection fails, and keeps the connections open. Returns the failure, or {@code null} if there was none.
     */
    private static Throwable connectUntilItFails(Bootstrap client, InetSocketAddress server) throws InterruptedException {
        List<Channel> open = new ArrayList<>();
        Throwable failure = null;
        while (failure == null && open.size() < ATTEMPTS) {
            ChannelFuture connect = client.connect(server).await();
            failure = connect.cause();
            open.add(connect.channel());
        }
        return failure;
    }

    private ChildJvm limited(int kibibytes) throws Exception {
        InetSocketAddress streams = (InetSocketAddress) stream.localAddress();
        InetSocketAddress messages = (InetSocketAddress) message.localAddress();
        List<String> limiting = new ArrayList<>();
        if (isRoot()) {
            limiting.addAll(List.of("setpriv", "--inh-caps=-ipc_lock", "--bounding-set=-ipc_lock"));
        }
        limiting.addAll(List.of("bash", "-c", "ulimit -l " + kibibytes + " && exec \"$@\"", "limited"));
        return new ChildJvm(limiting, ChildJvm.ordinary(), LimitedMain.class, streams.getAddress().getHostAddress(),
            "" + streams.getPort(), "" + messages.getPort());
    }

    private static void assertNamesTheLimit(String said, int kibibytes) {
        assertTrue(said.contains("this process may lock " + kibibytes * 1024L + " bytes in total (ulimit -l)"), said);
        assertTrue(said.contains("/etc/security/limits.conf"), said);
    }

    /** There is not even enough memory for what a server or a client needs first. */
    @Test
    void bindsAndConnectsAreTold() throws Exception {
        try (ChildJvm child = limited(64)) {
            assertNamesTheLimit(child.await("BIND"), 64);
            assertNamesTheLimit(child.await("BIND"), 64);
            assertNamesTheLimit(child.await("CONNECT"), 64);
            assertNamesTheLimit(child.await("CONNECT"), 64);
        }
    }

    /** There is enough memory at first, but not for this many connections, nor for a region of this size. */
    @Test
    void acceptsAndRegionsAreTold() throws Exception {
        try (ChildJvm child = limited(6 << 10)) {
            assertEquals("ok", child.await("BIND"));
            assertEquals("ok", child.await("BIND"));
            String[] port = child.await("PORT").split(" ");
            assertNamesTheLimit(child.await("REGION"), 6 << 10);
            Throwable refused = connectUntilItFails(client(group, RpmaChannel.class),
                new InetSocketAddress(port[0], Integer.parseInt(port[1])));
            assertTrue(refused.getMessage().contains("refused"), refused::toString);
            assertNamesTheLimit(child.await("ACCEPT"), 6 << 10);
            child.tell("go on");
            assertNamesTheLimit(child.await("CONNECT"), 6 << 10);
            assertNamesTheLimit(child.await("CONNECT"), 6 << 10);
        }
    }
}
