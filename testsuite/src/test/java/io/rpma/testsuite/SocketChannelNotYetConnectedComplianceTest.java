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
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketChannelNotYetConnectedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** Tests that a shutdown before the connect fails, and that a read before the connect waits for it. */
public class SocketChannelNotYetConnectedComplianceTest extends SocketChannelNotYetConnectedTest {
    @Override
    protected List<BootstrapFactory<Bootstrap>> newFactories() {
        return Permutations.INSTANCE.clientSocket();
    }

    @Override
    protected List<ByteBufAllocator> newAllocators() {
        return Permutations.allocators(super.newAllocators());
    }

    @Override
    @Test
    @Timeout(30)
    @SuiteOverride("the suite's peer is a NioServerSocketChannel; here it is a server channel of the transport")
    public void readMustBePendingUntilChannelIsActive(TestInfo info) throws Throwable {
        run(info, bootstrap -> readMustBePendingUntilChannelIsActive(bootstrap));
    }

    private void readMustBePendingUntilChannelIsActive(Bootstrap cb) throws Exception {
        Channel server = new ServerBootstrap().group(PeerSocket.GROUP).channel(TestTransport.CURRENT.serverChannel())
            .childHandler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelActive(ChannelHandlerContext ctx) {
                    ctx.writeAndFlush(Unpooled.copyInt(42));
                }
            }).bind(newSocketAddress()).sync().channel();
        EarlyReader reader = new EarlyReader();
        Channel client = cb.handler(reader).connect(server.localAddress()).sync().channel();
        try {
            assertEquals(42, reader.value.get(20, TimeUnit.SECONDS));
        } finally {
            client.close().sync();
            server.close().sync();
        }
    }

    /** Requests data before the connection exists, and collects one int. */
    private static final class EarlyReader extends SimpleChannelInboundHandler<ByteBuf> {
        final CompletableFuture<Integer> value = new CompletableFuture<>();
        private final ByteBuf gathered = Unpooled.buffer(Integer.BYTES, Integer.BYTES);

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            try {
                assertFalse(ctx.channel().isActive());
                ctx.read();
            } catch (AssertionError e) {
                value.completeExceptionally(e);
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) {
            // More than four bytes exceed the capacity of the buffer, which throws an exception.
            gathered.writeBytes(data);
            if (!gathered.isWritable()) {
                value.complete(gathered.getInt(0));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            value.completeExceptionally(cause);
        }
    }
}
