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

package io.rpma.netty.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.rpma.netty.RpmaEventLoopGroup;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests epoll's own channels on RPMA's event loops, in cases in which Netty's epoll handler alone would lose data. */
@Timeout(60)
class EpollRegistrationTest {
    private static final int BYTES = 32 << 20;

    /** The peer has shut down its output, and reads slowly, so the channel must wait until it can write. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aHalfClosedChannelWaitsForRoom(boolean autoRead) throws Exception {
        RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
        CompletableFuture<Void> full = new CompletableFuture<>();
        try {
            Channel server = new ServerBootstrap().group(group).channel(EpollServerSocketChannel.class)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.AUTO_READ, autoRead)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                        if (event == ChannelInputShutdownEvent.INSTANCE) {
                            // This runs in a later turn, when Netty does not wait for any event.
                            ctx.executor().schedule(() -> {
                                ctx.writeAndFlush(ctx.alloc().buffer(BYTES).writeZero(BYTES))
                                    .addListener(ChannelFutureListener.CLOSE);
                                full.complete(null);
                            }, 100, TimeUnit.MILLISECONDS);
                        }
                    }
                }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
            try (Socket client = new Socket("127.0.0.1", ((InetSocketAddress) server.localAddress()).getPort())) {
                client.shutdownOutput();
                full.get(30, TimeUnit.SECONDS);
                assertEquals(BYTES, client.getInputStream().readAllBytes().length);
            }
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }
}
