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
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.SimpleChannelInboundHandler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * Tests that a side that never requests a read still notices that its peer has sent 100 bytes and closed, and that it receives
 * all of them, ten at a time, before it becomes inactive. There are four cases: either side, with and without further reads after
 * the first bytes. Netty tests them for epoll and io_uring with a class that it does not publish.
 */
@Timeout(60)
public class DetectPeerCloseWithoutReadTest {
    private static final int SENT = 100;
    private static final int READ_AT_ONCE = 10;

    @Test
    void clientClosesAndServerReadsNoMore() throws Exception {
        clientCloses(false);
    }

    @Test
    void clientClosesAndServerReadsOn() throws Exception {
        clientCloses(true);
    }

    @Test
    void serverClosesAndClientReadsNoMore() throws Exception {
        serverCloses(false);
    }

    @Test
    void serverClosesAndClientReadsOn() throws Exception {
        serverCloses(true);
    }

    private static void clientCloses(boolean readOn) throws Exception {
        Silent silent = new Silent(readOn);
        assertAllSeen(silent, silent, new SendsAndCloses(), true);
    }

    private static void serverCloses(boolean readOn) throws Exception {
        Silent silent = new Silent(readOn);
        assertAllSeen(silent, new SendsAndCloses(), silent, false);
    }

    private static void assertAllSeen(Silent silent, ChannelHandler ofServer, ChannelHandler ofClient, boolean serverIsSilent)
            throws Exception {
        EventLoopGroup group = TestTransport.CURRENT.newGroup(1, "detect-close");
        try {
            ServerBootstrap sb = new ServerBootstrap().group(group).channel(TestTransport.CURRENT.serverChannel())
                .childHandler(ofServer);
            Bootstrap cb = new Bootstrap().group(group).channel(TestTransport.CURRENT.channel()).handler(ofClient);
            FixedRecvByteBufAllocator tenBytes = new FixedRecvByteBufAllocator(READ_AT_ONCE);
            tenBytes.maxMessagesPerRead(1);
            if (serverIsSilent) {
                sb.childOption(ChannelOption.AUTO_READ, false).childOption(ChannelOption.RECVBUF_ALLOCATOR, tenBytes);
            } else {
                cb.option(ChannelOption.AUTO_READ, false).option(ChannelOption.RECVBUF_ALLOCATOR, tenBytes);
            }
            // The server binds to a wildcard address, and the client connects to the address that the server reports.
            Channel server = sb.bind(new InetSocketAddress(0)).sync().channel();
            cb.connect(server.localAddress()).sync();
            assertEquals(SENT, silent.seenWhenInactive.get(30, TimeUnit.SECONDS));
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    /** A handler that never requests a read by itself. */
    private static final class Silent extends SimpleChannelInboundHandler<ByteBuf> {
        final CompletableFuture<Integer> seenWhenInactive = new CompletableFuture<>();
        private final boolean readOn;
        private int seen;

        Silent(boolean readOn) {
            this.readOn = readOn;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) {
            seen += data.readableBytes();
            if (readOn) {
                ctx.read();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            seenWhenInactive.complete(seen);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            seenWhenInactive.completeExceptionally(cause);
        }
    }

    private static final class SendsAndCloses extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(ctx.alloc().buffer(SENT).writeZero(SENT)).addListener(ChannelFutureListener.CLOSE);
        }
    }
}
