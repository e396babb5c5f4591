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

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.rpma.RpmaUnavailableException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a process whose provider becomes usable later has registered memory then. */
@Timeout(120)
class LaterProviderTest {
    /** Uses registered memory before the folder of soft exists and after it has been created. */
    static final class Child {
        private Child() {
        }

        public static void main(String... arguments) throws Exception {
            System.out.println("result: " + RpmaByteBufAllocator.DEFAULT.registeredBytes() + " bytes");
            try {
                RpmaByteBufAllocator.DEFAULT.directBuffer(100).release();
            } catch (RpmaUnavailableException e) {
                System.out.println("result: unavailable");
            }
            Files.createDirectory(Path.of(arguments[0]));
            RpmaEventLoopGroup group = new RpmaEventLoopGroup(1);
            try {
                Channel server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
                    .childHandler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress("127.0.0.1", 0)).sync()
                    .channel();
                Channel client = new Bootstrap().group(group).channel(RpmaChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
                client.writeAndFlush(client.alloc().directBuffer().writeInt(1)).sync();
                System.out.println("result: sent, " + (RpmaByteBufAllocator.DEFAULT.registeredBytes() > 0));
            } finally {
                group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
            }
        }
    }

    private static List<String> run(Path folder, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED", "-Dio.rpma.soft.directory=" + folder));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Child.class.getName(), folder.toString()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> lines = process.inputReader().lines().toList();
        assertEquals(0, process.waitFor(), () -> String.join("\n", lines));
        assertEquals(List.of("result: 0 bytes", "result: unavailable", "result: sent, true"),
            lines.stream().filter(line -> line.startsWith("result: ")).toList(), () -> String.join("\n", lines));
        return lines;
    }

    @Test
    void registeredMemoryIsUsedWhenTheFolderExists(@TempDir Path temporary) throws Exception {
        run(temporary.resolve("folder"), "-Dio.rpma.provider=soft");
    }

    @Test
    void theLackOfADeviceIsLoggedOnce(@TempDir Path temporary) throws Exception {
        List<String> lines = run(temporary.resolve("folder"), "-Dio.rpma.provider=auto",
            "-Dio.rpma.library=" + temporary.resolve("no-library"));
        assertEquals(1, lines.stream().filter(line -> line.contains("Using the software RDMA provider")).count(),
            () -> String.join("\n", lines));
    }
}
