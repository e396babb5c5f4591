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

package io.rpma.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.agent.programs.ArmeriaHttp;
import io.rpma.agent.programs.GrpcEcho;
import io.rpma.agent.programs.LettuceRedis;
import io.rpma.agent.programs.ReactorHttp;
import io.rpma.agent.programs.VertxDomainSockets;
import io.rpma.agent.programs.VertxHttp;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests programs that do not know RPMA, each with and without the agent. They behave the same, and with the agent their bytes go
 * over RPMA.
 */
class FrameworksTest {
    /** Each program sends more bytes than this, and receives them back. */
    private static final long BYTES = 20 * 40_000;

    /** The addresses of this host. A channel whose address the agent does not see would stay on TCP. */
    private static final String SELECTED = "report;ports=0-65535;hosts=127.0.0.1,localhost";

    @Test
    void vertx() throws Exception {
        assertSwapped(VertxHttp.class);
    }

    /** Domain sockets of NIO stay, on the event loops that the application knows. */
    @Test
    void vertxWithDomainSocketsOfNio() throws Exception {
        Program.Output plain = Program.plain().run(VertxDomainSockets.class);
        assertEquals(List.of("result: received 50000"), plain.result(), plain.text());
        Program.Output output = Program.withAgent(SELECTED).run(VertxDomainSockets.class);
        assertEquals(0, output.exitCode(), output.text());
        assertEquals(plain.result(), output.result(), output.text());
    }

    @Test
    void reactorNetty() throws Exception {
        assertSwapped(ReactorHttp.class);
    }

    @Test
    void reactorNettyOnNio() throws Exception {
        assertSwapped(ReactorHttp.class, "-Dreactor.netty.native=false");
    }

    @Test
    void armeria() throws Exception {
        assertSwapped(ArmeriaHttp.class);
    }

    @Test
    void armeriaOnNio() throws Exception {
        assertSwapped(ArmeriaHttp.class, "-Dcom.linecorp.armeria.transportType=nio");
    }

    @Test
    void grpc() throws Exception {
        assertSwapped(GrpcEcho.class);
    }

    @Test
    void lettuce() throws Exception {
        assertSwapped(LettuceRedis.class);
    }

    /** The application also contains gRPC with its relocated Netty. The frameworks use the other copy of Netty. */
    @ParameterizedTest
    @ValueSource(classes = {ReactorHttp.class, ArmeriaHttp.class, GrpcEcho.class})
    void besideARelocatedNetty(Class<?> main) throws Exception {
        Program swapped = Program.withAgent(SELECTED + ";prefix=io.grpc.netty.shaded.io.netty");
        List<String> entries = new ArrayList<>(swapped.classPath());
        try (Stream<Path> files = Files.list(Path.of("target", "grpc-shaded"))) {
            files.forEach(file -> entries.add(file.toAbsolutePath().toString()));
        }
        assertSwapped(main, Program.plain(), swapped.classPath(entries));
    }

    private static void assertSwapped(Class<?> main, String... jvm) throws Exception {
        assertSwapped(main, Program.plain().jvm(jvm), Program.withAgent(SELECTED).jvm(jvm));
    }

    private static void assertSwapped(Class<?> main, Program without, Program with) throws Exception {
        Program.Output plain = without.run(main);
        assertEquals(0, plain.exitCode(), plain.text());
        assertEquals(1, plain.result().size(), plain.text());
        Program.Output swapped = with.run(main);
        assertEquals(0, swapped.exitCode(), swapped.text());
        assertEquals(plain.result(), swapped.result(), swapped.text());
        assertFalse(swapped.text().contains("Unknown channel option"), swapped.text());
        // Both ends are in the same process, so each byte is counted twice.
        assertTrue(swapped.carried() >= 4 * BYTES, swapped.text());
    }
}
