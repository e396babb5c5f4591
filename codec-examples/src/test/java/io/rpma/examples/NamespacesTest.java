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
package io.rpma.examples;

import io.rpma.netty.RpmaPath;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests several hosts, which are network namespaces that are connected by virtual cables, without an RDMA device between them.
 * All programs run with the provider {@code auto} and all paths.
 */
@Timeout(240)
class NamespacesTest {
    private static final long PATIENCE_SECONDS = 230;
    private static final int MOST_TRIES = 10;

    @TempDir
    private Path folder;
    private final List<AutoCloseable> open = new ArrayList<>();
    private NetworkHost one;
    private NetworkHost two;

    @BeforeEach
    void join() throws Exception {
        one = opened(NetworkHost.first());
        two = opened(one.another());
        one.join(two, "10.99.1");
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T opened(T closeable) {
        open.add(closeable);
        return closeable;
    }

    private ExampleRun start(NetworkHost host, Class<?> program, String... arguments) throws Exception {
        List<String> command = ExampleJvm.command(program, List.of(arguments));
        // The last option of a name counts. The command already contains the provider of these tests.
        command.addAll(command.indexOf("-cp"),
            List.of("-Dio.rpma.provider=auto", "-Dio.rpma.netty.paths=shared-memory,rdma,tcp"));
        return opened(new ExampleRun(host.command(command), PATIENCE_SECONDS));
    }

    private ExampleRun example(NetworkHost host, String... arguments) throws Exception {
        return start(host, Examples.class, arguments);
    }

    private static String port(ExampleRun server) throws Exception {
        String line = server.lineWith(ServerProcess.LISTENING);
        return line.substring(line.lastIndexOf(':') + 1);
    }

    @Test
    void echoBetweenTwoHostsGoesByTcp() throws Exception {
        ExampleRun server = example(one, "echo", "--server", "--host", "10.99.1.1");
        ExampleRun client = example(two, "echo", "--client", "--host", "10.99.1.1", "--port", port(server), "--bytes=9MiB",
            "--round-trips=200").ended(0);
        client.has("provider=tcp");
        client.has("device=tcp");
        client.has("checksum=[0-9a-f]{8} match");
        String served = server.lineWith("/10.99.1.2:");
        assertTrue(served.matches("\\S+ received=\\d+ checksum=([0-9a-f]{8}) sent=\\d+ checksum=\\1"), served);
    }

    @Test
    void oneServerIsReachedBySharedMemoryAndByTcpAtTheSameTime() throws Exception {
        NetworkHost three = opened(one.another());
        one.join(three, "10.99.2");
        ExampleRun server = start(one, PathProgram.class, "serve", "0.0.0.0");
        String port = port(server);
        List<ExampleRun> clients = new ArrayList<>();
        clients.add(connected(server, one, "127.0.0.1", port, RpmaPath.SHARED_MEMORY));
        clients.add(connected(server, one, "10.99.1.1", port, RpmaPath.SHARED_MEMORY));
        clients.add(connected(server, two, "10.99.1.1", port, RpmaPath.TCP));
        clients.add(connected(server, three, "10.99.2.1", port, RpmaPath.TCP));
        for (ExampleRun client : clients) {
            client.say("5000000");
        }
        for (ExampleRun client : clients) {
            assertEquals(PathProgram.ECHOED + "5000000", client.lineWith(PathProgram.ECHOED));
        }
        // The end of one client does not affect the others.
        clients.removeLast().close();
        assertEquals(PathProgram.ENDED + RpmaPath.TCP, server.lineWith(PathProgram.ENDED));
        for (ExampleRun client : clients) {
            client.say("100");
            assertEquals(PathProgram.ECHOED + "5000100", client.lineWith(PathProgram.ECHOED));
        }
    }

    /** Starts a client, and asserts that both ends use the path. */
    private ExampleRun connected(ExampleRun server, NetworkHost host, String address, String port, RpmaPath path)
            throws Exception {
        String expected = PathProgram.PATH + path;
        ExampleRun client = start(host, PathProgram.class, "connect", address, port);
        String taken = client.lineWith(PathProgram.PATH);
        assertEquals(taken, server.lineWith(PathProgram.PATH));
        // On a busy machine the best path may answer after its head start, when another path may be taken.
        for (int i = 0; i < MOST_TRIES && !taken.equals(expected); i++) {
            client.close();
            server.lineWith(PathProgram.ENDED);
            client = start(host, PathProgram.class, "connect", address, port);
            taken = client.lineWith(PathProgram.PATH);
            assertEquals(taken, server.lineWith(PathProgram.PATH));
        }
        assertEquals(expected, taken);
        return client;
    }

    @Test
    void remoteLogBetweenTwoHosts() throws Exception {
        Path log = folder.resolve("log");
        String[] serve = {"remote-log", "--server", "--host", "10.99.1.1", "--file", log.toString(), "--records", "1000"};
        ExampleRun server = example(one, serve);
        appends(port(server)).has("provider=tcp");
        // After the server was killed, all acknowledged records are in the file, and the next server continues after them.
        server.handle().destroyForcibly();
        server.await();
        assertTrue(Files.size(log) > 1000 * 128);
        appends(port(example(one, serve)));
    }

    private ExampleRun appends(String port) throws Exception {
        ExampleRun client =
            example(two, "remote-log", "--client", "--host", "10.99.1.1", "--port", port, "--records", "400").ended(0);
        client.has("appended=800 records .* and read back");
        return client;
    }

    @Test
    void memoryCacheBetweenTwoHosts() throws Exception {
        ExampleRun server = example(one, "memory-cache", "--server", "--host", "10.99.1.1", "--keys", "100");
        ExampleRun client = example(two, "memory-cache", "--client", "--host", "10.99.1.1", "--port", port(server), "--keys",
            "100", "--gets", "2000").ended(0);
        client.has("provider=tcp");
        client.has("gets=2000, .*");
    }

    /** Both the idle connection and the one with data to send detect it. The deadlines are in docs/tcp-protocol.md. */
    @Test
    @Tag("slow")
    void aHostThatVanishesEndsItsConnectionsByTheirDeadlines() throws Exception {
        ExampleRun server = start(one, PathProgram.class, "serve", "10.99.1.1");
        String port = port(server);
        ExampleRun idle = connected(server, two, "10.99.1.1", port, RpmaPath.TCP);
        ExampleRun busy = connected(server, two, "10.99.1.1", port, RpmaPath.TCP);
        for (ExampleRun client : List.of(idle, busy)) {
            client.say("100");
            client.lineWith(PathProgram.ECHOED);
        }
        two.run("ip", "link", "set", "10.99.1", "down");
        long vanished = System.nanoTime();
        busy.say("100");
        for (ExampleRun each : List.of(busy, idle, server, server)) {
            assertEquals(PathProgram.ENDED + RpmaPath.TCP, each.lineWith(PathProgram.ENDED));
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - vanished);
            assertTrue(seconds >= 45 && seconds <= 90, () -> "ended after " + seconds + " s");
        }
    }
}
