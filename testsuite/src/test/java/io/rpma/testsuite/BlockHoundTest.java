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
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.util.NetUtil;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.blockhound.BlockHound;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * Tests that BlockHound, which reactive applications run in their tests, finds no blocking call on a thread that must not block.
 */
@Timeout(180)
class BlockHoundTest {
    private static final String RESULT = "blocking calls: ";

    @ParameterizedTest
    @EnumSource(names = {"RPMA", "EPOLL"})
    void noThreadBlocksThatMustNot(TestTransport transport) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            // BlockHound needs these options on current JVMs.
            "-XX:+AllowRedefinitionToAddDeleteMethods", "-XX:+EnableDynamicAgentLoading",
            "--enable-native-access=ALL-UNNAMED", "-Xmx256m", "-XX:TieredStopAtLevel=1"));
        String provider = System.getProperty("io.rpma.provider");
        if (provider != null) {
            command.add("-Dio.rpma.provider=" + provider);
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Watched.class.getName(), transport.name()));
        Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, child.waitFor(), said);
            int result = said.lastIndexOf(RESULT);
            assertEquals("1 on purpose, 0 others", said.substring(result + RESULT.length()).strip(), said);
        } finally {
            child.destroyForcibly();
        }
    }

    /** The program that is checked: it binds, connects, sends and receives with pauses, closes, and is refused. */
    static final class Watched {
        private static final int MESSAGES = 200;
        private static final Queue<String> FOUND = new ConcurrentLinkedQueue<>();

        private Watched() {
        }

        public static void main(String[] arguments) throws Exception {
            BlockHound.install(builder -> builder.blockingMethodCallback(method -> {
                StringWriter trace = new StringWriter();
                new Error(Thread.currentThread() + ": " + method).printStackTrace(new PrintWriter(trace, true));
                FOUND.add(trace.toString());
            }));
            TestTransport transport = TestTransport.valueOf(arguments[0]);
            EventLoopGroup group = transport.newGroup(2, "watched");
            // This call must be found, which shows that BlockHound works.
            group.next().submit(() -> {
                Thread.sleep(1);
                return null;
            }).sync();
            int onPurpose = FOUND.size();
            FOUND.clear();
            talk(transport, group);
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
            FOUND.forEach(System.out::println);
            System.out.println(RESULT + onPurpose + " on purpose, " + FOUND.size() + " others");
            System.exit(0);
        }

        private static void talk(TestTransport transport, EventLoopGroup group) throws Exception {
            ChannelFuture bound = new ServerBootstrap().group(group).channel(transport.serverChannel())
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel child) {
                        child.pipeline().addLast(new EchoHandler());
                    }
                }).bind(new InetSocketAddress(NetUtil.LOCALHOST4, 0)).sync();
            CompletableFuture<Void> done = new CompletableFuture<>();
            Bootstrap bootstrap = new Bootstrap().group(group).channel(transport.channel()).handler(new Pinger(done));
            Channel client = bootstrap.connect(bound.channel().localAddress()).sync().channel();
            done.get(60, TimeUnit.SECONDS);
            client.close().sync();
            bound.channel().close().sync();
            // The listener is closed, so the connect is refused.
            ChannelFuture refused = bootstrap.handler(new ChannelInboundHandlerAdapter()).connect(bound.channel().localAddress())
                .await();
            if (!(refused.cause() instanceof IOException)) {
                throw new AssertionError("not refused", refused.cause());
            }
        }
    }

    /** Repeatedly sends and receives a byte, sometimes after a pause in which the loops become idle. */
    private static final class Pinger extends SimpleChannelInboundHandler<ByteBuf> {
        private final CompletableFuture<Void> done;
        private int sent;

        Pinger(CompletableFuture<Void> done) {
            this.done = done;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ping(ctx);
        }

        private void ping(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(ctx.alloc().buffer(1).writeByte(sent++));
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) {
            if (sent == Watched.MESSAGES) {
                done.complete(null);
            } else if (sent % 20 == 0) {
                ctx.executor().schedule(() -> ping(ctx), 5, TimeUnit.MILLISECONDS);
            } else {
                ping(ctx);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            done.completeExceptionally(cause);
        }
    }
}
