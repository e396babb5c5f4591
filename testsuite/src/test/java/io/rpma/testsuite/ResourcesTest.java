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
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.rpma.netty.RpmaByteBufAllocator;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests that closed connections leave no descriptor and no registered memory behind, however they were closed. */
@Timeout(120)
@Tag("many-queue-pairs")
class ResourcesTest {
    private static final int ROUNDS = 12;
    private static final int AT_ONCE = 25;
    private static final int BYTES = 40_000;
    /** The number of bytes that threads may keep in small buffers. It is far less than the receives of one connection. */
    private static final long MAGAZINES = 64 << 10;

    /**
     * Registered memory that is free is kept, so its amount is that of the worst round. If a loop is late, a round needs one or
     * two more slabs of 4 MiB than the first one, because more connections exist at the same time.
     */
    private static final long MOST_KEPT = 8 << 20;

    @Test
    void descriptorsAndRegisteredMemoryComeBack() throws Exception {
        round();
        // Descriptors that are opened once and kept are open by now.
        int descriptors = descriptors();
        long used = usedBytes();
        long registered = RpmaByteBufAllocator.DEFAULT.registeredBytes();
        for (int i = 0; i < ROUNDS; i++) {
            round();
        }
        // Memory that a peer may still have been writing to is released after the provider has been queried about it.
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (usedBytes() - used >= MAGAZINES && System.nanoTime() < deadline) {
            GlobalEventExecutor.INSTANCE.schedule(() -> { }, 10, TimeUnit.MILLISECONDS).sync();
        }
        long grown = usedBytes() - used;
        assertTrue(grown < MAGAZINES, () -> "registered memory in use has grown by " + grown + " bytes");
        long kept = RpmaByteBufAllocator.DEFAULT.registeredBytes() - registered;
        assertTrue(kept <= MOST_KEPT, () -> "registered memory has grown by " + kept + " bytes");
        assertTrue(descriptors() <= descriptors, () -> "descriptors, before: " + descriptors + ", now: " + open());
    }

    /**
     * Connects and echoes. Closes some connections in order and some by a reset, and leaves some open until their loop
     * terminates.
     */
    private static void round() throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(2);
        try {
            Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(new EchoHandler());
                    }
                }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            List<Channel> clients = new ArrayList<>();
            for (int i = 0; i < AT_ONCE; i++) {
                PatternChecker checker = new PatternChecker(BYTES);
                clients.add(new Bootstrap().group(group).channel(RpmaChannel.class)
                    .handler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            ch.pipeline().addLast(new PatternSender(BYTES, 5_000, () -> { }), checker);
                        }
                    }).connect(server.localAddress()).sync().channel());
                assertEquals(BYTES, checker.done().get(30, TimeUnit.SECONDS));
            }
            for (int i = 0; i < AT_ONCE; i++) {
                if (i % 3 == 0) {
                    clients.get(i).close().sync();
                } else if (i % 3 == 1) {
                    ((SocketChannelConfig) clients.get(i).config()).setSoLinger(0);
                    clients.get(i).close().sync();
                }
            }
        } finally {
            group.shutdownGracefully(0, 20, TimeUnit.SECONDS).sync();
        }
    }

    /** Returns the registered memory in use, without the free buffers that all threads share. */
    private static long usedBytes() {
        return RpmaByteBufAllocator.DEFAULT.usedBytes() - RpmaByteBufAllocator.DEFAULT.cachedBytes();
    }

    private static int descriptors() throws IOException {
        try (Stream<Path> list = Files.list(Path.of("/proc/self/fd"))) {
            return (int) list.count();
        }
    }

    private static List<String> open() {
        try (Stream<Path> list = Files.list(Path.of("/proc/self/fd"))) {
            return list.map(ResourcesTest::target).sorted().toList();
        } catch (IOException e) {
            return List.of(e.toString());
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "gone: " + descriptor;
        }
    }
}
