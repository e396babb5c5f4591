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
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.rpma.ConnectionEvent;
import io.rpma.netty.ConnectedChannels.End;
import io.rpma.netty.ConnectedChannels.Kind;
import io.rpma.netty.connect.LogLimit;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.pair.OpenPairs;
import io.rpma.netty.stream.Handshake;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests a server channel that leaves its event loop for another one: the previous loop does not use it any more, and no client is
 * lost.
 */
@Timeout(60)
class MovedServerTest {
    private static final int TURNS = 20;

    private final RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
    private final RpmaEventLoopGroup servers = new RpmaEventLoopGroup(2);
    private final EventLoop first = servers.next();
    private final EventLoop second = servers.next();
    private final BlockingQueue<Channel> children = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> wrong = new LinkedBlockingQueue<>();
    private final BlockingQueue<RpmaConnectRequest> asked = new LinkedBlockingQueue<>();
    private final List<RawPeer> peers = new ArrayList<>();
    private final List<CountDownLatch> blocks = new ArrayList<>();
    private Channel server;

    /** Sends everything back. */
    private final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            children.add(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg);
        }
    }

    @BeforeEach
    void differ() {
        assertFalse(first == second);
    }

    @AfterEach
    void stop() throws Exception {
        blocks.forEach(CountDownLatch::countDown);
        for (RawPeer peer : peers) {
            peer.close();
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS);
        servers.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        group.terminationFuture().syncUninterruptibly();
    }

    private ServerBootstrap bootstrap(Kind kind) {
        return bootstrap(kind, first);
    }

    private ServerBootstrap bootstrap(Kind kind, EventLoop loop) {
        return new ServerBootstrap().group(loop, group).channel(kind.server).childHandler(new Echo())
            .handler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    if (!ctx.channel().isRegistered() || !ctx.channel().eventLoop().inEventLoop()) {
                        wrong.add("a child was read while no loop had the channel, or on another loop");
                    }
                    ctx.fireChannelRead(msg);
                }

                @Override
                public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    wrong.add(cause.toString());
                }
            });
    }

    private static InetSocketAddress anyPort() {
        return new InetSocketAddress(NetUtil.LOCALHOST, 0);
    }

    private void listen(ServerBootstrap bootstrap) throws InterruptedException {
        server = bootstrap.bind(anyPort()).sync().channel();
    }

    private ChannelFuture connect(Kind kind, End end) {
        return new Bootstrap().group(group).channel(kind.client).handler(end).connect(server.localAddress());
    }

    private static void exchange(Channel client, End end, int value) throws InterruptedException {
        client.writeAndFlush(Unpooled.copyInt(value)).sync();
        ByteBuf read = (ByteBuf) end.next();
        assertEquals(value, read.readInt());
        read.release();
    }

    /** Runs turns of an event loop, in which it handles what has arrived before. */
    private static void turns(EventLoop loop) throws InterruptedException {
        for (int i = 0; i < TURNS; i++) {
            loop.submit(() -> { }).sync();
        }
    }

    /** Lets a task block an event loop until the result is run. */
    private Runnable block(EventLoop loop) throws InterruptedException {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        blocks.add(end);
        loop.execute(() -> {
            blocked.countDown();
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        blocked.await();
        return end::countDown;
    }

    private RawPeer peer() throws Exception {
        RawPeer peer = new RawPeer();
        peers.add(peer);
        return peer;
    }

    private RawPeer request(ByteBuffer privateData) throws Exception {
        RawPeer peer = peer();
        peer.request((InetSocketAddress) server.localAddress(), privateData);
        return peer;
    }

    private RawPeer request(Kind kind) throws Exception {
        return request(kind == Kind.STREAM ? new Handshake(Handshake.MINOR, 0, 16 << 10, 16, 0).encode() : null);
    }

    private Channel child() throws InterruptedException {
        Channel child = children.poll(20, TimeUnit.SECONDS);
        assertNotNull(child, "no child became active");
        return child;
    }

    /** Auto-read that is turned off while no loop has the channel is off on its next loop. */
    @ParameterizedTest
    @EnumSource
    void aServerWhoseAutoReadIsTurnedOffWhileNoLoopHasItPassesNoChildOn(Kind kind) throws Exception {
        listen(bootstrap(kind));
        server.deregister().sync();
        server.config().setAutoRead(false);
        second.register(server).sync();
        long before = RpmaMetrics.accepts().established();
        End end = new End();
        Channel client = connect(kind, end).sync().channel();
        while (RpmaMetrics.accepts().established() == before) {
            turns(second);
        }
        turns(second);
        turns(group.next());
        assertTrue(children.isEmpty());
        server.read();
        child();
        exchange(client, end, 1);
    }

    /**
     * Lets the first loop accept the client of a peer, and leave the channel before it can find out that the connection has been
     * established.
     */
    private RawPeer acceptAndLeave(Kind kind) throws Exception {
        Runnable go = block(first);
        RawPeer peer = request(kind);
        Future<?> left = first.submit(() -> {
            int open = OpenPairs.count();
            for (int now = open; now <= open; now = OpenPairs.count()) {
                open = now;
                ((RpmaIoHandle) server.unsafe()).eventsReady();
            }
            server.deregister();
        });
        go.run();
        left.sync();
        first.submit(() -> assertFalse(server.isRegistered())).sync();
        return peer;
    }

    /** The client confirms its connection while the next loop is busy. The previous loop must not take it over. */
    @ParameterizedTest
    @EnumSource
    void aClientThatHasBeenAcceptedIsEstablishedByTheNextLoop(Kind kind) throws Exception {
        listen(bootstrap(kind));
        long established = RpmaMetrics.accepts().established();
        RawPeer peer = acceptAndLeave(kind);
        Runnable go = block(second);
        ChannelFuture registered = second.register(server);
        assertEquals(ConnectionEvent.ESTABLISHED, peer.nextEvent());
        turns(first);
        assertEquals(established, RpmaMetrics.accepts().established());
        go.run();
        registered.sync();
        child();
        assertEquals(established + 1, RpmaMetrics.accepts().established());
        assertNull(wrong.poll());
    }

    /**
     * No loop has the channel for longer than a client may be silent if the backlog is full. The client that has confirmed its
     * connection meanwhile is not silent, and keeps its place.
     */
    @ParameterizedTest
    @EnumSource
    void aClientThatIsEstablishedWhileNoLoopHasTheServerIsNotSilent(Kind kind) throws Exception {
        listen(bootstrap(kind).option(ChannelOption.SO_BACKLOG, 1));
        RawPeer peer = acceptAndLeave(kind);
        assertEquals(ConnectionEvent.ESTABLISHED, peer.nextEvent());
        RawPeer next = request(kind);
        second.schedule(() -> { }, 1_100, TimeUnit.MILLISECONDS).sync();
        second.register(server).sync();
        assertEquals(ConnectionEvent.ESTABLISHED, next.nextEvent());
        child();
        child();
        assertNull(wrong.poll());
    }

    /** Clients do not answer, one accepted by the first loop, one by the next: the next loop gives both up, after ten seconds. */
    @Test
    void clientsThatDoNotAnswerAreGivenUpByTheNextLoop() throws Exception {
        listen(bootstrap(Kind.STREAM));
        int open = OpenPairs.count();
        long unanswered = RpmaMetrics.accepts().unanswered();
        long since = System.nanoTime();
        acceptAndLeave(Kind.STREAM);
        second.register(server).sync();
        request(Kind.STREAM);
        while (RpmaMetrics.accepts().unanswered() < unanswered + 2) {
            second.schedule(() -> { }, 20, TimeUnit.MILLISECONDS).sync();
        }
        assertTrue(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since) >= 10_000);
        OpenPairs.awaitOpen(open);
        assertNull(children.poll());
        assertNull(wrong.poll());
    }

    /** The server channel is closed on its next loop, and with it the connection of a client that has been accepted before. */
    @ParameterizedTest
    @EnumSource
    void aClientThatHasBeenAcceptedIsClosedByTheNextLoop(Kind kind) throws Exception {
        listen(bootstrap(kind));
        int open = OpenPairs.count();
        acceptAndLeave(kind);
        second.register(server).sync();
        server.close().sync();
        OpenPairs.awaitOpen(open);
        assertNull(children.poll());
    }

    /** Clients connect while the server channel moves to and fro, and all of them are served. */
    @ParameterizedTest
    @EnumSource
    void clientsConnectWhileTheServerMoves(Kind kind) throws Exception {
        listen(bootstrap(kind));
        int moves = 12;
        List<ChannelFuture> connects = new ArrayList<>();
        List<End> ends = new ArrayList<>();
        for (int i = 0; i < moves; i++) {
            for (int k = 0; k < 6; k++) {
                End end = new End();
                ends.add(end);
                connects.add(connect(kind, end));
            }
            server.deregister().sync();
            connects.get(connects.size() - 6).await(1, TimeUnit.MILLISECONDS);
            (i % 2 == 0 ? second : first).register(server).sync();
        }
        for (int i = 0; i < connects.size(); i++) {
            exchange(connects.get(i).sync().channel(), ends.get(i), i);
        }
        assertEquals(connects.size(), children.size());
        assertNull(wrong.poll());
    }

    /** A child that has not been read waits for the next loop, also if the read was requested before. */
    @ParameterizedTest
    @EnumSource
    void aChildThatIsReadWhileTheServerLeavesIsReadOnTheNextLoop(Kind kind) throws Exception {
        listen(bootstrap(kind).option(ChannelOption.AUTO_READ, false));
        long established = RpmaMetrics.accepts().established();
        End end = new End();
        Channel client = connect(kind, end).sync().channel();
        while (RpmaMetrics.accepts().established() == established) {
            turns(first);
        }
        first.submit(() -> {
            server.deregister();
            server.read();
        }).sync();
        turns(first);
        assertFalse(server.isRegistered());
        assertNull(wrong.poll());
        assertNull(children.poll());
        second.register(server).sync();
        child();
        exchange(client, end, 1);
        assertNull(wrong.poll());
    }

    private RpmaConnectRequest requestToDecide() throws InterruptedException {
        RpmaConnectRequest request = asked.poll(20, TimeUnit.SECONDS);
        assertNotNull(request, "nobody asked");
        return request;
    }

    /** The application does not decide about a client. Its deadline moves with the server, whose first loop ends. */
    @ParameterizedTest
    @EnumSource
    void theDeadlineOfADecisionMovesWithTheServer(Kind kind) throws Exception {
        RpmaEventLoopGroup ends = new RpmaEventLoopGroup(1);
        listen(bootstrap(kind, ends.next()).option(RpmaChannelOption.RPMA_REQUEST_HANDLER, asked::add)
            .option(RpmaChannelOption.RPMA_REQUEST_TIMEOUT_MILLIS, 2_000));
        RawPeer peer = request(kind);
        RpmaConnectRequest request = asked.poll(20, TimeUnit.SECONDS);
        assertNotNull(request, "the application was not asked");
        server.deregister().sync();
        second.register(server).sync();
        ends.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        // The connection is established to transfer the reason why the client is refused.
        assertEquals(ConnectionEvent.ESTABLISHED, peer.nextEvent());
        assertTrue(request.isDecided());
    }

    /** A decision about a client is carried out by the next loop, and not by one that has no channel any more. */
    @ParameterizedTest
    @EnumSource
    void aDecisionIsCarriedOutByTheNextLoop(Kind kind) throws Exception {
        listen(bootstrap(kind).option(RpmaChannelOption.RPMA_REQUEST_HANDLER, asked::add));
        // Only the server's end of this connection counts as an open pair. Those of an earlier test may still be ending.
        RawPeer peer = request(kind);
        RpmaConnectRequest request = requestToDecide();
        server.deregister().sync();
        int open = OpenPairs.count();
        Future<Channel> accepted = request.accept();
        turns(first);
        assertTrue(OpenPairs.count() <= open);
        assertFalse(accepted.isDone());
        second.register(server).sync();
        BlockingQueue<Boolean> onTheLoop = new LinkedBlockingQueue<>();
        accepted.addListener(done -> onTheLoop.add(second.inEventLoop()));
        assertEquals(ConnectionEvent.ESTABLISHED, peer.nextEvent());
        assertSame(child(), accepted.sync().getNow());
        assertEquals(true, onTheLoop.poll(20, TimeUnit.SECONDS));
    }

    @ParameterizedTest
    @EnumSource
    void aDecisionFailsIfTheServerIsClosedWhileNoLoopHasIt(Kind kind) throws Exception {
        listen(bootstrap(kind).option(RpmaChannelOption.RPMA_REQUEST_HANDLER, asked::add));
        ChannelFuture connect = connect(kind, new End());
        RpmaConnectRequest request = requestToDecide();
        server.deregister().sync();
        Future<Channel> accepted = request.accept();
        server.close().sync();
        assertTrue(accepted.await(20, TimeUnit.SECONDS));
        assertInstanceOf(ClosedChannelException.class, accepted.cause());
        assertTrue(connect.await(20, TimeUnit.SECONDS));
        assertFalse(connect.isSuccess());
    }

    /** Connections that were refused on the previous loop remain there until they end. */
    @Test
    void refusedConnectionsRemainOnTheirLoop() throws Exception {
        listen(bootstrap(Kind.STREAM));
        List<RawPeer> refused = new ArrayList<>();
        long before = RpmaMetrics.accepts().refused();
        for (int i = 0; i < 3; i++) {
            refused.add(request((ByteBuffer) null));
        }
        while (RpmaMetrics.accepts().refused() < before + 3) {
            turns(first);
        }
        server.deregister().sync();
        second.register(server).sync();
        assertEquals(0, second.submit(() -> ((RpmaServerChannel) server).refused().size()).get());
        refused.add(request((ByteBuffer) null));
        for (RawPeer peer : refused) {
            assertEquals(ConnectionEvent.ESTABLISHED, peer.nextEvent());
            assertEquals(Handshake.REFUSED_MALFORMED, Handshake.decode(peer.peerData()).status());
        }
    }

    /** A channel that no loop has can be bound. Its next loop accepts. */
    @ParameterizedTest
    @EnumSource
    void aServerIsBoundWhileNoLoopHasIt(Kind kind) throws Exception {
        server = bootstrap(kind).register().sync().channel();
        server.deregister().sync();
        server.bind(anyPort()).sync();
        assertTrue(server.isActive());
        End end = new End();
        ChannelFuture connect = connect(kind, end);
        second.register(server).sync();
        exchange(connect.sync().channel(), end, 3);
        assertNull(wrong.poll());
    }

    /** The first loop ends before it has logged how many lines about refused clients were left out. */
    @ParameterizedTest
    @EnumSource
    void linesThatAreLeftOutAreCountedByTheNextLoop(Kind kind) throws Exception {
        RpmaEventLoopGroup ends = new RpmaEventLoopGroup(1);
        EventLoop ending = ends.next();
        listen(bootstrap(kind, ending));
        LogLimit refusals = ((AbstractRpmaServerChannel) server).refusals();
        ending.submit(() -> {
            while (refusals.admits()) {
                continue;
            }
        }).sync();
        server.deregister().sync();
        second.register(server).sync();
        ends.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        Field suppressed = LogLimit.class.getDeclaredField("suppressed");
        suppressed.setAccessible(true);
        // Each check is a turn of the event loop.
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (second.submit(() -> suppressed.getLong(refusals)).get() > 0) {
            assertTrue(System.nanoTime() - deadline < 0, "the number is never logged");
        }
    }
}
