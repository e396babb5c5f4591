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
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannel;
import io.rpma.ConnectionEvent;
import io.rpma.MemoryUsage;
import io.rpma.netty.ConnectedChannels.Kind;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.stream.Handshake;
import io.rpma.netty.stream.Immediate;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.NotYetConnectedException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that it is no failure if a peer closes after the end of its stream, but that no pending write waits forever, and that
 * only an established connection is half-closed.
 */
@Timeout(60)
class HalfClosedTest {
    private final CompletableFuture<Void> inputEnded = new CompletableFuture<>();
    private RpmaEventLoopGroup group;
    private ConnectedChannels channels;
    private Channel client;

    @BeforeEach
    void start() throws Exception {
        group = new RpmaEventLoopGroup(1);
        channels = new ConnectedChannels(group, Kind.STREAM, server -> server.childOption(ChannelOption.AUTO_READ, false),
            connecting -> connecting.option(ChannelOption.ALLOW_HALF_CLOSURE, true));
        client = channels.client;
        client.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                if (event == ChannelInputShutdownReadComplete.INSTANCE) {
                    inputEnded.complete(null);
                }
            }
        });
    }

    @AfterEach
    void stop() {
        channels.close();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private ChannelFuture writeMoreThanIsTaken() {
        ChannelFuture last = null;
        for (int i = 0; i < 128; i++) {
            last = client.writeAndFlush(Unpooled.wrappedBuffer(new byte[1 << 16]));
        }
        return last;
    }

    private void awaitTheEndOfTheConnection() throws Exception {
        while (!client.eventLoop().submit(() -> ((RpmaChannel) client).pair().broken() != null).get()) {
            // Each check is a turn of the event loop, which processes new events.
            continue;
        }
        client.eventLoop().submit(() -> { }).sync();
    }

    private static void fails(ChannelFuture write) throws InterruptedException {
        assertTrue(write.await(20, TimeUnit.SECONDS), "the write waits for a peer that has disconnected");
        assertInstanceOf(IOException.class, write.cause());
    }

    @Test
    void aWriteThatWaitedForAPeerWhichGoesFails() throws Exception {
        ChannelFuture last = writeMoreThanIsTaken();
        ((SocketChannel) channels.server).shutdownOutput().sync();
        inputEnded.get(20, TimeUnit.SECONDS);
        assertFalse(last.isDone());
        channels.server.close().sync();
        fails(last);
        assertTrue(client.closeFuture().await(20, TimeUnit.SECONDS));
    }

    /** The channel detects the end of the stream and the end of the connection together. */
    @Test
    void aWriteThatWaitedForAPeerWhichEndsAndGoesFails() throws Exception {
        ChannelFuture last = writeMoreThanIsTaken();
        channels.server.close().sync();
        fails(last);
        assertTrue(client.closeFuture().await(20, TimeUnit.SECONDS));
    }

    /** The channel stays open, because no data has been lost and the application may still have something to do. */
    @Test
    void aChannelThatHasNothingToSendIsLeftAlone() throws Exception {
        channels.server.close().sync();
        inputEnded.get(20, TimeUnit.SECONDS);
        awaitTheEndOfTheConnection();
        assertTrue(client.isActive());
        fails(client.writeAndFlush(Unpooled.copyInt(1)));
    }

    /** The completion is polled together with the end of the connection, and not earlier. */
    @Test
    void anOperationThatSucceededBeforeThePeerWentIsToldOf() throws Exception {
        try (RawPeer peer = new RawPeer()) {
            RpmaChannel channel = new RpmaChannel();
            channel.config().setAllowHalfClosure(true);
            CompletableFuture<Void> ended = new CompletableFuture<>();
            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                    ended.complete(null);
                }
            });
            group.register(channel).sync();
            ChannelFuture connect = channel.connect(peer.listen());
            peer.accept(new Handshake(Handshake.MINOR, 0, 16 << 10, 16, 0).encode());
            connect.sync();
            assertTrue(peer.nextEvent() == ConnectionEvent.ESTABLISHED);
            peer.send(0, Immediate.of(Immediate.FIN, 0));
            ended.get(20, TimeUnit.SECONDS);
            RpmaRegion here = RpmaRegion.allocate(8, MemoryUsage.WRITE_SRC);
            RpmaRemoteRegion there = RpmaRemoteRegion.open(peer.descriptor());
            ChannelFuture write = channel.eventLoop().submit(() -> {
                ChannelFuture written = channel.writeAndFlush(RpmaOperation.write(here, 0, 8, there, 0));
                peer.disconnect();
                ((RpmaIoHandle) channel.unsafe()).eventsReady();
                return written;
            }).get();
            assertTrue(write.await(20, TimeUnit.SECONDS), "the operation was not completed");
            channel.close().sync();
            here.release();
            there.release();
        }
    }

    /** Nobody would read it, so it would keep its receives, and the peer would wait for credits without an end. */
    @Test
    void aShutDownInputIsDroppedAlthoughNoReadIsRequested() throws Exception {
        ChannelFuture waiting = writeMoreThanIsTaken();
        assertFalse(waiting.isDone());
        ((SocketChannel) channels.server).shutdownInput().sync();
        assertTrue(waiting.await(20, TimeUnit.SECONDS), "a write waits for a peer that will not read");
        assertTrue(waiting.isSuccess());
        ChannelFuture later = writeMoreThanIsTaken();
        assertTrue(later.await(20, TimeUnit.SECONDS), "a write waits for a peer that will not read");
        assertTrue(later.isSuccess());
        assertFalse(channels.atServer.hasRead(), "data was read after the input had been shut down");
        channels.server.writeAndFlush(Unpooled.copyInt(7)).sync();
    }

    /** An application that does not allow half closure has no use for an event of a half-closed channel. */
    @Test
    void aShutDownInputHasNoEventWithoutHalfClosure() throws Exception {
        ((SocketChannel) client).config().setAllowHalfClosure(false);
        ((SocketChannel) client).shutdownInput().sync();
        channels.server.close().sync();
        awaitTheEndOfTheConnection();
        assertFalse(inputEnded.isDone());
        assertTrue(client.isActive());
    }

    /** A shutdown whose promise is cancelled before the loop has time for it does nothing, like one of Netty's own. */
    @Test
    void aCancelledShutdownDoesNothing() throws Exception {
        SocketChannel channel = (SocketChannel) client;
        CountDownLatch busy = new CountDownLatch(1);
        client.eventLoop().execute(() -> {
            try {
                busy.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        ChannelPromise ofInput = client.newPromise();
        channel.shutdownInput(ofInput);
        assertTrue(ofInput.cancel(false));
        ChannelPromise ofBoth = client.newPromise();
        assertTrue(ofBoth.cancel(false));
        channel.shutdown(ofBoth);
        busy.countDown();
        client.eventLoop().submit(() -> { }).sync();
        assertFalse(channel.isInputShutdown() || channel.isOutputShutdown());
        channel.shutdown().sync();
        assertTrue(channel.isShutdown());
    }

    /**
     * A connection that is not established has no direction that could be ended. The failure costs nothing: when the peer
     * answers, the channel can write, and end its stream.
     */
    @Test
    void aConnectionThatIsOnlyRequestedCannotBeHalfClosed() throws Exception {
        try (RawPeer peer = new RawPeer()) {
            RpmaChannel channel = new RpmaChannel();
            group.register(channel).sync();
            ChannelFuture connect = channel.connect(peer.listen());
            // Each check is a turn of the event loop, which sends the request when it has been prepared.
            while (channel.eventLoop().submit(() -> channel.pair() == null).get()) {
                assertFalse(connect.isDone(), () -> String.valueOf(connect.cause()));
            }
            for (ChannelFuture shutdown : List.of(channel.shutdownOutput(), channel.shutdownInput(), channel.shutdown())) {
                assertTrue(shutdown.await(20, TimeUnit.SECONDS));
                assertInstanceOf(NotYetConnectedException.class, shutdown.cause());
            }
            assertFalse(channel.isInputShutdown() || channel.isOutputShutdown() || channel.isShutdown());
            peer.accept(new Handshake(Handshake.MINOR, 0, 16 << 10, 16, 0, RawPeer.isPrefixed(), ByteBuffer.allocate(0))
                .encode());
            connect.sync();
            assertTrue(peer.nextEvent() == ConnectionEvent.ESTABLISHED);
            channel.writeAndFlush(Unpooled.copyInt(1)).sync();
            channel.shutdownOutput().sync();
            assertTrue(channel.isOutputShutdown());
            assertEquals(Immediate.DATA, Immediate.kind(peer.receive()));
            assertEquals(Immediate.FIN, Immediate.kind(peer.receive()));
            channel.close().sync();
        }
    }

    @Test
    void aChannelThatDoesNotConnectCannotBeHalfClosed() throws Exception {
        RpmaChannel channel = new RpmaChannel();
        group.register(channel).sync();
        for (ChannelFuture shutdown : List.of(channel.shutdownOutput(), channel.shutdownInput())) {
            assertTrue(shutdown.await(20, TimeUnit.SECONDS));
            assertInstanceOf(NotYetConnectedException.class, shutdown.cause());
        }
        assertFalse(channel.isInputShutdown() || channel.isOutputShutdown());
        channel.connect(channels.listener.localAddress()).sync();
        channel.writeAndFlush(Unpooled.copyInt(1)).sync();
        channel.close().sync();
    }
}
