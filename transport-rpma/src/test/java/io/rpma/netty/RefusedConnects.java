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
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.rpma.Rpma;
import io.rpma.RpmaProvider;
import io.rpma.netty.connect.ConnectFailure;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Measures how long a connect takes to a port on which no server listens, for each set of paths. The sets take turns. Run it by
 * hand with {@code -Dio.rpma.provider=auto}. The argument is the number of connects of each set, and 2,000 by default.
 */
final class RefusedConnects {
    private static final int BATCH = 50;

    private RefusedConnects() {
    }

    /** A handler that does nothing. */
    @ChannelHandler.Sharable
    private static final class Nothing extends ChannelInboundHandlerAdapter {
    }

    public static void main(String... arguments) throws Exception {
        int count = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 2000;
        InetAddress host = InetAddress.getLoopbackAddress();
        List<RpmaPath> all = new ArrayList<>();
        for (RpmaProvider provider : Rpma.providers()) {
            all.add(RpmaPath.of(provider));
            host = provider.reachable(host);
        }
        Map<List<RpmaPath>, long[]> nanos = new LinkedHashMap<>();
        all.forEach(path -> nanos.put(List.of(path), new long[count]));
        for (int paths = 2; paths <= all.size(); paths++) {
            nanos.put(List.copyOf(all.subList(0, paths)), new long[count]);
        }
        InetSocketAddress closed;
        try (ServerSocket socket = new ServerSocket(0, 1, host)) {
            closed = new InetSocketAddress(host, socket.getLocalPort());
        }
        RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
        for (int round = -1; round < count / BATCH; round++) {
            for (Map.Entry<List<RpmaPath>, long[]> set : nanos.entrySet()) {
                Bootstrap client = new Bootstrap().group(group).channel(RpmaChannel.class)
                    .option(RpmaChannelOption.RPMA_PATHS, set.getKey()).handler(new Nothing());
                // The first round warms up.
                for (int i = 0; i < (round < 0 ? count : BATCH); i++) {
                    long began = System.nanoTime();
                    Throwable cause = client.connect(closed).await().cause();
                    if (cause == null || !cause.getMessage().startsWith(ConnectFailure.REFUSED)) {
                        throw new IllegalStateException(closed + " does not refuse the connection", cause);
                    }
                    if (round >= 0) {
                        set.getValue()[round * BATCH + i] = System.nanoTime() - began;
                    }
                }
            }
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        nanos.forEach((paths, times) -> {
            long[] sorted = Arrays.copyOf(times, count / BATCH * BATCH);
            Arrays.sort(sorted);
            System.out.printf("%-30s p10 %6.1f us, median %6.1f us, p90 %6.1f us%n", paths, sorted[sorted.length / 10] / 1e3,
                sorted[sorted.length / 2] / 1e3, sorted[sorted.length * 9 / 10] / 1e3);
        });
    }
}
