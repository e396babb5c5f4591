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
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;

/** A server in another process that echoes what it receives, on the given paths and on any address of this host. */
final class EchoProcess implements AutoCloseable {
    private final Process process;
    private final int port;

    /** Starts a server with this value of {@code -Dio.rpma.netty.paths}. */
    EchoProcess(String paths) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xmx256m", "-Dio.rpma.provider=auto",
            "-Dio.rpma.netty.paths=" + paths, "-cp", System.getProperty("java.class.path"), EchoProcess.class.getName());
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

    /** Echoes what it reads. */
    @ChannelHandler.Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message);
        }
    }

    /** Runs the server. It prints its port, and ends when its standard input ends. */
    public static void main(String... arguments) throws Exception {
        Channel server = new ServerBootstrap().group(new RpmaEventLoopGroup(1)).channel(RpmaServerChannel.class)
            .childHandler(new Echo()).bind(new InetSocketAddress(0)).sync().channel();
        System.out.println(((InetSocketAddress) server.localAddress()).getPort());
        System.out.flush();
        while (System.in.read() >= 0) {
            continue;
        }
        System.exit(0);
    }
}
