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
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.resolver.NoopAddressResolverGroup;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the types of the exceptions by which applications distinguish failures. They are those of Netty's own channels. */
@Timeout(60)
class ExceptionTypesTest {
    private EventLoopGroup group;

    @AfterEach
    void close() throws Exception {
        if (group != null) {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private Bootstrap client(TestTransport transport) {
        if (group == null) {
            group = transport.newGroup(1, "exceptions");
        }
        return new Bootstrap().group(group).channel(transport.channel()).handler(new ChannelInboundHandlerAdapter());
    }

    private Channel unconnected(TestTransport transport) throws Exception {
        return client(transport).register().sync().channel();
    }

    private Channel server(TestTransport transport) throws Exception {
        client(transport);
        return new ServerBootstrap().group(group).channel(transport.serverChannel())
            .childHandler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress(NetUtil.LOCALHOST4, 0)).sync().channel();
    }

    private static InetSocketAddress blackHole() {
        return new InetSocketAddress(System.getProperty("io.netty.testsuite.badHost"),
            Integer.getInteger("io.netty.testsuite.badPort", 65535));
    }

    private static Throwable failure(Future<?> future) throws Exception {
        assertTrue(future.await(30, TimeUnit.SECONDS));
        assertNotNull(future.cause());
        return future.cause();
    }

    @ParameterizedTest
    @EnumSource
    void aConnectThatTakesTooLongIsAConnectTimeout(TestTransport transport) throws Exception {
        InetSocketAddress target = blackHole();
        ChannelFuture connect = client(transport).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 300).connect(target);
        Throwable cause = failure(connect);
        assertEquals(ConnectTimeoutException.class, cause.getClass());
        assertEquals("connection timed out after 300 ms: " + target, cause.getMessage());
        connect.channel().closeFuture().sync();
    }

