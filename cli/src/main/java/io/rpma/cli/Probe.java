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
package io.rpma.cli;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.cli.Report.Connection;
import io.rpma.cli.Report.NotTaken;
import io.rpma.netty.RpmaByteBufAllocator;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaIoHandler;
import io.rpma.netty.RpmaMetrics;
import io.rpma.netty.RpmaPath;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Connects to an address as a program would, to find out which path the connection takes. */
final class Probe {
    /** The longest timeout of a connection. Netty has it in milliseconds, in an {@code int}. */
    static final int LONGEST_TIMEOUT_SECONDS = Integer.MAX_VALUE / 1000;

    private Probe() {
    }

    /**
     * Connects, then closes the connection.
     *
     * @param timeoutSeconds how long the connection may take
     */
    static Connection of(InetSocketAddress address, int timeoutSeconds) throws RpmaException {
        EventLoopGroup group = new RpmaEventLoopGroup(1);
        try {
            Bootstrap bootstrap = new Bootstrap().group(group).channel(RpmaChannel.class)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) TimeUnit.SECONDS.toMillis(timeoutSeconds))
                .handler(new ChannelInboundHandlerAdapter());
            if (System.getProperty("io.rpma.netty.paths") == null) {
                // All paths are listed, including those that the process does not have, so that the result contains the reasons
                // why they were not taken.
                bootstrap.option(RpmaChannelOption.RPMA_PATHS, List.of(RpmaPath.values()));
            }
            ChannelFuture connected = bootstrap.connect(address).awaitUninterruptibly();
            RpmaChannel channel = (RpmaChannel) connected.channel();
            List<NotTaken> notTaken = new ArrayList<>();
            channel.pathsNotTaken().forEach((path, reason) -> notTaken.add(new NotTaken(path.toString(), reason)));
            RpmaPath path = channel.path();
            return new Connection(text(address), path == null ? null : path.toString(), path == null ? null : device(channel),
                notTaken, connected.isSuccess() ? null : FailureText.of(connected.cause()));
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    /**
     * Returns the paths that the channels of this process would try: those of the default of {@code RPMA_PATHS} that the process
     * has.
     *
     * @throws IllegalArgumentException if a system property of the transport has a value that is not allowed
     */
    static List<RpmaPath> paths() {
        checkProperties();
        List<RpmaPath> existing = Rpma.providers().stream().map(RpmaPath::of).toList();
        RpmaChannel channel = new RpmaChannel();
        try {
            return channel.config().getOption(RpmaChannelOption.RPMA_PATHS).stream().filter(existing::contains).toList();
        } finally {
            channel.unsafe().closeForcibly();
        }
    }

    /** Has the transport read its properties, of which some are needed only by an event loop or by the first connection. */
    private static void checkProperties() {
        try {
            RpmaIoHandler.newFactory();
            RpmaByteBufAllocator.DEFAULT.cachedBytes();
            RpmaMetrics.surplusReceiveBytes();
        } catch (ExceptionInInitializerError e) {
            throw new IllegalArgumentException(e.getCause().getMessage(), e);
        } catch (UnsatisfiedLinkError e) {
            // Netty's native library is missing, which is not the subject of this check. It fails each connection.
            return;
        }
    }

    /** Returns the name of the device of this host that the connection uses. */
    static String device(RpmaChannel channel) throws RpmaException {
        return provider(channel.path()).localDevice(channel.localAddress().getAddress()).name();
    }

    /**
     * Returns the provider that implements a path.
     *
     * @throws IllegalArgumentException if this process does not have the provider
     */
    static RpmaProvider provider(RpmaPath path) {
        for (RpmaProvider provider : Rpma.providers()) {
            if (RpmaPath.of(provider) == path) {
                return provider;
            }
        }
        throw new IllegalArgumentException("this process does not have the path " + path);
    }

    /** Returns an address in the form in which it is given on the command line. */
    static String text(InetSocketAddress address) {
        String host = KernelDevices.text(address.getAddress());
        return (host.indexOf(':') < 0 ? host : '[' + host + ']') + ':' + address.getPort();
    }
}
