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
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.ServerChannel;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.util.CharsetUtil;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.netty.RpmaMessageServerChannel;
import io.rpma.netty.RpmaServerChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

/**
 * Tests a write to a peer that has sent an answer and closed in order, while this end has not read the answer yet. With TCP, the
 * kernel accepts the write, and the answer can be read afterwards.
 */
@Timeout(120)
class UnreadInputTest {
    private static final String ANSWER = "the answer of a peer that has closed since";

    @ParameterizedTest
    @EnumSource
    void writingDoesNotLoseWhatThePeerSentBeforeItClosed(TestTransport transport) throws Exception {
        answered(transport, (client, reader) -> reader.written.complete(client.writeAndFlush(text("x"))));
    }

    @ParameterizedTest
    @EnumSource
    void anEmptyBufferDoesNotFailAfterThePeerHasClosed(TestTransport transport) throws Exception {
        answered(transport, (client, reader) -> reader.written.complete(client.writeAndFlush(Unpooled.buffer(0))));
    }

    @ParameterizedTest
    @EnumSource
    void writingFromChannelReadDoesNotLoseTheRestOfTheAnswer(TestTransport transport) throws Exception {
        answered(transport, (client, reader) -> reader.writes = text("x"));
    }

    @ParameterizedTest
    @EnumSource
    void writingAnEmptyBufferFromChannelReadSucceeds(TestTransport transport) throws Exception {
        answered(transport, (client, reader) -> reader.writes = Unpooled.buffer(0));
    }

    /**
     * On a message channel the promise fails, because it reports whether the peer has received the message. The answer is not
     * lost.
     */
    @Test
    void writingMessagesDoesNotLoseWhatThePeerSentBeforeItClosed() throws Exception {
        Reader reader = new Reader();
        reader.times = Integer.MAX_VALUE;
        reader.fails = true;
        answered(TestTransport.RPMA, RpmaMessageServerChannel.class, RpmaMessageChannel.class, reader,
            (client, same) -> same.writes = text("x"));
        assertEquals(ANSWER, reader.received.get(30, TimeUnit.SECONDS));
        assertInstanceOf(IOException.class, reader.written.get(30, TimeUnit.SECONDS).await().cause());
    }

    /**
     * The peer resets the connection. With TCP the answer would be lost, because the reset fails the write, and the write closes
     * the channel. A write succeeds as long as the reset has not arrived, so the client writes until a write fails.
     */
    @Test
    void writingAfterAResetFailsAndDoesNotLoseWhatCameBefore() throws Exception {
        Reader reader = new Reader();
        reader.peerResets = true;
        reader.fails = true;
        answered(TestTransport.RPMA, RpmaServerChannel.class, RpmaChannel.class, reader, (client, same) -> {
            client.config().setAutoRead(false);
            same.writes = text("x");
        });
        assertEquals(ANSWER, reader.received.get(30, TimeUnit.SECONDS));
        assertInstanceOf(IOException.class, reader.written.get(30, TimeUnit.SECONDS).await().cause());
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, CharsetUtil.US_ASCII);
    }

    /**
     * Tests a write to a peer that has sent an answer and closed in order, while this end has not read the answer yet. With TCP,
     * the kernel accepts the write, and the answer can be read afterwards.
     */
    private interface Step {
        void run(Channel client, Reader reader);
    }

    private static void answered(TestTransport transport, Step step) throws Exception {
        Reader reader = new Reader();
        answered(transport, transport.serverChannel(), transport.channel(), reader, step);
        assertEquals(ANSWER, reader.received.get(30, TimeUnit.SECONDS));
        assertNull(reader.written.get(30, TimeUnit.SECONDS).await().cause());
    }

    private static void answered(TestTransport transport, Class<? extends ServerChannel> serverChannel,
            Class<? extends Channel> channel, Reader reader, Step step) throws Exception {
        EventLoopGroup servers = transport.newGroup(1, "unread-server");
        EventLoopGroup clients = transport.newGroup(1, "unread-client");
        CountDownLatch arrived = new CountDownLatch(1);
        try {
            CompletableFuture<Channel> child = new CompletableFuture<>();
            Channel server = new ServerBootstrap().group(servers).channel(serverChannel)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        child.complete(ctx.channel());
                    }
                }).bind(new InetSocketAddress(NetUtil.LOCALHOST4, 0)).sync().channel();
            // The answer needs several reads, one in each turn of the loop.
            FixedRecvByteBufAllocator small = new FixedRecvByteBufAllocator(10);
            small.maxMessagesPerRead(1);
            Channel client = new Bootstrap().group(clients).channel(channel).handler(reader)
                .option(ChannelOption.RECVBUF_ALLOCATOR, small)
                .connect(server.localAddress()).sync().channel();
            Channel peer = child.get(30, TimeUnit.SECONDS);
            CountDownLatch held = new CountDownLatch(1);
            client.eventLoop().execute(() -> {
                held.countDown();
                try {
                    arrived.await();
                } catch (InterruptedException e) {
                    reader.received.completeExceptionally(e);
                }
                step.run(client, reader);
            });
            held.await();
            if (reader.peerResets) {
                peer.config().setOption(ChannelOption.SO_LINGER, 0);
            }
            int half = ANSWER.length() / 2;
            peer.write(text(ANSWER.substring(0, half)));
            peer.write(text(ANSWER.substring(half, half + 1)));
            peer.writeAndFlush(text(ANSWER.substring(half + 1))).addListener(ChannelFutureListener.CLOSE);
            peer.closeFuture().sync();
            // When the peer's loop has terminated, the peer's close is complete.
            servers.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
            arrived.countDown();
            reader.received.get(30, TimeUnit.SECONDS);
        } finally {
            arrived.countDown();
            servers.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
            clients.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    /** Collects the received text until the channel is inactive. */
    private static final class Reader extends SimpleChannelInboundHandler<ByteBuf> {
        final CompletableFuture<String> received = new CompletableFuture<>();
        final CompletableFuture<ChannelFuture> written = new CompletableFuture<>();
        // The message that is written after a read, and how many times it is written. Only the loop uses these fields.
        ByteBuf writes;
        int times = 1;
        boolean fails;
        boolean peerResets;
        private final StringBuilder text = new StringBuilder();

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) {
            text.append(data.toString(CharsetUtil.US_ASCII));
            if (peerResets) {
                writeUntilFailed(ctx);
            } else if (writes != null && times-- > 0) {
                written.complete(ctx.writeAndFlush(writes.retainedDuplicate()));
            }
        }

        /** Writes once in each turn of the loop until a write fails, and reads the rest of the answer only then. */
        private void writeUntilFailed(ChannelHandlerContext ctx) {
            ChannelFuture write = ctx.writeAndFlush(writes.retainedDuplicate());
            write.addListener(future -> {
                if (future.isSuccess()) {
                    ctx.executor().execute(() -> writeUntilFailed(ctx));
                } else {
                    written.complete(write);
                    ctx.read();
                }
            });
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            ReferenceCountUtil.release(writes);
            received.complete(text.toString());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (!fails) {
                received.completeExceptionally(cause);
            }
        }
    }
}
