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

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;

/**
 * A server in another process that echoes what it receives, on the given paths and on any address of this host. On some paths it
 * can close each connection at the first message instead.
 */
final class EchoProcess implements AutoCloseable {
    private final Process process;
    private final int port;

    /** Starts a server with this value of {@code -Dio.rpma.netty.paths}. */
    EchoProcess(String paths) throws IOException {
        this(paths, List.of());
    }

    /** Starts a server that closes the connections on some of the paths. */
    EchoProcess(String paths, List<String> closed) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xmx256m", "-Dio.rpma.provider=auto",
            "-Dio.rpma.netty.paths=" + paths, "-cp", System.getProperty("java.class.path"), EchoProcess.class.getName());
        builder.command().addAll(closed);
        process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String line = process.inputReader().readLine();
        if (line == null) {
            throw new IOException("the server did not start");
        }
        port = Integer.parseInt(line);
    }

    int port() {
        return port;
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit().join();
    }

    /** Echoes what it reads, or closes the connection on one of the given paths. */
    @ChannelHandler.Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        private final List<String> closed;

        Echo(List<String> closed) {
            this.closed = closed;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (closed.contains(((RpmaChannel) ctx.channel()).path().toString())) {
                ReferenceCountUtil.release(message);
                ctx.close();
            } else {
                ctx.writeAndFlush(message);
            }
        }
    }

    /**
     * Runs the server. It prints its port, and ends when its standard input ends. The arguments are the paths on which it closes
     * the connections.
     */
    public static void main(String... arguments) throws Exception {
        Channel server = new ServerBootstrap().group(new RpmaEventLoopGroup(1)).channel(RpmaServerChannel.class)
            .childHandler(new Echo(List.of(arguments))).bind(new InetSocketAddress(0)).sync().channel();
        System.out.println(((InetSocketAddress) server.localAddress()).getPort());
        System.out.flush();
        while (System.in.read() >= 0) {
            continue;
        }
        System.exit(0);
    }
}
