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
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.docs.Documents.Block;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the echo of getting-started.md as a module, in a runtime image without a class path. */
@Timeout(240)
class JlinkTest {
    private static final String EPOLL = "io.netty.transport.epoll.linux."
        + (System.getProperty("os.arch").equals("aarch64") ? "aarch_64" : "x86_64");

    @TempDir
    private Path folder;

    private static String run(String tool, String... arguments) {
        StringWriter output = new StringWriter();
        PrintWriter writer = new PrintWriter(output);
        int code = ToolProvider.findFirst(tool).orElseThrow().run(writer, writer, arguments);
        assertEquals(0, code, output::toString);
        return output.toString();
    }

    // Returns the modules that an application of the transport needs, out of the whole class path of these tests.
    private static String modulePath() {
        return Arrays.stream(System.getProperty("java.class.path").split(":")).map(Path::of).filter(Files::exists)
            .filter(path -> ModuleFinder.of(path).findAll().stream().anyMatch(module ->
                !module.descriptor().isAutomatic() && module.descriptor().name().matches("io\\.rpma(\\.netty)?|org\\.slf4j.*"
                    + "|io\\.netty\\.(common|buffer|resolver|transport.*)")))
            .map(Path::toString).collect(Collectors.joining(":"));
    }

    @Test
    void anEchoFromAnImage() throws Exception {
        Block hello = Documents.blocks("java").stream().filter(block -> block.kind().equals("java run")).findFirst()
            .orElseThrow();
        Path sources = Files.createDirectories(folder.resolve("src/example"));
        Files.writeString(sources.resolve("Hello.java"), "package example;\n" + String.join("\n", hello.text()));
        Files.writeString(folder.resolve("src/module-info.java"), """
            module example.server {
                requires io.netty.buffer;
                requires io.netty.common;
                requires io.netty.transport;
                requires io.rpma.netty;
            }
            """);
        String modules = modulePath();
        run("javac", "-d", folder.resolve("classes").toString(), "--module-path", modules,
            folder.resolve("src/module-info.java").toString(), sources.resolve("Hello.java").toString());
        String callers = "io.rpma,io.netty.common,io.netty.transport.unix.common,io.netty.transport.classes.epoll";
        run("jlink", "--module-path", modules + ":" + folder.resolve("classes"), "--add-modules", "example.server," + EPOLL
            + ",org.slf4j.simple", "--output", folder.resolve("image").toString(), "--strip-debug", "--no-header-files",
            "--no-man-pages", "--add-options=--add-modules=" + EPOLL + " --enable-native-access=" + callers);
        String java = folder.resolve("image/bin/java").toString();
        assertEquals(new Run(0, "Hello, RDMA\n"),
            Run.of(folder, List.of(java, "-Dio.rpma.provider=soft", "-m", "example.server/example.Hello")));
        String listed = Run.of(folder, List.of(java, "--list-modules")).output();
        assertTrue(listed.contains("io.rpma.netty") && !listed.contains("java.desktop"), listed);
    }
}
