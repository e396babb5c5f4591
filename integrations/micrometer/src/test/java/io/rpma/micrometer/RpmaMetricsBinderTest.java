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
package io.rpma.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.search.MeterNotFoundException;
import io.micrometer.core.instrument.search.RequiredSearch;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.util.ReferenceCountUtil;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.netty.RpmaMessageServerChannel;
import io.rpma.netty.RpmaServerChannel;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class RpmaMetricsBinderTest {
    @Test
    void metersFollowTheCounters() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new RpmaMetricsBinder(Tags.of("service", "test")).bindTo(registry);
        double before = registry.get("rpma.bytes").tag("direction", "sent").functionCounter().count();
        double acceptedBefore = registry.get("rpma.accepts").tag("result", "established").functionCounter().count();

        EventLoopGroup group = new RpmaEventLoopGroup(1);
        CompletableFuture<Void> came = new CompletableFuture<>();
        Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object message) {
                    ReferenceCountUtil.release(message);
                    came.complete(null);
                }
            }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        Channel client = new Bootstrap().group(group).channel(RpmaChannel.class).handler(new ChannelInboundHandlerAdapter())
            .connect(server.localAddress()).sync().channel();
        client.writeAndFlush(Unpooled.directBuffer().writeZero(1_000)).sync();
        came.get(30, TimeUnit.SECONDS);
        client.eventLoop().submit(() -> { }).sync();

        assertEquals(1_000, registry.get("rpma.bytes").tag("direction", "sent").tag("service", "test").functionCounter().count()
            - before);
        assertEquals(1_000, registry.get("rpma.bytes").tag("direction", "received").functionCounter().count() - before);
        assertEquals(acceptedBefore + 1, registry.get("rpma.accepts").tag("result", "established").functionCounter().count());
        for (String result : List.of("refused", "failed", "unanswered")) {
            assertEquals(0, registry.get("rpma.accepts").tag("result", result).functionCounter().count());
        }
        assertEquals(0, registry.get("rpma.accept.pauses").functionCounter().count());
        assertEquals(2, registry.get("rpma.channels").gauge().value());
        assertEquals(1, registry.get("rpma.loops").gauge().value());
        assertTrue(registry.get("rpma.memory").tag("state", "registered").gauge().value() > 0);
        assertEquals(0, registry.get("rpma.memory.limbo").tag("service", "test").gauge().value());
        assertTrue(registry.get("rpma.memory.cached").tag("service", "test").gauge().value() >= 0);
        assertTrue(registry.get("rpma.memory.receives.surplus").tag("service", "test").gauge().value() >= 0);
        assertTrue(registry.get("rpma.loop.turns").functionCounter().count() > 0);
        assertTrue(registry.get("rpma.completions").functionCounter().count() > 0);
        assertEquals(0, registry.get("rpma.completions.failed").tag("status", "RNR_RETRY_EXC_ERR").functionCounter().count());
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        assertEquals(0, registry.get("rpma.channels").gauge().value());
    }

    /** A monitoring system takes the fall of a counter for a restart of the process, and then calculates a wrong rate. */
    @Test
    void theCountersOfTheLoopsDoNotFallWhenAGroupEnds() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new RpmaMetricsBinder().bindTo(registry);
        double loopsBefore = registry.get("rpma.loops").gauge().value();
        EventLoopGroup stays = new RpmaEventLoopGroup(1);
        EventLoopGroup ends = new RpmaEventLoopGroup(1);
        for (EventLoopGroup group : List.of(stays, ends)) {
            for (int i = 0; i < 100; i++) {
                group.submit(() -> { }).sync();
            }
        }
        assertEquals(loopsBefore + 2, registry.get("rpma.loops").gauge().value());
        List<String> names = List.of("rpma.loop.turns", "rpma.loop.blocks", "rpma.loop.spins", "rpma.loop.spins.paid",
            "rpma.loop.yields", "rpma.loop.pauses", "rpma.loop.completions");
        List<Double> before = names.stream().map(name -> registry.get(name).functionCounter().count()).toList();
        assertTrue(before.getFirst() > 0);
        ends.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        assertEquals(loopsBefore + 1, registry.get("rpma.loops").gauge().value());
        for (int i = 0; i < names.size(); i++) {
            double after = registry.get(names.get(i)).functionCounter().count();
            assertTrue(after >= before.get(i), names.get(i) + " fell from " + before.get(i) + " to " + after);
        }
        stays.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    /**
     * Two connections of one process have separate meters, which are removed from the registry when the connections have ended.
     */
    @Test
    void aChannelHasMetersOfItsOwnWhenItIsAskedFor() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        CountDownLatch came = new CountDownLatch(2);
        Channel server = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .childHandler(new ChannelInitializer<RpmaMessageChannel>() {
                @Override
                protected void initChannel(RpmaMessageChannel channel) {
                    new RpmaChannelMetricsBinder(channel, Tags.of("end", "server")).bindTo(registry);
                    channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object message) {
                            ReferenceCountUtil.release(message);
                            came.countDown();
                        }
                    });
                }
            }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        Bootstrap bootstrap = new Bootstrap().group(group).channel(RpmaMessageChannel.class)
            .handler(new ChannelInboundHandlerAdapter() {
                @Override
                public boolean isSharable() {
                    return true;
                }
            });
        RpmaMessageChannel[] clients = new RpmaMessageChannel[2];
        for (int i = 0; i < 2; i++) {
            clients[i] = (RpmaMessageChannel) bootstrap.connect(server.localAddress()).sync().channel();
            new RpmaChannelMetricsBinder(clients[i], Tags.of("end", "client")).bindTo(registry);
            clients[i].writeAndFlush(Unpooled.directBuffer().writeZero(100 << i)).sync();
        }
        assertTrue(came.await(30, TimeUnit.SECONDS));
        group.next().submit(() -> { }).sync();
        for (int i = 0; i < 2; i++) {
            assertTrue(clients[i].id().asLongText().endsWith(clients[i].id().asShortText()), "the documentation says so");
            assertEquals(100 << i, sent(registry, clients[i]).functionCounter().count());
        }
        assertEquals(300, registry.get("rpma.channel.bytes").tags("end", "server", "direction", "received").functionCounters()
            .stream().mapToDouble(FunctionCounter::count).sum());
        clients[0].close().sync();
        assertThrows(MeterNotFoundException.class, () -> sent(registry, clients[0]).meter());
        assertEquals(200, sent(registry, clients[1]).functionCounter().count());
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        assertEquals(List.of(), registry.getMeters());
    }

    private static RequiredSearch sent(SimpleMeterRegistry registry, Channel channel) {
        // The short text has only 32 bits, so that two channels may have the same.
        return registry.get("rpma.channel.bytes").tags("channel", channel.id().asLongText(), "direction", "sent");
    }
}
