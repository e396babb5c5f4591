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
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadIoEventLoop;
import io.rpma.netty.ConnectedChannels.Kind;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests a channel that leaves its event loop while it connects. Another thread does the part of connecting that may block; it
 * computes the private data as well, which takes as long as the test wants.
 */
@Timeout(120)
class MovedConnectTest {
    // A request to an address that was connected to before may be prepared on the loop.
    private static final AtomicInteger ADDRESSES = new AtomicInteger(100);

    private final RpmaEventLoopGroup group = new RpmaEventLoopGroup(3);
    private final ConnectedChannels.End atServer = new ConnectedChannels.End();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CompletableFuture<ByteBuffer> privateData = new CompletableFuture<>();
    // The third loop is the one of the server.
    private SingleThreadIoEventLoop first;
    private SingleThreadIoEventLoop second;
    private InetSocketAddress address;
    private volatile Thread preparing;

    @BeforeEach
    void start() {
        first = (SingleThreadIoEventLoop) group.next();
        second = (SingleThreadIoEventLoop) group.next();
    }

    @AfterEach
    void stop() {
        privateData.complete(ByteBuffer.allocate(0));
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void listen(Kind kind) throws Exception {
        InetAddress local = InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) ADDRESSES.incrementAndGet()});
        Channel listener = new ServerBootstrap().group(group.next()).channel(kind.server)
            .childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    ch.pipeline().addLast(atServer);
                }
            }).bind(new InetSocketAddress(local, 0)).sync().channel();
        address = new InetSocketAddress(local, ((InetSocketAddress) listener.localAddress()).getPort());
    }

    private AbstractRpmaChannel client(Kind kind) throws Exception {
        return client(kind, first);
    }

    private AbstractRpmaChannel client(Kind kind, EventLoop loop) throws Exception {
        AbstractRpmaChannel client = kind == Kind.STREAM ? new RpmaChannel() : new RpmaMessageChannel();
        client.config().setOption(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, device -> {
            preparing = Thread.currentThread();
            begun.countDown();
            return privateData.join();
        });
        loop.register(client).sync();
        return client;
    }

    /** Connects, and leaves the loop when the other thread has begun. */
    private ChannelFuture connectAndLeave(AbstractRpmaChannel client) throws Exception {
        ChannelFuture connect = client.connect(address);
        assertTrue(begun.await(30, TimeUnit.SECONDS), () -> "the request is not prepared: " + connect.cause());
        client.deregister().sync();
        return connect;
    }

    private void isUsable(AbstractRpmaChannel client) throws Exception {
        client.writeAndFlush(Unpooled.copyInt(4711)).sync();
        ByteBuf read = assertInstanceOf(ByteBuf.class, atServer.next());
        assertEquals(4711, read.readInt());
        read.release();
        client.close().sync();
    }

    @ParameterizedTest
    @EnumSource
    void aRequestThatIsSentWhileNoLoopHasTheChannelIsContinuedByItsNextLoop(Kind kind) throws Exception {
        listen(kind);
        AbstractRpmaChannel client = client(kind);
        ChannelFuture connect = connectAndLeave(client);
        privateData.complete(ByteBuffer.allocate(0));
        // Each check is a turn of the previous event loop, which sends the request.
        while (!first.submit(() -> client.pair() != null || connect.isDone()).get()) {
            continue;
        }
        second.register(client).sync();
        assertTrue(connect.await(30, TimeUnit.SECONDS), "the channel does not connect");
        connect.sync();
        isUsable(client);
    }

    @ParameterizedTest
    @EnumSource
    void aRequestIsSentByTheNextLoop(Kind kind) throws Exception {
        listen(kind);
        AbstractRpmaChannel client = client(kind);
        ChannelFuture connect = connectAndLeave(client);
        second.register(client).sync();
        privateData.complete(ByteBuffer.allocate(0));
        connect.sync();
        isUsable(client);
    }

    /** The result has been handed to the previous loop, which is busy until the next loop has the channel. */
    @ParameterizedTest
    @EnumSource
    void aFailureThatReachesThePreviousLoopLaterClosesTheChannel(Kind kind) throws Exception {
        listen(kind);
        AbstractRpmaChannel client = client(kind);
        ChannelFuture connect = connectAndLeave(client);
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch free = new CountDownLatch(1);
        first.execute(() -> {
            busy.countDown();
            try {
                free.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        assertTrue(busy.await(30, TimeUnit.SECONDS));
        privateData.completeExceptionally(new IllegalStateException("no private data"));
        while (first.pendingTasks() == 0) {
            Thread.onSpinWait();
        }
        second.register(client).sync();
        free.countDown();
        assertTrue(connect.await(30, TimeUnit.SECONDS), "the failure was lost");
        assertTrue(String.valueOf(connect.cause()).contains("no private data"), () -> String.valueOf(connect.cause()));
        assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS), "the channel was not closed");
    }

    /** The previous loop, which measured the time, ends before the time is over. */
    @ParameterizedTest
    @EnumSource
    void aChannelThatMovedIsClosedWhenItsTimeIsOverAlthoughItsFirstLoopHasEnded(Kind kind) throws Exception {
        listen(kind);
        RpmaEventLoopGroup ending = new RpmaEventLoopGroup(1);
        AbstractRpmaChannel client = client(kind, ending.next());
        client.config().setOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, 2000);
        ChannelFuture connect = connectAndLeave(client);
        second.register(client).sync();
        end(ending);
        assertTrue(connect.await(30, TimeUnit.SECONDS), "the time was not limited");
        assertInstanceOf(ConnectTimeoutException.class, connect.cause());
        assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS), "the channel was not closed");
    }

    /** The other thread has a result when the first loop has ended and no other loop has the channel. */
    @ParameterizedTest
    @EnumSource
    void aRequestThatIsPreparedAfterTheFirstLoopHasEndedIsSentByTheNextLoop(Kind kind) throws Exception {
        listen(kind);
        RpmaEventLoopGroup ending = new RpmaEventLoopGroup(1);
        AbstractRpmaChannel client = client(kind, ending.next());
        ChannelFuture connect = connectAndLeave(client);
        end(ending);
        privateData.complete(ByteBuffer.allocate(0));
        awaitPrepared();
        second.register(client).sync();
        assertTrue(connect.await(20, TimeUnit.SECONDS), "the prepared request was lost");
        connect.sync();
        isUsable(client);
    }

    @ParameterizedTest
    @EnumSource
    void aRequestThatCouldNotBePreparedAfterTheFirstLoopHasEndedFailsOnTheNextLoop(Kind kind) throws Exception {
        listen(kind);
        RpmaEventLoopGroup ending = new RpmaEventLoopGroup(1);
        AbstractRpmaChannel client = client(kind, ending.next());
        ChannelFuture connect = connectAndLeave(client);
        end(ending);
        privateData.completeExceptionally(new IllegalStateException("no private data"));
        awaitPrepared();
        second.register(client).sync();
        assertTrue(connect.await(20, TimeUnit.SECONDS), "the failure was lost");
        assertTrue(String.valueOf(connect.cause()).contains("no private data"), () -> String.valueOf(connect.cause()));
        assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS), "the channel was not closed");
    }

    private static void end(RpmaEventLoopGroup ending) throws InterruptedException {
        assertTrue(ending.shutdownGracefully(0, 5, TimeUnit.SECONDS).await(20, TimeUnit.SECONDS));
    }

    /** Waits until the thread that prepared the request has handed over its result. */
    private void awaitPrepared() {
        while (Arrays.stream(preparing.getStackTrace()).anyMatch(frame -> frame.getClassName().contains("HostExecutor"))) {
            Thread.onSpinWait();
        }
    }

    /** The next loop measures the rest of the time. */
    @ParameterizedTest
    @EnumSource
    void aChannelThatMovedIsClosedWhenItsTimeIsOver(Kind kind) throws Exception {
        listen(kind);
        AbstractRpmaChannel client = client(kind);
        client.config().setOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, 2000);
        ChannelFuture connect = connectAndLeave(client);
        second.register(client).sync();
        assertTrue(connect.await(30, TimeUnit.SECONDS), "the time was not limited");
        assertInstanceOf(ConnectTimeoutException.class, connect.cause());
        assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS), "the channel was not closed");
    }
}
