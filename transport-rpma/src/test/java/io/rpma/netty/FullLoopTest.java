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
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.rpma.netty.ConnectedChannels.End;
import io.rpma.netty.FullLoop.Refusal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests channels whose event loop accepts no further task while another thread has something for them. */
@Timeout(60)
class FullLoopTest {
    // A request to an address that was connected to before may be prepared on the loop.
    private static final AtomicInteger ADDRESSES = new AtomicInteger(200);

    private final RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
    private final BlockingQueue<RpmaConnectRequest> asked = new LinkedBlockingQueue<>();
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

    private static void succeeds(Future<?> future) throws Exception {
        assertTrue(future.await(20, TimeUnit.SECONDS), "the task of another thread was lost");
        if (!future.isSuccess()) {
            throw new AssertionError("the future has failed", future.cause());
        }
    }

    /** Another thread performs the part of connecting that may block, and computes the private data as well. */
    @ParameterizedTest
    @EnumSource
    void aConnectionThatWasPreparedMeanwhileIsMade(Refusal refusal) throws Exception {
        full = new FullLoop(refusal);
        InetAddress local = InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) ADDRESSES.incrementAndGet()});
        Channel listener = listen(group.next(), local, null, new End());
        CompletableFuture<Thread> preparing = new CompletableFuture<>();
        CompletableFuture<ByteBuffer> privateData = new CompletableFuture<>();
        RpmaPrivateDataFactory factory = device -> {
            preparing.complete(Thread.currentThread());
            return privateData.join();
        };
        ChannelFuture connect = new Bootstrap().group(full.loop).channel(RpmaChannel.class)
            .option(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, factory).handler(new ChannelInboundHandlerAdapter())
            .connect(listener.localAddress());
        Thread thread = preparing.get(20, TimeUnit.SECONDS);
        full.fill();
        privateData.complete(ByteBuffer.allocate(0));
        awaitHandOver(thread);
        full.free();
        succeeds(connect);
    }

    /** Waits until a thread that prepares a request has handed over its result. */
    static void awaitHandOver(Thread preparing) {
        while (Arrays.stream(preparing.getStackTrace()).anyMatch(frame -> frame.getClassName().contains("HostExecutor"))) {
            Thread.onSpinWait();
        }
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

    @ParameterizedTest
    @EnumSource
    void aDecisionAboutAClientIsCarriedOut(Refusal refusal) throws Exception {
        full = new FullLoop(refusal);
        Channel listener = listen(full.loop, NetUtil.LOCALHOST, asked::add, new End());
        ChannelFuture connect = new Bootstrap().group(group).channel(RpmaChannel.class)
            .handler(new ChannelInboundHandlerAdapter()).connect(listener.localAddress());
        RpmaConnectRequest request = asked.poll(20, TimeUnit.SECONDS);
        assertNotNull(request);
        full.fill();
        Future<Channel> accepted = request.accept();
        full.free();
        succeeds(accepted);
        succeeds(connect);
    }
}
