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
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RpmaMetricsBinderTest {
    @Test
    void metersFollowTheCounters() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new RpmaMetricsBinder(Tags.of("service", "test")).bindTo(registry);
        double before = registry.get("rpma.bytes").tag("direction", "sent").functionCounter().count();

        EventLoopGroup group = new RpmaEventLoopGroup(1);
        CompletableFuture<Void> came = new CompletableFuture<>();
        Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object message) {
                    io.netty.util.ReferenceCountUtil.release(message);
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
        assertEquals(2, registry.get("rpma.channels").gauge().value());
        assertEquals(1, registry.get("rpma.loops").gauge().value());
        assertTrue(registry.get("rpma.memory").tag("state", "registered").gauge().value() > 0);
        assertTrue(registry.get("rpma.loop.turns").functionCounter().count() > 0);
        assertTrue(registry.get("rpma.completions").functionCounter().count() > 0);
        assertEquals(0, registry.get("rpma.completions.failed").tag("status", "RNR_RETRY_EXC_ERR").functionCounter().count());
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        assertEquals(0, registry.get("rpma.channels").gauge().value());
    }
}
