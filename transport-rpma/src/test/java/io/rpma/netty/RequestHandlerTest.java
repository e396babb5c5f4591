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
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.util.AttributeKey;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.rpma.Connection;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.netty.ConnectedChannels.End;
import io.rpma.netty.ConnectedChannels.Kind;
import io.rpma.netty.stream.Handshake;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a server's application decides about each client before it is accepted. */
@Timeout(60)
class RequestHandlerTest {
    private static final AttributeKey<String> USER = AttributeKey.valueOf(RequestHandlerTest.class, "user");

    private RpmaEventLoopGroup group;
    private final End atServer = new End();
    private final BlockingQueue<RpmaConnectRequest> asked = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> users = new LinkedBlockingQueue<>();
    private Channel listener;

    @BeforeEach
    void start() {
        group = new RpmaEventLoopGroup(1);
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private ServerBootstrap server(Kind kind, RpmaRequestHandler handler) {
        return server(group, kind, handler);
    }

    private ServerBootstrap server(RpmaEventLoopGroup on, Kind kind, RpmaRequestHandler handler) {
        return new ServerBootstrap().group(on).channel(kind.server)
            .option(RpmaChannelOption.RPMA_REQUEST_HANDLER, handler)
            .handler(new ChannelInboundHandlerAdapter() {
                @Override
                public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    failures.add(cause);
                }
            })
            .childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    users.add(String.valueOf(ch.attr(USER).get()));
                    ch.pipeline().addLast(atServer);
                }
            });
    }

    private void listen(ServerBootstrap server) throws InterruptedException {
        listener = server.bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
    }

    private ChannelFuture connect(Kind kind, String privateData, End end) {
        Bootstrap client = new Bootstrap().group(group).channel(kind.client).handler(end);
        if (privateData != null) {
            client.option(RpmaChannelOption.RPMA_PRIVATE_DATA, bytes(privateData));
        }
        return client.connect(listener.localAddress());
    }

    private ChannelFuture connect(Kind kind) {
        return connect(kind, null, new End());
    }

    private static ByteBuffer bytes(String text) {
        return StandardCharsets.UTF_8.encode(text);
    }

    /** Returns the data without the zeros that devices append. */
    private static String text(ByteBuffer data) {
        String all = StandardCharsets.UTF_8.decode(data).toString();
        int end = all.indexOf(0);
        return end < 0 ? all : all.substring(0, end);
    }

    private static ByteBuffer peerData(Channel channel) {
        return channel instanceof RpmaChannel stream ? stream.peerPrivateData()
            : ((RpmaMessageChannel) channel).peerPrivateData();
    }

    private RpmaConnectRequest next() throws InterruptedException {
        RpmaConnectRequest request = asked.poll(20, TimeUnit.SECONDS);
        assertNotNull(request, "nobody asked");
        return request;
    }

    private static <T> Future<T> done(Future<T> future) throws InterruptedException {
        assertTrue(future.await(20, TimeUnit.SECONDS));
        return future;
    }

    private static void exchange(Channel from, End to) throws InterruptedException {
        from.writeAndFlush(Unpooled.copiedBuffer("hello", StandardCharsets.US_ASCII)).sync();
        ByteBuf read = (ByteBuf) to.next();
        assertEquals("hello", read.toString(StandardCharsets.US_ASCII));
        read.release();
    }

    @ParameterizedTest
    @EnumSource
    void eachClientIsSeenAndAnsweredWithItsOwnData(Kind kind) throws Exception {
        listen(server(kind, request -> {
            asked.add(request);
            String user = text(request.privateData());
            request.accept(bytes("welcome, " + user)).addListener((Future<Channel> accepted) ->
                accepted.getNow().attr(USER).set(user));
        }));
        for (String user : new String[] {"anna", "bert"}) {
            End atClient = new End();
            Channel client = connect(kind, user, atClient).sync().channel();
            RpmaConnectRequest request = next();
            assertSame(listener, request.serverChannel());
            assertEquals(((InetSocketAddress) listener.localAddress()).getAddress(), request.remoteAddress().getAddress());
            assertTrue(request.isDecided());
            assertTrue(request.toString().endsWith(", accepted"), request::toString);
            assertEquals(kind == Kind.STREAM ? user.length() : 56, request.privateData().remaining());
            assertTrue(request.privateData().isReadOnly());
            assertEquals("welcome, " + user, text(peerData(client)));
            Channel child = atServer.accepted();
            assertEquals(user, text(peerData(child)));
            assertEquals(user, users.poll(20, TimeUnit.SECONDS), "the user is set before the pipeline is initialized");
            exchange(client, atServer);
            exchange(child, atClient);
        }
    }

    @ParameterizedTest
    @EnumSource
    void withoutDataOfItsOwnTheAnswerHasThoseOfTheOptions(Kind kind) throws Exception {
        listen(server(kind, RpmaConnectRequest::accept).option(RpmaChannelOption.RPMA_PRIVATE_DATA, bytes("everybody's")));
        assertEquals("everybody's", text(peerData(connect(kind).sync().channel())));
        listener.config().setOption(RpmaChannelOption.RPMA_REQUEST_HANDLER, request -> request.accept(bytes("")));
        assertEquals("", text(peerData(connect(kind).sync().channel())));
    }

    /** Another thread decides about many requests, in the reverse order of their arrival. */
    @ParameterizedTest
    @EnumSource
    void aDecisionMayBeTakenLaterByAnyThread(Kind kind) throws Exception {
        listen(server(kind, asked::add));
        int count = 8;
        ChannelFuture[] connects = new ChannelFuture[count];
        RpmaConnectRequest[] requests = new RpmaConnectRequest[count];
        for (int i = 0; i < count; i++) {
            connects[i] = connect(kind, "client " + i, new End());
        }
        for (int i = 0; i < count; i++) {
            RpmaConnectRequest request = next();
            requests[Integer.parseInt(text(request.privateData()).substring(7))] = request;
            assertFalse(request.isDecided());
        }
        for (int i = count - 1; i >= 0; i--) {
            assertFalse(connects[i].isDone());
            if (i % 2 == 0) {
                Future<Channel> accepted = done(requests[i].accept(bytes("answer " + i)));
                assertEquals(((InetSocketAddress) connects[i].sync().channel().localAddress()).getPort(),
                    ((InetSocketAddress) accepted.getNow().remoteAddress()).getPort());
                assertEquals("answer " + i, text(peerData(connects[i].channel())));
            } else {
                assertTrue(requests[i].reject());
                assertInstanceOf(ConnectException.class, done(connects[i]).cause());
            }
        }
    }

    /** Tests a reason with a line feed, the longest reason, and an empty one. */
    @Test
    void aStreamIsRefusedWithAReason() throws Exception {
        long refused = RpmaMetrics.accepts().refused();
        listen(server(Kind.STREAM, request -> request.refuse(text(request.privateData()))));
        Throwable cause = done(connect(Kind.STREAM, "the token\nhas expired", new End())).cause();
        RpmaRefusedException refusal = assertInstanceOf(RpmaRefusedException.class, cause);
        assertEquals("the token?has expired", refusal.reason());
        assertTrue(refusal.getMessage().endsWith(" refused the connection: the token?has expired"), refusal.getMessage());
        listener.config().setOption(RpmaChannelOption.RPMA_REQUEST_HANDLER, request -> request.refuse("x".repeat(179)));
        assertEquals("x".repeat(179), ((RpmaRefusedException) done(connect(Kind.STREAM)).cause()).reason());
        listener.config().setOption(RpmaChannelOption.RPMA_REQUEST_HANDLER, request -> request.refuse(""));
        assertEquals("", ((RpmaRefusedException) done(connect(Kind.STREAM)).cause()).reason());
        assertEquals(3, RpmaMetrics.accepts().refused() - refused);
        listener.config().setOption(RpmaChannelOption.RPMA_REQUEST_HANDLER, RpmaConnectRequest::accept);
        exchange(connect(Kind.STREAM).sync().channel(), atServer);
    }

    @Test
    void aMessageChannelReadsTheReasonAndIsDisconnected() throws Exception {
        listen(server(Kind.MESSAGES, request -> request.refuse("not you")));
        Channel client = connect(Kind.MESSAGES).sync().channel();
        assertEquals("not you", text(peerData(client)));
        assertTrue(client.closeFuture().await(20, TimeUnit.SECONDS));
        listener.config().setOption(RpmaChannelOption.RPMA_REQUEST_HANDLER, RpmaConnectRequest::accept);
        exchange(connect(Kind.MESSAGES).sync().channel(), atServer);
        assertEquals(1, users.size(), "a refused client has no child channel");
    }

    /** Messages of refused clients take receives that other connections share. These receives must be posted again. */
    @Test
    void refusedClientsDoNotUseUpSharedReceives() throws Exception {
        RpmaSharedReceiveQueue queue = new RpmaSharedReceiveQueue(4, 64);
        listen(server(Kind.MESSAGES, request -> request.refuse("no")).option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, queue));
        for (int i = 0; i < 20; i++) {
            Channel client = connect(Kind.MESSAGES).sync().channel();
            client.writeAndFlush(Unpooled.copiedBuffer("hello", StandardCharsets.US_ASCII));
            client.closeFuture().sync();
        }
        listener.config().setOption(RpmaChannelOption.RPMA_REQUEST_HANDLER, RpmaConnectRequest::accept);
        Channel client = connect(Kind.MESSAGES).sync().channel();
        for (int i = 0; i < 10; i++) {
            exchange(client, atServer);
        }
        client.close().sync();
        listener.close().sync();
        queue.release();
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNotDecidedInTimeIsRefused(Kind kind) throws Exception {
        listen(server(kind, asked::add).option(RpmaChannelOption.RPMA_REQUEST_TIMEOUT_MILLIS, 50));
        ChannelFuture connect = connect(kind);
        assertRefused(kind, connect);
        RpmaConnectRequest request = next();
        assertTrue(request.isDecided());
        Throwable late = done(request.accept()).cause();
        assertInstanceOf(IllegalStateException.class, late);
        assertTrue(late.getMessage().endsWith("has been decided already: refused, because it was not decided within 50 ms"),
            late.getMessage());
        assertFalse(request.refuse("late"));
        assertFalse(request.reject());
    }

    private void assertRefused(Kind kind, ChannelFuture connect) throws InterruptedException {
        done(connect);
        if (kind == Kind.STREAM) {
            assertEquals("the server could not decide", assertInstanceOf(RpmaRefusedException.class, connect.cause()).reason());
        } else {
            assertTrue(connect.isSuccess());
            assertEquals("the server could not decide", text(peerData(connect.channel())));
            assertTrue(connect.channel().closeFuture().await(20, TimeUnit.SECONDS));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHandlerThatFailsRefusesItsClientAlone(Kind kind) throws Exception {
        listen(server(kind, request -> {
            throw new IllegalStateException("no directory");
        }));
        assertRefused(kind, connect(kind));
        assertEquals("no directory", failures.poll(20, TimeUnit.SECONDS).getMessage());
        listener.config().setOption(RpmaChannelOption.RPMA_REQUEST_HANDLER, request -> {
            request.accept();
            throw new IllegalStateException("after the decision");
        });
        exchange(connect(kind).sync().channel(), atServer);
        assertEquals("after the decision", failures.poll(20, TimeUnit.SECONDS).getMessage());
    }

    @ParameterizedTest
    @EnumSource
    void onlyOneDecisionCounts(Kind kind) throws Exception {
        listen(server(kind, asked::add));
        ChannelFuture connect = connect(kind);
        RpmaConnectRequest request = next();
        int most = kind == Kind.STREAM ? 179 : 196;
        assertEquals("RPMA_PRIVATE_DATA is " + (most + 1) + " bytes; allowed are 0 to " + most,
            assertThrows(IllegalArgumentException.class, () -> request.accept(ByteBuffer.allocate(most + 1))).getMessage());
        assertEquals("the reason has " + (most + 1) + " bytes in UTF-8; allowed are 0 to " + most,
            assertThrows(IllegalArgumentException.class, () -> request.refuse("x".repeat(most + 1))).getMessage());
        assertThrows(NullPointerException.class, () -> request.accept(null));
        assertThrows(NullPointerException.class, () -> request.refuse(null));
        assertFalse(request.isDecided());
        assertTrue(done(request.accept(ByteBuffer.allocate(most))).isSuccess());
        assertInstanceOf(IllegalStateException.class, done(request.accept()).cause());
        assertFalse(request.refuse("no"));
        exchange(connect.sync().channel(), atServer);
    }

    /** A request that has not been decided occupies a place in the backlog. The next request is seen when a place is free. */
    @ParameterizedTest
    @EnumSource
    void theUndecidedCountAgainstTheBacklog(Kind kind) throws Exception {
        listen(server(kind, asked::add).option(ChannelOption.SO_BACKLOG, 2));
        ChannelFuture[] connects = {connect(kind), connect(kind), connect(kind)};
        RpmaConnectRequest first = next();
        RpmaConnectRequest second = next();
        assertFalse(first.isDecided() || second.isDecided());
        // The third request has arrived or arrives now. After the loop has handled another connect, it must not have been taken.
        Channel other = new ServerBootstrap().group(group).channel(kind.server).childHandler(new End())
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        new Bootstrap().group(group).channel(kind.client).handler(new End()).connect(other.localAddress()).sync();
        assertTrue(asked.isEmpty());
        assertTrue(second.refuse("no"));
        RpmaConnectRequest third = next();
        assertTrue(done(third.accept()).isSuccess());
        assertTrue(done(first.accept()).isSuccess());
        for (ChannelFuture connect : connects) {
            done(connect);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aServerThatIsClosedLeavesNobodyWaiting(Kind kind) throws Exception {
        listen(server(kind, asked::add));
        ChannelFuture connect = connect(kind);
        RpmaConnectRequest request = next();
        listener.close().sync();
        assertInstanceOf(ConnectException.class, done(connect).cause());
        assertTrue(request.isDecided());
        assertTrue(done(request.accept()).cause().getMessage().endsWith("rejected, because the server channel was closed"));
    }

    /** The handler itself closes the server channel. */
    @ParameterizedTest
    @EnumSource
    void aHandlerMayCloseTheServer(Kind kind) throws Exception {
        listen(server(kind, request -> {
            request.serverChannel().close();
            asked.add(request);
        }));
        ChannelFuture connect = connect(kind);
        assertFalse(done(connect).isSuccess());
        assertTrue(done(next().accept()).cause() instanceof IllegalStateException);
        assertTrue(listener.closeFuture().await(20, TimeUnit.SECONDS));
    }

    /** The listener that is notified of the child closes the server channel. The child must be closed too. */
    @ParameterizedTest
    @EnumSource
    void aListenerMayCloseTheServer(Kind kind) throws Exception {
        listen(server(kind, request -> request.accept().addListener(accepted -> request.serverChannel().close())));
        Channel client = connect(kind).sync().channel();
        assertTrue(listener.closeFuture().await(20, TimeUnit.SECONDS));
        assertTrue(client.closeFuture().await(20, TimeUnit.SECONDS));
    }

    /**
     * A client that does not answer loses its place to the next one. The listener that is notified of this closes the server
     * channel, whose handler must not be asked about the next one any more.
     */
    @ParameterizedTest
    @EnumSource
    void aListenerMayCloseTheServerWhileRoomIsMade(Kind kind) throws Exception {
        listen(server(kind, request -> {
            asked.add(request);
            request.accept().addListener(failed -> request.serverChannel().close());
        }).option(ChannelOption.SO_BACKLOG, 1));
        try (RawPeer silent = new RawPeer()) {
            silent.request((InetSocketAddress) listener.localAddress(),
                kind == Kind.STREAM ? new Handshake(Handshake.MINOR, 0, 16 << 10, 16, 0).encode() : null);
            next();
            ChannelFuture connect = connect(kind);
            assertTrue(listener.closeFuture().await(20, TimeUnit.SECONDS));
            assertInstanceOf(ConnectException.class, done(connect).cause());
            assertTrue(asked.isEmpty());
        }
    }

    /** A decision fails after the loop has terminated. */
    @ParameterizedTest
    @EnumSource
    void aDecisionAfterTheEndOfTheLoopFails(Kind kind) throws Exception {
        RpmaEventLoopGroup own = new RpmaEventLoopGroup(1);
        listen(server(own, kind, asked::add));
        ChannelFuture connect = connect(kind);
        RpmaConnectRequest request = next();
        own.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        assertFalse(done(connect).isSuccess());
        assertFalse(request.reject());
        assertFalse(request.accept().isSuccess());
    }

    /** A client that has closed its channel cannot be accepted. The application is told so, and the next client is served. */
    @ParameterizedTest
    @EnumSource
    void aClientMayGoBeforeTheDecision(Kind kind) throws Exception {
        listen(server(kind, asked::add));
        ChannelFuture connect = connect(kind);
        RpmaConnectRequest request = next();
        connect.channel().close().sync();
        Throwable cause = done(request.accept()).cause();
        assertNotNull(cause);
        assertFalse(cause instanceof ClosedChannelException || cause instanceof IllegalStateException, cause::toString);
        ChannelFuture again = connect(kind);
        next().accept();
        exchange(again.sync().channel(), atServer);
        assertTrue(failures.isEmpty(), failures::toString);
    }

    /** The receives of a connection are allocated and posted when its client is accepted, and not before. */
    @ParameterizedTest
    @EnumSource
    void nothingIsAllocatedBeforeTheDecision(Kind kind) throws Exception {
        ServerBootstrap bootstrap = server(kind, asked::add);
        if (kind == Kind.STREAM) {
            bootstrap.option(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, false);
        }
        listen(bootstrap);
        AbstractRpmaServerChannel server = (AbstractRpmaServerChannel) listener;
        ByteBuffer data = kind == Kind.STREAM ? new Handshake(Handshake.MINOR, 0, 16 << 10, 16, 0).encode() : bytes("hello");
        CountingRequest request = new CountingRequest(data);
        Throwable failure = listener.eventLoop().submit(() -> {
            NextChild next = server.newNext(server.fabric(), false);
            next.configured();
            Admission admission = next.admit(request);
            assertEquals(0, request.receives);
            return assertThrows(RpmaException.class, () -> admission.accept(null));
        }).get();
        assertEquals("connect", failure.getMessage());
        assertTrue(request.receives >= 16, () -> request.receives + " receives");
        assertTrue(request.closed);
    }

    /** A request that counts the receives that are posted for it. Its client is gone when it is accepted. */
    private static final class CountingRequest implements ConnectionRequest {
        private final ByteBuffer data;
        private int receives;
        private boolean closed;

        CountingRequest(ByteBuffer data) {
            this.data = data;
        }

        @Override
        public ByteBuffer privateData() {
            return data.asReadOnlyBuffer();
        }

        @Override
        public InetSocketAddress remoteAddress() {
            return new InetSocketAddress(NetUtil.LOCALHOST, 1);
        }

        @Override
        public void receive(LocalMemoryRegion target, long offset, long length, long context) {
            receives++;
        }

        @Override
        public Connection connect(ByteBuffer privateData) throws RpmaException {
            throw new RpmaException(RpmaError.PROVIDER, "connect");
        }

        @Override
        public void close() {
            closed = true;
        }
    }
}
