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
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.util.NetUtil;
import io.rpma.Device;
import io.rpma.Rpma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import java.net.BindException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Tests the addresses of servers that are bound to a wildcard or by a name. They are like those of TCP. */
@Timeout(60)
class BindAddressTest {
    private EventLoopGroup group;
    private Channel server;
    private volatile CompletableFuture<Channel> accepted = new CompletableFuture<>();

    @AfterEach
    void close() throws Exception {
        if (group != null) {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private void bind(TestTransport transport, InetSocketAddress address) throws Exception {
        group = transport.newGroup(1, "bind-address");
        server = new ServerBootstrap().group(group).channel(transport.serverChannel())
            .childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel child) {
                    accepted.complete(child);
                }
            }).bind(address).sync().channel();
    }

    /** Connects to the server's port at an address. Returns the client after the server has accepted it. */
    private Channel connect(TestTransport transport, InetAddress address) throws Exception {
        accepted = new CompletableFuture<>();
        int port = ((InetSocketAddress) server.localAddress()).getPort();
        Channel client = new Bootstrap().group(group).channel(transport.channel()).handler(new ChannelInboundHandlerAdapter())
            .connect(new InetSocketAddress(address, port)).sync().channel();
        accepted.get(20, TimeUnit.SECONDS);
        return client;
    }

    @ParameterizedTest
    @EnumSource
    void aWildcardTakesConnectionsToAddressesOfBothFamilies(TestTransport transport) throws Exception {
        bind(transport, new InetSocketAddress(0));
        connect(transport, NetUtil.LOCALHOST4);
        assertTrue(((InetSocketAddress) server.localAddress()).getAddress().isAnyLocalAddress(), server.toString());
        assumeTrue(NetworkInterface.getByInetAddress(NetUtil.LOCALHOST6) != null, "this host has no ::1");
        Channel client = connect(transport, NetUtil.LOCALHOST6);
        assertEquals(NetUtil.LOCALHOST6, ((InetSocketAddress) client.remoteAddress()).getAddress());
        assertInstanceOf(Inet6Address.class, ((InetSocketAddress) accepted.get().localAddress()).getAddress());
    }

    @Test
    void aWildcardIsEveryAddressOfEveryDevice() throws Exception {
        bind(TestTransport.RPMA, new InetSocketAddress(0));
        int connections = 0;
        for (Device device : Rpma.provider().devices()) {
            for (InetAddress address : device.addresses()) {
                if (!address.isLinkLocalAddress()) {
                    connect(TestTransport.RPMA, address);
                    assertEquals(address, ((InetSocketAddress) accepted.get().localAddress()).getAddress());
                    connections++;
                }
            }
        }
        assertTrue(connections > 0, "no device has an address");
    }

    /**
     * A wildcard address takes the port at all addresses. No other server can have it at any of them, and closing releases it at
     * each of them.
     */
    @Test
    void aWildcardTakesItsPortEverywhereAndGivesItBack() throws Exception {
        bind(TestTransport.RPMA, new InetSocketAddress(0));
        int port = ((InetSocketAddress) server.localAddress()).getPort();
        for (InetAddress address : Rpma.provider().devices().getFirst().addresses()) {
            if (!address.isLinkLocalAddress()) {
                Throwable failure = server().bind(new InetSocketAddress(address, port)).await().cause();
                assertInstanceOf(BindException.class, failure);
            }
        }
        server.close().sync();
        for (InetAddress address : Rpma.provider().devices().getFirst().addresses()) {
            if (!address.isLinkLocalAddress()) {
                server().bind(new InetSocketAddress(address, port)).sync().channel().close().sync();
            }
        }
    }

    private ServerBootstrap server() {
        return new ServerBootstrap().group(group).channel(TestTransport.RPMA.serverChannel())
            .childHandler(new ChannelInboundHandlerAdapter());
    }

    @ParameterizedTest
    @EnumSource
    void aWildcardIsConnectedToByItsOwnAddress(TestTransport transport) throws Exception {
        bind(transport, new InetSocketAddress(0));
        InetSocketAddress bound = (InetSocketAddress) server.localAddress();
        Channel client = connect(transport, bound.getAddress());
        assertFalse(((InetSocketAddress) client.remoteAddress()).getAddress().isAnyLocalAddress(), client.toString());
    }

    @ParameterizedTest
    @EnumSource
    void addressesOfAServerThatIsBoundByNameHaveNoName(TestTransport transport) throws Exception {
        InetAddress named = InetAddress.getByAddress("localhost", NetUtil.LOCALHOST4.getAddress());
        bind(transport, new InetSocketAddress(named, 0));
        assertHasNoName(server.localAddress());
        Channel client = connect(transport, named);
        assertHasNoName(client.localAddress());
        assertHasNoName(accepted.get().localAddress());
        assertHasNoName(accepted.get().remoteAddress());
        // The remote address of a client has the name that was passed to connect.
        assertEquals("localhost", ((InetSocketAddress) client.remoteAddress()).getHostString());
    }

    private static void assertHasNoName(Object address) {
        InetSocketAddress inet = (InetSocketAddress) address;
        assertEquals(inet.getAddress().getHostAddress(), inet.getHostString(), () -> "the host of " + inet);
        assertTrue(inet.toString().startsWith("/"), inet::toString);
    }
}
