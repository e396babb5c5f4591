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
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.NetUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests what a channel reports about itself when it is shut down or closed. It is the same as with TCP. */
@Timeout(60)
class ChannelStateTest {
    private final CompletableFuture<SocketChannel> accepted = new CompletableFuture<>();
    private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
    private EventLoopGroup group;
    private SocketChannel client;

    private void connect(TestTransport transport) throws Exception {
        group = transport.newGroup(1, "channel-state");
        Channel server = new ServerBootstrap().group(group).channel(transport.serverChannel())
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true).childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel child) {
                    child.pipeline().addLast(new Recorder());
                    accepted.complete(child);
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST4, 0)).sync().channel();
        client = (SocketChannel) new Bootstrap().group(group).channel(transport.channel())
            .option(ChannelOption.ALLOW_HALF_CLOSURE, true).handler(new ChannelInboundHandlerAdapter())
            .connect(server.localAddress()).sync().channel();
        accepted.get(20, TimeUnit.SECONDS);
    }

    @AfterEach
    void close() throws Exception {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    private Object nextEvent() throws Exception {
        return events.poll(20, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource
    void addressesStayWhenTheChannelIsClosed(TestTransport transport) throws Exception {
        connect(transport);
        SocketChannel child = accepted.get();
        // The addresses are requested for the first time after the close.
        client.close().sync();
        child.close().sync();
        SocketAddress own = client.localAddress();
        SocketAddress peer = client.remoteAddress();
        assertEquals(own, child.remoteAddress());
        assertEquals(peer, child.localAddress());
        assertTrue(((InetSocketAddress) own).getPort() > 0, own::toString);
    }

    @ParameterizedTest
    @EnumSource
    void shutDownOutputIsTheEndOfThePeersInput(TestTransport transport) throws Exception {
        connect(transport);
        SocketChannel child = accepted.get();
        assertFalse(client.isOutputShutdown());
        client.shutdownOutput().sync();
        assertEquals(List.of(true, false, false),
            List.of(client.isOutputShutdown(), client.isInputShutdown(), client.isShutdown()));
        assertEquals(ChannelInputShutdownEvent.INSTANCE, nextEvent());
        assertEquals(ChannelInputShutdownReadComplete.INSTANCE, nextEvent());
        assertEquals(List.of(false, true, false),
            List.of(child.isOutputShutdown(), child.isInputShutdown(), child.isShutdown()));
        assertTrue(client.isActive());
        assertTrue(child.isActive());
        // The channel is closed, so there is nothing to shut down.
        assertInstanceOf(ClosedChannelException.class, client.shutdownOutput().await().cause());
    }

    @ParameterizedTest
    @EnumSource
    void shutDownIsBoth(TestTransport transport) throws Exception {
        connect(transport);
        client.shutdown().sync();
        assertEquals(List.of(true, true, true),
            List.of(client.isOutputShutdown(), client.isInputShutdown(), client.isShutdown()));
        assertEquals(ChannelInputShutdownEvent.INSTANCE, nextEvent());
    }

    /** Nothing can be read any more, whatever the peer does. */
    @ParameterizedTest
    @EnumSource
    void shutDownInputIsTheEndOfTheOwnInput(TestTransport transport) throws Exception {
        connect(transport);
        SocketChannel child = accepted.get();
        child.shutdownInput().sync();
        assertEquals(ChannelInputShutdownReadComplete.INSTANCE, nextEvent());
        assertEquals(List.of(false, true, false),
            List.of(child.isOutputShutdown(), child.isInputShutdown(), child.isShutdown()));
        client.close().sync();
        child.close().sync();
        child.eventLoop().submit(() -> { }).sync();
        assertEquals(List.of(), List.copyOf(events));
    }

    /** The second event of a half-closed channel is not fired after the handler of the first one has closed the channel. */
    @ParameterizedTest
    @EnumSource
    void closingWhenTheInputEndsIsTheLastEvent(TestTransport transport) throws Exception {
        connect(transport);
        SocketChannel child = accepted.get();
        child.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                ctx.close();
            }
        });
        client.shutdownOutput().sync();
        assertTrue(child.closeFuture().await(20, TimeUnit.SECONDS));
        child.eventLoop().submit(() -> { }).sync();
        assertEquals(List.of(ChannelInputShutdownEvent.INSTANCE), List.copyOf(events));
    }

    /** Records the events of the child's pipeline. */
    private final class Recorder extends ChannelInboundHandlerAdapter {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            events.add(event);
            ctx.fireUserEventTriggered(event);
        }
    }
}
