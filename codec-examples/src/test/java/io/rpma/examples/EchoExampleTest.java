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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.Device;
import io.rpma.Rpma;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the main example as a user runs it, in separate processes. */
@Timeout(120)
class EchoExampleTest {
    private static final InetSocketAddress LOOPBACK = new InetSocketAddress("127.0.0.1", 0);

    @Test
    void twoProcessesExchangeACheckedStream() throws Exception {
        ExampleRun run = ExampleRun.toEnd("echo", "--bytes", "9MiB", "--round-trips", "200").ended(0);
        run.has("provider=" + Rpma.provider().name());
        run.has("device=\\S+");
        run.has("sent=" + (9 * ByteSize.MIB + 300 * EchoPlan.ROUND_TRIP_BYTES) + " bytes.*");
        run.has("received=" + (9 * ByteSize.MIB + 300 * EchoPlan.ROUND_TRIP_BYTES) + " bytes.*");
        run.has("checksum=[0-9a-f]{8} match");
        run.has("throughput=[0-9.]+ MiB/s .*");
        run.has("rtt p50=[0-9.]+ us p99=[0-9.]+ us p99.9=[0-9.]+ us .*");
        assertEquals(7, run.out().size(), run.out()::toString);
        assertTrue(run.out().stream().noneMatch(line -> line.contains("\r")), "there is a progress bar in a pipe");
    }

    @Test
    void bothSidesByHandAndTwoClientsInTurn() throws Exception {
        try (ExampleRun server = new ExampleRun("echo", "--server")) {
            String address = server.lineWith(ServerProcess.LISTENING);
            String port = address.substring(address.lastIndexOf(':') + 1);
            for (int i = 0; i < 2; i++) {
                ExampleRun client = ExampleRun.toEnd("echo", "--client", "--port", port, "--bytes=100KiB", "--round-trips=10");
                client.ended(0).has("checksum=[0-9a-f]{8} match");
                String served = server.lineWith("/");
                assertTrue(served.matches("/\\S+ received=103360 checksum=([0-9a-f]{8}) sent=103360 checksum=\\1"), served);
            }
        }
    }

    @Test
    void aServerOnTheWildcardAddressNamesEveryDevice() throws Exception {
        String devices = Rpma.provider().devices().stream().map(Device::name).collect(Collectors.joining(", "));
        try (ExampleRun server = new ExampleRun("echo", "--server", "--host", "0.0.0.0")) {
            assertEquals("device=" + devices, server.lineWith("device="));
        }
    }

    /** The printed address can be given to other commands. */
    @Test
    void anAddressOfIpv6IsPrintedInBrackets() throws Exception {
        InetSocketAddress printed = new InetSocketAddress("::1", 7471);
        assertEquals("[0:0:0:0:0:0:0:1]:7471", ServerProcess.format(printed));
        String to = TcpProxyExample.End.parse("rpma:" + ServerProcess.format(printed)).toString();
        assertEquals("rpma:[::1]:7471", to);
        assertEquals("127.0.0.1:7471", ServerProcess.format(new InetSocketAddress("127.0.0.1", 7471)));
        assumeTrue(NetworkInterface.getByInetAddress(printed.getAddress()) != null, "this host has no IPv6");
        assumeFalse(Rpma.provider().name().equals("librpma"), "no device may have this address");
        ExampleRun.toEnd("echo", "--host", "::1", "--bytes", "1MiB", "--round-trips", "10").ended(0)
            .has("checksum=[0-9a-f]{8} match");
    }

    @Test
    void aWrongPropertyIsExplainedWithoutAStackTrace() throws Exception {
        List<String> command = new ArrayList<>(ExampleJvm.command(List.of("websocket")));
        command.add(1, "-Dio.rpma.netty.polling=never");
        try (ExampleRun run = new ExampleRun(command, 60)) {
            run.ended(1).errorHas("-Dio.rpma.netty.polling is never");
            assertTrue(run.error().lines().noneMatch(line -> line.startsWith("\tat ")), run::error);
        }
    }

    @Test
    void nobodyListening() throws Exception {
        int port;
        try (EchoServer server = new EchoServer(LOOPBACK, line -> { })) {
            port = server.address().getPort();
        }
        ExampleRun client = ExampleRun.toEnd("echo", "--client", "--port", Integer.toString(port)).ended(1);
        client.errorHas("echo failed: ");
        client.errorHas("refused");
    }

    @Test
    void portInUse() throws Exception {
        try (EchoServer server = new EchoServer(LOOPBACK, line -> { })) {
            ExampleRun second = ExampleRun.toEnd("echo", "--port", Integer.toString(server.address().getPort())).ended(1);
            second.errorHas("in use");
            second.errorHas("the server process ended before it listened, with exit code 1");
        }
    }

    @Test
    void theEndOfTheServerProcessEndsTheExample() throws Exception {
        try (ExampleRun run = new ExampleRun("echo", "--bytes=1GiB", "--round-trips=1000000000")) {
            run.lineWith("device=");
            ProcessHandle server = onlyChild(run);
            server.destroyForcibly();
            run.ended(1).errorHas("the server process ended with exit code 137");
        }
    }

    @Test
    void theEndOfTheExampleEndsTheServerProcess() throws Exception {
        try (ExampleRun run = new ExampleRun("echo", "--bytes=1GiB", "--round-trips=1000000000")) {
            run.lineWith("device=");
            ProcessHandle server = onlyChild(run);
            // The process is killed, so that no shutdown hook runs.
            run.handle().destroyForcibly();
            server.onExit().get(30, TimeUnit.SECONDS);
            assertFalse(server.isAlive());
        }
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '"', value = {"--bytes=12parsecs,'12parsecs' is not a number of bytes",
        "--bytes=0,'0' is out of range",
        "--bytes=9999999999GiB,'9999999999GiB' is out of range",
        "--round-trips=-1,--round-trips -1: at least 0",
        "--client,--port 0: the server's port is needed",
        "--port=65536,--port 65536: the server's port is needed",
        "--bandwidth=9,Unknown option: '--bandwidth=9'",
        "--server --client,mutually exclusive"})
    void aWrongOptionIsNamed(String options, String words) {
        StringWriter error = new StringWriter();
        String[] arguments = ("echo " + options).split(" ");
        assertEquals(2, Examples.commandLine(arguments).setErr(new PrintWriter(error)).execute(arguments));
        assertTrue(error.toString().contains(words), error::toString);
    }

    @Test
    void aProviderThatIsNoneIsNamed() throws Exception {
        ExampleRun.toEnd("echo", "--provider=carrier-pigeon").ended(1)
            .errorHas("'carrier-pigeon'; it must be one of auto, librpma, soft, tcp");
    }

    private static ProcessHandle onlyChild(ExampleRun run) {
        List<ProcessHandle> children = run.handle().children().toList();
        assertEquals(1, children.size(), children::toString);
        return children.getFirst();
    }
}
