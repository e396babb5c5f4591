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
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.internal.logging.InternalLogger;
import io.rpma.Rpma;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Tests that a warning is logged once for each host whose connections use TCP although there is an RDMA device. */
class TcpFallbackTest {
    private static final Map<RpmaPath, String> WHY = Map.of(RpmaPath.RDMA, "Connection refused");

    private final List<String> warnings = new ArrayList<>();
    private final TcpFallback fallback = new TcpFallback(2, recording(warnings));

    /** Returns a logger that records its warnings, each as the pattern followed by its arguments. */
    static InternalLogger recording(List<String> warnings) {
        return (InternalLogger) Proxy.newProxyInstance(TcpFallbackTest.class.getClassLoader(),
            new Class<?>[] {InternalLogger.class}, (proxy, method, arguments) -> {
                if (!method.getName().equals("warn")) {
                    throw new UnsupportedOperationException(method.toString());
                }
                warnings.add(Arrays.deepToString(arguments));
                return null;
            });
    }

    private int warningsAfter(String host, RpmaPath path, Map<RpmaPath, String> passedOver) throws Exception {
        fallback.taken(path, new InetSocketAddress(InetAddress.getByName(host), 7471), passedOver);
        return warnings.size();
    }

    @Test
    void eachHostIsNamedOnce() throws Exception {
        assertEquals(1, warningsAfter("192.0.2.1", RpmaPath.TCP, WHY));
        assertEquals(1, warningsAfter("192.0.2.1", RpmaPath.TCP, WHY));
        assertEquals(2, warningsAfter("2001:db8::1", RpmaPath.TCP, Map.of(RpmaPath.RDMA, "no answer within 250 ms")));
        assertEquals(2, warningsAfter("2001:db8::1", RpmaPath.TCP, WHY));
        assertTrue(warnings.getFirst().contains("192.0.2.1, Connection refused, 192.0.2.1, 7471"), warnings::toString);
        assertTrue(warnings.getLast().contains("no answer within 250 ms, [2001:db8:0:0:0:0:0:1], 7471"), warnings::toString);
    }

    @Test
    void otherConnectionsAreNotNamed() throws Exception {
        assertEquals(0, warningsAfter("192.0.2.1", RpmaPath.RDMA, Map.of(RpmaPath.SHARED_MEMORY, "not this host")));
        assertEquals(0, warningsAfter("192.0.2.1", RpmaPath.TCP, Map.of()));
        assertEquals(0, warningsAfter("192.0.2.1", RpmaPath.TCP, Map.of(RpmaPath.SHARED_MEMORY, "not this host")));
        assertEquals(0, warningsAfter("192.0.2.1", RpmaPath.SHARED_MEMORY, WHY));
        // A server on such an address listens on no device.
        assertEquals(0, warningsAfter("127.0.0.1", RpmaPath.TCP, WHY));
        assertEquals(0, warningsAfter("::1", RpmaPath.TCP, WHY));
        assertEquals(0, warningsAfter("0.0.0.0", RpmaPath.TCP, WHY));
    }

    /** This instance remembers two hosts, those that were connected to last. */
    @Test
    void aFewHostsAreRemembered() throws Exception {
        assertEquals(1, warningsAfter("192.0.2.1", RpmaPath.TCP, WHY));
        assertEquals(2, warningsAfter("192.0.2.2", RpmaPath.TCP, WHY));
        assertEquals(2, warningsAfter("192.0.2.1", RpmaPath.TCP, WHY));
        assertEquals(3, warningsAfter("192.0.2.3", RpmaPath.TCP, WHY));
        assertEquals(3, warningsAfter("192.0.2.1", RpmaPath.TCP, WHY));
        assertEquals(4, warningsAfter("192.0.2.2", RpmaPath.TCP, WHY));
    }

    /** Runs on a real device, with one server that listens on all paths and one that listens on TCP alone. */
    @Test
    @Timeout(300)
    void aServerThatHasNoRdmaIsNamedOnce() throws Exception {
        assumeTrue(Rpma.isAvailable(), "this machine has no RDMA device");
        List<String> options = new ArrayList<>(ChildJvm.ordinary());
        options.add("-Dio.rpma.provider=auto");
        try (ChildJvm child = new ChildJvm(options, Connections.class)) {
            String said = child.rest();
            assertEquals(1, said.split("use TCP, although this process has an RDMA device", -1).length - 1, said);
            assertEquals(List.of("rdma", "tcp", "tcp"),
                said.lines().filter(line -> line.startsWith("path ")).map(line -> line.substring(5)).toList(), said);
        }
    }

    /**
     * Makes one connection to a server on all paths, and two to a server on TCP alone. A connection by RDMA alone comes first:
     * the first one of a process loads its classes, which may take longer than the time that RDMA has before TCP is tried.
     */
    static final class Connections {
        private Connections() {
        }

        public static void main(String... arguments) throws Exception {
            InetAddress device = Rpma.library().orElseThrow().reachable(InetAddress.getLoopbackAddress());
            RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
            ChannelHandler idle = new ChannelInboundHandlerAdapter() {
                @Override
                public boolean isSharable() {
                    return true;
                }
            };
            for (List<RpmaPath> paths : List.of(List.of(RpmaPath.RDMA, RpmaPath.TCP), List.of(RpmaPath.TCP))) {
                Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
                    .option(RpmaChannelOption.RPMA_PATHS, paths).childHandler(idle).bind(device, 0).sync().channel();
                Bootstrap bootstrap = new Bootstrap().group(group).channel(RpmaChannel.class).handler(idle);
                if (paths.contains(RpmaPath.RDMA)) {
                    bootstrap.clone().option(RpmaChannelOption.RPMA_PATHS, List.of(RpmaPath.RDMA))
                        .connect(server.localAddress()).sync().channel().close().sync();
                }
                for (int connection = 0; connection < (paths.size() == 1 ? 2 : 1); connection++) {
                    RpmaChannel client = (RpmaChannel) bootstrap.connect(server.localAddress()).sync().channel();
                    System.out.println("path " + client.path());
                    client.close().sync();
                }
            }
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }
}