    /** The exception for a timeout must not depend on what a late loop handles first. */
    @ParameterizedTest
    @EnumSource
    void aConnectThatTakesTooLongIsAConnectTimeoutOnALateLoop(TestTransport transport) throws Exception {
        InetSocketAddress target = blackHole();
        ChannelFuture connect = client(transport).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 300).connect(target);
        group.execute(() -> LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(900)));
        assertEquals("connection timed out after 300 ms: " + target, failure(connect).getMessage());
    }

    @ParameterizedTest
    @EnumSource
    void aSecondConnectIsRefusedWhileTheFirstIsPending(TestTransport transport) throws Exception {
        Channel channel = unconnected(transport);
        ChannelFuture first = channel.connect(blackHole());
        assertInstanceOf(ConnectionPendingException.class, failure(channel.connect(blackHole())));
        assertFalse(first.isDone());
        channel.close().sync();
        assertInstanceOf(ClosedChannelException.class, failure(first));
    }

    @ParameterizedTest
    @EnumSource
    void aSecondConnectIsRefusedWhenTheFirstHasSucceeded(TestTransport transport) throws Exception {
        Channel server = server(transport);
        Channel channel = client(transport).connect(server.localAddress()).sync().channel();
        assertInstanceOf(AlreadyConnectedException.class, failure(channel.connect(server.localAddress())));
        assertTrue(channel.isActive());
    }

    @ParameterizedTest
    @EnumSource
    @Tag("refused-connections")
    void aRefusedConnectionIsAConnectException(TestTransport transport) throws Exception {
        Channel server = server(transport);
        server.close().sync();
        Throwable cause = failure(client(transport).connect(server.localAddress()));
        assertInstanceOf(ConnectException.class, cause);
        assertFalse(cause instanceof ConnectTimeoutException, cause::toString);
        assertTrue(cause.getMessage().contains("Connection refused"), cause::toString);
        assertTrue(cause.getMessage().endsWith(server.localAddress().toString()), cause::toString);
    }

    @ParameterizedTest
    @EnumSource
    void anUnresolvedAddressIsNamedSo(TestTransport transport) throws Exception {
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("nowhere.invalid", 7471);
        assertInstanceOf(UnresolvedAddressException.class,
            failure(client(transport).resolver(NoopAddressResolverGroup.INSTANCE).connect(unresolved)));
        assertInstanceOf(UnresolvedAddressException.class, failure(unconnected(transport).connect(
            new InetSocketAddress(NetUtil.LOCALHOST4, 7471), unresolved)));
        assertInstanceOf(UnresolvedAddressException.class, failure(unconnected(transport).bind(unresolved)));
        assertInstanceOf(UnresolvedAddressException.class, failure(new ServerBootstrap().group(group)
            .channel(transport.serverChannel()).childHandler(new ChannelInboundHandlerAdapter()).bind(unresolved)));
    }

    @ParameterizedTest
    @EnumSource
    void anAddressThatIsTakenIsAnIOException(TestTransport transport) throws Exception {
        Channel server = server(transport);
        Throwable cause = failure(new ServerBootstrap().group(group).channel(transport.serverChannel())
            .option(ChannelOption.SO_REUSEADDR, false).childHandler(new ChannelInboundHandlerAdapter())
            .bind(server.localAddress()));
        assertInstanceOf(IOException.class, cause);
        assertTrue(cause.getMessage().contains("Address already in use"), cause::toString);
    }

    @ParameterizedTest
    @EnumSource
    void aSecondBindFailsAndLeavesTheFirstAsItIs(TestTransport transport) throws Exception {
        Channel server = server(transport);
        InetSocketAddress bound = (InetSocketAddress) server.localAddress();
        failure(server.bind(new InetSocketAddress(NetUtil.LOCALHOST4, 0)));
        assertEquals(bound, server.localAddress());
        client(transport).connect(bound).sync().channel().close().sync();
    }

    @ParameterizedTest
    @EnumSource
    void whatNeedsAConnectionSaysThatThereIsNoneYet(TestTransport transport) throws Exception {
        SocketChannel channel = (SocketChannel) unconnected(transport);
        assertInstanceOf(NotYetConnectedException.class, failure(channel.writeAndFlush(Unpooled.copyInt(1))));
        assertInstanceOf(NotYetConnectedException.class, failure(channel.shutdownInput()));
        assertTrue(channel.isOpen());
    }

    @ParameterizedTest
    @EnumSource
    void whatNeedsAnOpenChannelSaysThatItIsClosed(TestTransport transport) throws Exception {
        Channel server = server(transport);
        SocketChannel channel = (SocketChannel) client(transport).connect(server.localAddress()).sync().channel();
        channel.close().sync();
        assertInstanceOf(ClosedChannelException.class, failure(channel.writeAndFlush(Unpooled.copyInt(1))));
        assertInstanceOf(ClosedChannelException.class, failure(channel.connect(server.localAddress())));
        assertInstanceOf(ClosedChannelException.class, failure(channel.bind(new InetSocketAddress(0))));
        assertInstanceOf(ClosedChannelException.class, failure(channel.shutdownOutput()));
        assertInstanceOf(ClosedChannelException.class, failure(channel.shutdownInput()));
        assertInstanceOf(ClosedChannelException.class, failure(channel.shutdown()));
        server.close().sync();
        assertInstanceOf(ClosedChannelException.class, failure(server.bind(new InetSocketAddress(0))));
    }

    @ParameterizedTest
    @EnumSource
    void whatCannotBeWrittenIsUnsupported(TestTransport transport) throws Exception {
        Channel server = server(transport);
        Channel channel = client(transport).connect(server.localAddress()).sync().channel();
        assertInstanceOf(UnsupportedOperationException.class, failure(channel.writeAndFlush("text")));
        assertInstanceOf(UnsupportedOperationException.class, failure(server.writeAndFlush(Unpooled.copyInt(1))));
        assertTrue(channel.isActive());
        assertTrue(server.isActive());
    }
}
