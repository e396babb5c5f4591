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
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.rpma.ConnectionEvent;
import io.rpma.netty.ConnectedChannels.Kind;
import io.rpma.netty.pair.OpenPairs;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.pair.QueuePairListener;
import io.rpma.netty.stream.Handshake;
import io.rpma.netty.stream.StreamQueuePair;
import io.rpma.netty.stream.StreamSender;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests streams that are not, or no longer, on the event loop whose queue has their received messages: a loop that does not use
 * a stream any more must not report anything to it.
 */
@Timeout(90)
class MovedStreamTest {
    private RpmaEventLoopGroup group;
    private ConnectedChannels channels;
    private EventLoop home;
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final CountDownLatch release = new CountDownLatch(1);

    @BeforeEach
    void connect() throws InterruptedException {
        group = new RpmaEventLoopGroup(4);
        channels = new ConnectedChannels(group, Kind.STREAM);
        home = channels.client.eventLoop();
        assertSame(home, ((RpmaChannel) channels.client).home());
        assertNotSame(home, channels.server.eventLoop());
        channels.client.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            private void check(ChannelHandlerContext ctx, String event) {
                if (!ctx.channel().isRegistered() || !ctx.channel().eventLoop().inEventLoop()) {
                    wrong.add(event + " on " + Thread.currentThread() + ", which does not have the channel");
                }
            }

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                check(ctx, "channelRead");
                ctx.fireChannelRead(msg);
            }

