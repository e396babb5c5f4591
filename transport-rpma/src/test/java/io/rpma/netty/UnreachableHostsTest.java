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

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import io.rpma.Rpma;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Tests that many hosts which do not answer, with many connects to each, do not delay a client's connects to other hosts. The
 * test needs librpma, because soft resolves no addresses. It also needs the guest of {@code testsuite/softroce/run.sh}, in which
 * no host has these addresses once the network interface uses ARP.
 */
@Timeout(180)
class UnreachableHostsTest {
    private static final int HOSTS = 40;
    private static final int CONNECTS = 25;

    private RpmaEventLoopGroup group;

    @BeforeEach
    void start() throws Exception {
        assumeTrue(Rpma.provider().name().equals("librpma"), "soft resolves no address");
        assumeTrue(System.getenv("RPMA_SOFTROCE_RESULTS") != null, "the unreachable addresses are those of softroce/run.sh");
        assumeTrue(askWhoHasAnAddress("on"), "the guest's network interface cannot be set up");
        group = new RpmaEventLoopGroup(1);
    }

    private static boolean askWhoHasAnAddress(String onOrOff) throws Exception {
        return new ProcessBuilder("ip", "link", "set", "dev", "rdma0", "arp", onOrOff).inheritIO().start().waitFor() == 0;
    }

    @AfterEach
    void stop() throws Exception {
        if (group != null) {
            askWhoHasAnAddress("off");
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private Bootstrap client(int timeoutMillis) {
        return new Bootstrap().group(group).channel(RpmaChannel.class).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeoutMillis)
            .handler(new ChannelInboundHandlerAdapter());
    }

    @Test
    void hostsThatDoNotAnswerDoNotHoldUpAConnectToOneThatDoes() throws Exception {
        Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        List<ChannelFuture> unreachable = new ArrayList<>();
        for (int i = 0; i < CONNECTS * HOSTS; i++) {
            InetAddress host = InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, (byte) (1 + i % HOSTS)});
            unreachable.add(client(120_000).connect(new InetSocketAddress(host, 7471)));
        }
        // The first of these connects is to a host that was never connected to before, and the second one is not.
        client(20_000).connect(server.localAddress()).sync().channel().close().sync();
        client(20_000).connect(server.localAddress()).sync().channel().close().sync();
        for (ChannelFuture connect : unreachable) {
            assertFalse(connect.isSuccess());
            connect.channel().close().sync();
        }
    }
}
