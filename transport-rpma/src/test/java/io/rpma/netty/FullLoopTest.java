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

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import io.rpma.netty.ConnectedChannels.End;
import io.rpma.netty.FullLoop.Refusal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests channels whose event loop accepts no further task while another thread has something for them. */
@Timeout(60)
class FullLoopTest {
    private final RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
    private FullLoop full;

    @AfterEach
    void stop() {
        full.close();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static Channel listen(EventLoop loop, InetAddress address, RpmaRequestHandler handler, End end) throws Exception {
        return new ServerBootstrap().group(loop).channel(RpmaServerChannel.class)
            .option(RpmaChannelOption.RPMA_REQUEST_HANDLER, handler).childHandler(end)
            .bind(new InetSocketAddress(address, 0)).sync().channel();
    }

    /** The loop on which the channel connected polls for it, and passes what arrives to the next loop of the channel. */
    @ParameterizedTest
    @EnumSource
    void aMessageForAChannelThatWasMovedIsRead(Refusal refusal) throws Exception {
        full = new FullLoop(refusal);
        End atServer = new End();
        End atClient = new End();
        Channel listener = listen(group.next(), NetUtil.LOCALHOST, null, atServer);
        Channel client = new Bootstrap().group(group).channel(RpmaChannel.class).handler(atClient)
            .connect(listener.localAddress()).sync().channel();
        Channel server = atServer.accepted();
        client.deregister().sync();
        full.loop.register(client).sync();
        full.fill();
        server.writeAndFlush(Unpooled.copyInt(4711)).sync();
        // Each task is a turn of the loop that polls.
        for (int i = 0; i < 100; i++) {
            group.next().submit(() -> { }).sync();
        }
        full.free();
        ByteBuf read = (ByteBuf) atClient.next();
        assertEquals(4711, read.readInt());
        read.release();
    }
}