            @Override
            public void channelReadComplete(ChannelHandlerContext ctx) {
                check(ctx, "channelReadComplete");
                ctx.fireChannelReadComplete();
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                check(ctx, "exceptionCaught");
                ctx.fireExceptionCaught(cause);
            }
        });
    }

    @AfterEach
    void stop() {
        release.countDown();
        channels.close();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Returns an event loop that neither the client nor the server has had. */
    private EventLoop another() {
        EventLoop other = group.next();
        while (other == home || other == channels.server.eventLoop() || other == channels.client.eventLoop()) {
            other = group.next();
        }
        return other;
    }

    private EventLoop moveClient() throws InterruptedException {
        EventLoop to = another();
        channels.client.deregister().sync();
        to.register(channels.client).sync();
        return to;
    }

    /** Lets an event loop do nothing until {@link #release}, and then run a task. */
    private void block(EventLoop loop, Runnable then) throws InterruptedException {
        CountDownLatch blocked = new CountDownLatch(1);
        loop.execute(() -> {
            blocked.countDown();
            try {
                release.await();
            } catch (InterruptedException e) {
                wrong.add("interrupted");
            }
            then.run();
        });
        assertTrue(blocked.await(20, TimeUnit.SECONDS));
    }

    /** Waits until the tasks of all loops, and the tasks that these submit, have run. */
    private void settle(EventLoop... loops) throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            for (EventLoop each : loops) {
                each.submit(() -> { }).sync();
            }
        }
    }

    private void assertNextIs(int value) throws InterruptedException {
        ByteBuf read = (ByteBuf) channels.atClient.next();
        assertEquals(value, read.readInt());
        read.release();
    }

    /**
     * The loop of a stream asks the stream's home for the messages that arrived before the end. When the answer comes, the
     * channel has left that loop, and its next loop handles the end.
     */
    @Test
    void anEndThatIsConfirmedAfterTheStreamHasLeftIsHandledByTheNextLoop() throws Exception {
        EventLoop first = moveClient();
        block(home, () -> { });
        int pending = ((SingleThreadEventExecutor) home).pendingTasks();
        channels.server.config().setOption(ChannelOption.SO_LINGER, 1);
        channels.server.writeAndFlush(Unpooled.copyInt(42)).sync();
        channels.server.close().sync();
        while (((SingleThreadEventExecutor) home).pendingTasks() == pending) {
            // The first loop has not yet asked the home.
            Thread.onSpinWait();
        }
        settle(first);
        channels.client.deregister().sync();
        release.countDown();
        settle(home, first, home, first);
        assertNull(wrong.peek());
        assertTrue(channels.client.isOpen());
        another().register(channels.client).sync();
        assertNextIs(42);
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS));
        assertNull(wrong.peek());
    }

    /** The stream is on its home again when the home has found the messages that arrived before the end. */
    @Test
    void anEndThatIsConfirmedAfterTheStreamHasReturnedHomeIsHandledThere() throws Exception {
        EventLoop first = moveClient();
        CountDownLatch registered = new CountDownLatch(1);
        block(home, () -> { });
        int pending = ((SingleThreadEventExecutor) home).pendingTasks();
        channels.server.config().setOption(ChannelOption.SO_LINGER, 1);
        channels.server.writeAndFlush(Unpooled.copyInt(42)).sync();
        channels.server.close().sync();
        while (((SingleThreadEventExecutor) home).pendingTasks() == pending) {
            // The first loop has not yet asked the home.
            Thread.onSpinWait();
        }
        channels.client.deregister().sync();
        home.register(channels.client).addListener(done -> registered.countDown());
        release.countDown();
        assertTrue(registered.await(20, TimeUnit.SECONDS));
        settle(home, first, home, first);
        assertNextIs(42);
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS));
        assertNull(wrong.peek());
    }

    /**
     * The loop finds a message of a stream while it closes another one. Before it notifies the stream of the message, the channel
     * leaves the loop.
     */
    @Test
    void aStreamThatLeavesBetweenACompletionAndItsNotificationIsReadByTheNextLoop() throws Exception {
        Channel other = new Bootstrap().group(home).channel(RpmaChannel.class).handler(new ChannelInboundHandlerAdapter())
            .option(ChannelOption.SO_LINGER, 0).connect(channels.listener.localAddress()).sync().channel();
        assertSame(home, ((RpmaChannel) other).home());
        block(home, () -> {
            channels.client.deregister();
            other.close();
        });
        channels.server.writeAndFlush(Unpooled.copyInt(42)).sync();
        release.countDown();
        settle(home);
        assertNull(wrong.peek());
        another().register(channels.client).sync();
        assertNextIs(42);
        assertNull(wrong.peek());
    }

    /**
     * A closed channel waits until its peer has confirmed the end of the stream. If the peer closes the connection instead,
     * nothing is left to wait for.
     */
    @Test
    void aClosedStreamThatIsNotAtHomeEndsWhenItsPeerDoes() throws Exception {
        try (RawPeer peer = new RawPeer().prefixed()) {
            int others = OpenPairs.count();
            ChannelFuture connecting = new Bootstrap().group(home).channel(RpmaChannel.class)
                .option(ChannelOption.SO_LINGER, 1_000).handler(new ChannelInboundHandlerAdapter()).connect(peer.listen());
            peer.accept(new Handshake(Handshake.MINOR, 0, 16 << 10, 16, 0, true, ByteBuffer.allocate(0)).encode());
            RpmaChannel client = (RpmaChannel) connecting.sync().channel();
            assertSame(home, client.home());
            assertEquals(ConnectionEvent.ESTABLISHED, peer.nextEvent());
            EventLoop to = another();
            client.deregister().sync();
            to.register(client).sync();
            client.close().sync();
            settle(to, home, to);
            assertEquals(others + 1, OpenPairs.count());
            peer.disconnect();
            OpenPairs.awaitOpen(others);
        }
    }

    /** A message is lost if handling it fails. What follows it must not be read as if nothing were missing. */
    @Test
    void aMessageThatCannotBeHandledOnAnotherLoopEndsTheStream() throws Exception {
        moveClient();
        StreamSender sender = ((StreamQueuePair) ((RpmaChannel) channels.client).pair()).sender();
        Field granted = StreamSender.class.getDeclaredField("granted");
        granted.setAccessible(true);
        channels.client.eventLoop().submit(() -> {
            granted.set(sender, (Runnable) () -> {
                throw new OutOfMemoryError("thrown on purpose");
            });
            return null;
        }).sync();
        // The server grants memory for data of this size, and the client fails to handle the grant.
        channels.client.writeAndFlush(Unpooled.wrappedBuffer(new byte[StreamSender.BULK_BYTES])).sync();
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS), "the stream continues without the message");
        Throwable failure = channels.atClient.failure();
        assertTrue(failure.getMessage().contains("could not be processed"), failure::toString);
        assertNull(wrong.peek());
    }

    @Test
    void aStreamThatCannotBeNotifiedOnAnotherLoopEnds() throws Exception {
        EventLoop loop = moveClient();
        QueuePair pair = ((RpmaChannel) channels.client).pair();
        QueuePairListener listener = pair.listener;
        loop.submit(() -> pair.listener((QueuePairListener) Proxy.newProxyInstance(QueuePairListener.class.getClassLoader(),
            new Class<?>[] {QueuePairListener.class}, (proxy, method, arguments) -> {
                if (method.getName().equals("readable")) {
                    throw new OutOfMemoryError("thrown on purpose");
                }
                return method.invoke(listener, arguments);
            }))).sync();
        channels.server.writeAndFlush(Unpooled.copyInt(42)).sync();
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS), "the stream continues");
    }

    /**
     * The peer's only credit is spent on a grant, which arrives while no loop has the stream. The stream has nothing to send, so
     * it has to return the credit in a message of its own.
     */
    @Test
    void creditsOfMessagesThatArrivedBetweenTwoLoopsAreReturned() throws Exception {
        channels.close();
        channels = new ConnectedChannels(group, Kind.STREAM, server -> { },
            client -> client.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1));
        home = channels.client.eventLoop();
        assertNotSame(home, channels.server.eventLoop());
        StreamSender sender = ((StreamQueuePair) ((RpmaChannel) channels.client).pair()).sender();
        Field granted = StreamSender.class.getDeclaredField("granted");
        granted.setAccessible(true);
        // Otherwise the memory that is granted is returned after a while, by a message that returns the credit as well.
        home.submit(() -> {
            granted.set(sender, null);
            return null;
        }).sync();
        block(channels.server.eventLoop(), () -> { });
        channels.client.writeAndFlush(Unpooled.wrappedBuffer(new byte[StreamSender.BULK_BYTES])).sync();
        channels.client.deregister().sync();
        release.countDown();
        // The grant, and the credits of half of the receives, which are those of all the data.
        while (((RpmaChannel) channels.server).counters().controlMessagesSent() < 2) {
            Thread.onSpinWait();
        }
        settle(home);
        another().register(channels.client).sync();
        channels.server.writeAndFlush(Unpooled.copyInt(42));
        assertNextIs(42);
        assertNull(wrong.peek());
    }
}
