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
package io.rpma.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.docs.Documents.Block;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that Java code in the documents compiles, and that blocks with the word {@code run} run. If a block shows a change, the
 * code before the change must compile too.
 */
@Timeout(240)
class JavaBlocksTest {
    private static final List<String> NETTY = List.of("io.netty.bootstrap.*", "io.netty.buffer.*", "io.netty.channel.*",
        "io.netty.channel.epoll.*", "io.netty.channel.socket.*", "io.rpma.netty.*", "java.net.InetSocketAddress");

    // The changes in README.md do not show these declarations, which they do not change.
    private static final String CONTEXT = "static final int LARGEST_BODY = 1 << 20;\nInetSocketAddress address;\n"
        + "EventLoopGroup group;\nstatic class Server extends ChannelInboundHandlerAdapter { }\n"
        + "static class Client extends ChannelInboundHandlerAdapter { }\n";

    @TempDir
    private Path folder;

    private static List<String> imports(String code) {
        List<String> imports = new ArrayList<>(NETTY);
        if (code.contains("Vertx")) {
            imports.addAll(List.of("io.vertx.core.Vertx", "io.vertx.core.http.HttpMethod", "io.rpma.vertx.*"));
        } else if (code.contains("NettyServerBuilder")) {
            imports.addAll(List.of("io.grpc.*", "io.grpc.netty.*"));
        } else if (code.contains("LoopResources")) {
            imports.addAll(List.of("reactor.netty.http.server.HttpServer", "reactor.netty.http.client.HttpClient",
                "reactor.netty.resources.*", "reactor.netty.tcp.*", "reactor.core.publisher.Mono", "io.rpma.reactor.*",
                "io.rsocket.*", "io.rsocket.core.*", "io.rsocket.transport.netty.client.TcpClientTransport",
                "io.rsocket.transport.netty.server.TcpServerTransport", "org.springframework.http.client.ReactorResourceFactory",
                "org.springframework.http.client.reactive.ReactorClientHttpConnector",
                "org.springframework.http.server.reactive.*", "org.springframework.web.reactive.function.client.WebClient",
                "org.springframework.web.reactive.function.server.*"));
        } else {
            imports.add("io.netty.handler.codec.http.*");
        }
        return imports;
    }

    private void compiles(Block block, List<String> lines) throws Exception {
        String code = String.join("\n", lines);
        if (!code.startsWith("import ")) {
            code = imports(code).stream().map(name -> "import " + name + ";\n").collect(Collectors.joining())
                + "class Block {\n" + (code.contains("LARGEST_BODY") ? CONTEXT : "")
                + " void block() throws Exception {\n" + code + "\n}\n}\n";
        }
        assertEquals("", Compiler.compile(folder, code), block::toString);
    }

    @Test
    void blocksCompile() throws Exception {
        List<Block> blocks = Documents.blocks("java");
        assertTrue(blocks.size() >= 3, blocks::toString);
        for (Block block : blocks) {
            compiles(block, block.text());
        }
    }

    @Test
    void changesCompileBeforeAndAfter() throws Exception {
        int count = 0;
        for (Block block : Documents.blocks("diff")) {
            for (char other : new char[] {'+', '-'}) {
                List<String> lines = block.text().stream().filter(line -> line.isEmpty() || line.charAt(0) != other)
                    .map(line -> line.isEmpty() ? line : line.substring(1)).toList();
                assertTrue(lines.size() < block.text().size(), () -> block + " contains no line " + other);
                compiles(block, lines);
                count++;
            }
        }
        assertTrue(count >= 12, "only " + count);
    }

    private Run run(String provider, String main) throws Exception {
        return Run.of(folder, List.of(Run.JAVA, "--enable-native-access=ALL-UNNAMED", "-Dio.rpma.provider=" + provider, "-cp",
            folder + ":" + System.getProperty("java.class.path"), main));
    }

    @Test
    void programsRun() throws Exception {
        List<Block> programs = Documents.blocks("java").stream().filter(block -> block.kind().equals("java run")).toList();
        assertFalse(programs.isEmpty());
        for (Block program : programs) {
            assertEquals("", Compiler.compile(folder, String.join("\n", program.text())), program::toString);
            String main = program.text().stream().filter(line -> line.startsWith("public class ")).findFirst().orElseThrow()
                .split(" ")[2];
            assertEquals(new Run(0, "Hello, RDMA\n"), run("soft", main), program::toString);
            // By default a server has several paths. A warning about the lack of a device may precede the output.
            Run byDefault = run("auto", main);
            assertEquals(0, byDefault.code(), () -> program + ": " + byDefault.output());
            assertTrue(byDefault.output().endsWith("Hello, RDMA\n"), () -> program + ": " + byDefault.output());
        }
    }

    /** The token of a client is found by the code in security.md, although only a stream gets it without zeros behind it. */
    @ParameterizedTest
    @ValueSource(strings = {"Rpma", "RpmaMessage"})
    void aTokenIsFound(String kind) throws Exception {
        Block block = Documents.blocks("java").stream().filter(each -> each.file().endsWith("security.md")).findFirst()
            .orElseThrow();
        String code = NETTY.stream().map(name -> "import " + name + ";\n").collect(Collectors.joining()) + """
            public class Token {
                public static void main(String... arguments) throws Exception {
                    %1$s
                    users.put("token", "user");
                    EventLoopGroup group = new RpmaEventLoopGroup(1);
                    Channel listening = server.group(group).channel(%2$sServerChannel.class)
                        .childHandler(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelActive(ChannelHandlerContext ctx) {
                                System.out.println(ctx.channel().attr(userKey).get());
                                ctx.close();
                            }
                        }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
                    Channel client = new Bootstrap().group(group).channel(%2$sChannel.class)
                        .option(RpmaChannelOption.RPMA_PRIVATE_DATA, java.nio.ByteBuffer.wrap("token".getBytes()))
                        .handler(new ChannelInboundHandlerAdapter()).connect(listening.localAddress()).sync().channel();
                    client.closeFuture().sync();
                    group.shutdownGracefully().sync();
                }
            }
            """.formatted(String.join("\n", block.text()), kind);
        assertEquals("", Compiler.compile(folder, code), block::toString);
        assertEquals(new Run(0, "user\n"), run("soft", "Token"), block::toString);
    }
}
