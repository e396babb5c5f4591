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

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.rpma.Rpma;
import io.rpma.examples.TcpProxyExample.End;
import io.rpma.netty.RpmaEventLoopGroup;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests programs that know only TCP through two proxies. They receive the same as without the proxies. */
@Timeout(120)
class TcpProxyExampleTest {
    private static final String LOOPBACK = "127.0.0.1";

    private final EventLoopGroup group = new RpmaEventLoopGroup(2);
    private final List<Channel> proxies = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (Channel proxy : proxies) {
            proxy.close().sync();
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    private End proxy(End from, End to) throws Exception {
        Channel proxy = TcpProxyExample.start(group, from, to);
        proxies.add(proxy);
        return End.of(proxy);
    }

    /** Starts two proxies that connect a TCP port to the given port over RPMA. Returns the TCP port. */
    private int through(int port) throws Exception {
        return proxy(End.tcp(0), proxy(End.rpma(0), End.tcp(port))).address().getPort();
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    @Test
    void asAProgram() throws Exception {
        ExampleRun run = ExampleRun.toEnd("tcp-proxy", "--requests", "10").ended(0);
        run.has("provider=" + Rpma.provider().name());
        String direct = run.has("10 requests, 655360 bytes, checksum=[0-9a-f]{8}, \\d+/s, direct");
        run.has(direct.substring(0, direct.indexOf(", direct")).replaceFirst("\\d+/s", "\\\\d+/s")
            + ", through tcp:127.0.0.1:\\d+ and rpma:\\S+");
    }

    @Test
    void asTwoPrograms() throws Exception {
        try (ServerSocket server = listen();
                ExampleRun back = new ExampleRun("tcp-proxy", "--from", "rpma:127.0.0.1:0",
                    "--to", "tcp:127.0.0.1:" + server.getLocalPort());
                ExampleRun forth = new ExampleRun("tcp-proxy", "--from", "tcp:127.0.0.1:0",
                    "--to", listening(back))) {
            int port = Integer.parseInt(listening(forth).substring("tcp:127.0.0.1:".length()));
            try (Socket client = new Socket(LOOPBACK, port); Socket accepted = server.accept()) {
                byte[] message = random(100_000);
                client.getOutputStream().write(message);
                client.shutdownOutput();
                assertArrayEquals(message, accepted.getInputStream().readAllBytes());
            }
        }
    }

    @Test
    void whereItCannotListenIsNamed() throws Exception {
        try (ServerSocket taken = listen()) {
            String from = "tcp:127.0.0.1:" + taken.getLocalPort();
            ExampleRun run = ExampleRun.toEnd("tcp-proxy", "--from", from, "--to", "tcp:127.0.0.1:9").ended(1);
            run.errorHas("tcp-proxy failed: cannot listen at " + from + ": ");
            run.errorHas("Address already in use; 'ss -ltnp' shows who listens there, and port 0 chooses a free port");
        }
        ExampleRun run = ExampleRun.toEnd("tcp-proxy", "--from", "tcp:192.0.2.1:7471", "--to", "tcp:127.0.0.1:9").ended(1);
        run.errorHas("cannot listen at tcp:192.0.2.1:7471: ");
        run.errorHas("'ip address' shows the addresses of this host");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anAddressInUseIsNamed(boolean rpma) throws Exception {
        End taken = proxy(rpma ? End.rpma(0) : End.tcp(0), End.tcp(9));
        IOException failure = assertThrows(IOException.class, () -> proxy(taken, End.tcp(9)));
        assertTrue(failure.getMessage().contains(":" + taken.address().getPort()), failure::toString);
        assertTrue(failure.getMessage().contains("port 0 chooses a free port") || Rpma.provider().name().equals("librpma"),
            failure::toString);
    }

    private static String listening(ExampleRun proxy) throws IOException {
        return proxy.lineWith(ServerProcess.LISTENING).substring(ServerProcess.LISTENING.length());
    }

    private static ServerSocket listen() throws IOException {
        return new ServerSocket(0, 50, InetAddress.getByName(LOOPBACK));
    }

    /** Starts nginx with the files of a directory, with one port for HTTP/1.1 and one for HTTP/2 without TLS. */
    private static Program nginx(Path directory, int port, int portOfHttp2) throws Exception {
        Path config = directory.resolve("nginx.conf");
        Files.writeString(config, """
            daemon off;
            master_process off;
            pid %1$s/pid;
            error_log stderr notice;
            events {}
            http {
                access_log off;
                client_body_temp_path %1$s/body;
                proxy_temp_path %1$s/proxy;
                fastcgi_temp_path %1$s/fastcgi;
                uwsgi_temp_path %1$s/uwsgi;
                scgi_temp_path %1$s/scgi;
                keepalive_requests 1000000;
                server { listen 127.0.0.1:%2$d; root %1$s; }
                server { listen 127.0.0.1:%3$d http2; root %1$s; }
            }
            """.formatted(directory, port, portOfHttp2));
        return new Program("getrlimit", List.of(Program.of("nginx", "nginx-light"), "-c", config.toString()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"--http1.1", "--http2-prior-knowledge"})
    void curlAndNginx(String protocol, @TempDir Path directory) throws Exception {
        int[] ports = {Program.freePort(), Program.freePort()};
        int[] sizes = {0, 1, 100_000, 3_000_000};
        for (int size : sizes) {
            Files.write(directory.resolve("file" + size), random(size));
        }
        try (Program _ = nginx(directory, ports[0], ports[1])) {
            int port = ports[protocol.startsWith("--http2") ? 1 : 0];
            byte[] direct = curl(protocol, port, sizes);
            assertTrue(direct.length > 3_100_001, "curl got " + direct.length + " bytes");
            assertArrayEquals(direct, curl(protocol, through(port), sizes));
        }
    }

    /** Fetches the files. Returns their contents, each with the report of curl. */
    private static byte[] curl(String protocol, int port, int[] sizes) throws Exception {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int size : sizes) {
            all.write(Program.run(Program.of("curl", "curl"), "-sS", "--noproxy", "*", protocol, "-w",
                "%{http_code} %{http_version} %{size_header} %{size_download}\n", "http://127.0.0.1:" + port + "/file" + size));
        }
        return all.toByteArray();
    }

    /** The server uses RPMA, so there is only one proxy. */
    @Test
    void curlAndTheHttpExample(@TempDir Path directory) throws Exception {
        Channel server = HttpExample.startServer(group, new InetSocketAddress(LOOPBACK, 0));
        int port = proxy(End.tcp(0), End.of(server)).address().getPort();
        byte[] body = random(2_000_000);
        Path file = Files.write(directory.resolve("body"), body);
        byte[] answer = Program.run(Program.of("curl", "curl"), "-sS", "--noproxy", "*", "--data-binary", "@" + file,
            "http://127.0.0.1:" + port + "/");
        assertEquals("POST /", new String(answer, 0, 6, StandardCharsets.US_ASCII));
        assertArrayEquals(body, Arrays.copyOfRange(answer, 6, answer.length));
        server.close().sync();
    }

    @Test
    void redisBenchmarkAndRedisServer(@TempDir Path directory) throws Exception {
        int port = Program.freePort();
        try (Program _ = new Program("Ready to accept connections", List.of(Program.of("redis-server", "redis-server"),
                "--port", Integer.toString(port), "--bind", LOOPBACK, "--save", "", "--dir", directory.toString()))) {
            String direct = redisBenchmark(port, port);
            assertTrue(direct.contains("cmdstat_lpush:calls=2000,"), direct);
            assertEquals(direct, redisBenchmark(port, through(port)));
        }
    }

    /** Runs redis-benchmark. Returns what the server counted: the calls of every command, and the bytes received and sent. */
    private static String redisBenchmark(int port, int benchmarkPort) throws Exception {
        redis(port, "flushall");
        redis(port, "config", "resetstat");
        byte[] out = Program.run(Program.of("redis-benchmark", "redis-tools"), "-h", LOOPBACK, "-p",
            Integer.toString(benchmarkPort), "-n", "2000", "-c", "20", "-P", "10", "-d", "100", "-t", "set,get,incr,lpush",
            "--csv");
        assertEquals(5, new String(out, StandardCharsets.UTF_8).lines().count(), () -> new String(out, StandardCharsets.UTF_8));
        return redis(port, "info", "all").lines()
            .filter(line -> line.matches("(cmdstat_(set|get|incr|lpush):|total_net_input_bytes:|total_net_output_bytes:).*"))
            .map(line -> line.replaceFirst(",usec.*(,rejected_calls)", "$1")).sorted().collect(Collectors.joining("\n"));
    }

    private static String redis(int port, String... command) throws Exception {
        List<String> words = new ArrayList<>(List.of(Program.of("redis-cli", "redis-tools"), "-p", Integer.toString(port)));
        words.addAll(List.of(command));
        return new String(Program.run(words.toArray(String[]::new)), StandardCharsets.UTF_8);
    }

    @Test
    void wrkAndNginx(@TempDir Path directory) throws Exception {
        int port = Program.freePort();
        Files.write(directory.resolve("file"), random(10_000));
        try (Program _ = nginx(directory, port, Program.freePort())) {
            wrk(directory, port);
            wrk(directory, through(port));
        }
    }

    /** Runs wrk for a second. Every response must be complete, and none may be a failure. */
    private static void wrk(Path directory, int port) throws Exception {
        int connections = 8;
        int response = Program.run(Program.of("curl", "curl"), "-sSi", "--noproxy", "*",
            "http://127.0.0.1:" + port + "/file").length;
        Path script = Files.writeString(directory.resolve("wrk.lua"), """
            function done(summary, latency, requests)
                local e = summary.errors
                io.write(string.format("requests=%d bytes=%d errors=%d\\n", summary.requests, summary.bytes,
                    e.connect + e.read + e.write + e.status + e.timeout))
            end
            """);
        String out = new String(Program.run(Program.of("wrk", "wrk"), "-t", "1", "-c", Integer.toString(connections), "-d", "1",
            "-s", script.toString(), "http://127.0.0.1:" + port + "/file"), StandardCharsets.UTF_8);
        Matcher counts = Pattern.compile("requests=(\\d+) bytes=(\\d+) errors=0\n").matcher(out);
        assertTrue(counts.find(), out);
        long requests = Long.parseLong(counts.group(1));
        long bytes = Long.parseLong(counts.group(2));
        // Responses that were incomplete at the end of the second are only included in the number of bytes.
        assertTrue(requests > 0 && bytes >= requests * response && bytes <= (requests + connections) * response,
            response + " bytes each: " + out);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void eitherDirectionMayEndBeforeTheOther(boolean clientFirst) throws Exception {
        byte[] request = random(1_000_000);
        byte[] response = random(3_000_000);
        try (ServerSocket server = listen();
                Socket client = new Socket(LOOPBACK, through(server.getLocalPort()));
                Socket accepted = server.accept()) {
            Socket first = clientFirst ? client : accepted;
            Socket second = clientFirst ? accepted : client;
            send(first, request);
            assertArrayEquals(request, second.getInputStream().readAllBytes());
            send(second, response);
            assertArrayEquals(response, first.getInputStream().readAllBytes());
        }
    }

    /** The client ends its direction before the proxy has connected to the target. */
    @Test
    void aClientThatSaysNothingIsAnswered() throws Exception {
        try (ServerSocket server = listen()) {
            int port = through(server.getLocalPort());
            for (int i = 0; i < 30; i++) {
                byte[] answer = random(i);
                try (Socket client = new Socket(LOOPBACK, port)) {
                    client.shutdownOutput();
                    try (Socket accepted = server.accept()) {
                        assertEquals(-1, accepted.getInputStream().read());
                        send(accepted, answer);
                        assertArrayEquals(answer, client.getInputStream().readAllBytes());
                    }
                }
            }
        }
    }

    /** Writes all bytes and ends the direction, in a thread of its own, because this thread reads. */
    private static void send(Socket to, byte[] bytes) {
        Thread.ofVirtual().start(() -> {
            try {
                to.getOutputStream().write(bytes);
                to.shutdownOutput();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Test
    void aServerThatDoesNotReadStopsTheClient() throws Exception {
        try (ServerSocket server = listen();
                SocketChannel client = SocketChannel.open(new InetSocketAddress(LOOPBACK, through(server.getLocalPort())));
                Socket accepted = server.accept()) {
            long sent = fill(client);
            client.shutdownOutput();
            assertEquals(sent, count(accepted));
        }
    }

    /** Writes until nothing can be written for a second, because the reader does not read. Returns the number of bytes. */
    private static long fill(SocketChannel to) throws IOException {
        to.configureBlocking(false);
        long sent = 0;
        try (Selector writable = Selector.open()) {
            to.register(writable, SelectionKey.OP_WRITE);
            ByteBuffer part = ByteBuffer.allocate(64 << 10);
            while (writable.select(1000) > 0) {
                writable.selectedKeys().clear();
                part.clear();
                sent += to.write(part);
                assertTrue(sent < 64 << 20, "the proxies accept more than anyone reads");
            }
        }
        return sent;
    }

    private static long count(Socket from) throws IOException {
        long received = 0;
        byte[] buffer = new byte[64 << 10];
        for (int n = from.getInputStream().read(buffer); n >= 0; n = from.getInputStream().read(buffer)) {
            received += n;
        }
        return received;
    }

    /** The client ends its direction before or after the proxy has connected to the target, and reads later. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSideThatHasEndedItsDirectionMayReadLater(boolean beforeTheTarget) throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(LOOPBACK, 0));
                Socket client = new Socket(LOOPBACK, through(server.socket().getLocalPort()))) {
            if (beforeTheTarget) {
                client.shutdownOutput();
            }
            try (SocketChannel accepted = server.accept()) {
                if (!beforeTheTarget) {
                    client.getOutputStream().write(1);
                    assertEquals(1, accepted.read(ByteBuffer.allocate(1)));
                    client.shutdownOutput();
                }
                assertEquals(-1, accepted.read(ByteBuffer.allocate(1)));
                long sent = fill(accepted);
                accepted.shutdownOutput();
                assertEquals(sent, count(client));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aConnectionThatBreaksBreaksItsOtherSide(boolean clientBreaks) throws Exception {
        try (ServerSocket server = listen();
                Socket client = new Socket(LOOPBACK, through(server.getLocalPort()));
                Socket accepted = server.accept()) {
            Socket one = clientBreaks ? client : accepted;
            Socket other = clientBreaks ? accepted : client;
            one.getOutputStream().write(1);
            assertEquals(1, other.getInputStream().read());
            one.setSoLinger(true, 0);
            one.close();
            IOException reset = assertThrows(IOException.class, () -> other.getInputStream().read());
            assertTrue(reset.getMessage().contains("reset"), reset::toString);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "rpma"})
    void aTargetThatIsDownClosesTheClientAtOnceAndIsNamed(String transport) throws Exception {
        int down;
        try (ServerSocket server = listen()) {
            down = server.getLocalPort();
        }
        String target = transport + ":127.0.0.1:" + down;
        try (ExampleRun proxy = new ExampleRun("tcp-proxy", "--from", "tcp:127.0.0.1:0", "--to", target)) {
            int port = Integer.parseInt(listening(proxy).substring("tcp:127.0.0.1:".length()));
            for (int i = 0; i < 2; i++) {
                try (Socket client = new Socket(LOOPBACK, port)) {
                    assertEquals(-1, client.getInputStream().read());
                }
            }
            proxy.handle().destroy();
            proxy.await();
            assertEquals(2, proxy.error().lines().filter(line -> line.startsWith("tcp-proxy: the target " + target
                + " is down, so the connection from /127.0.0.1:")).count(), proxy::error);
        }
    }
}
