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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import io.rpma.Rpma;
import io.rpma.cli.Report.NotTaken;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what the commands report about the paths to an address, as far as this machine has them. */
@Timeout(300)
class PathCommandsTest {
    private static final String ALL = "shared-memory,rdma,tcp";
    private static final boolean DEVICE = Rpma.isAvailable();

    private static CliRun rpma(String... arguments) throws Exception {
        List<String> all = new ArrayList<>(List.of(arguments));
        if (!all.contains("-W") && !all.contains("--timeout")) {
            // The default is too short for a connection on a busy machine.
            all.addAll(List.of("--timeout", "60"));
        }
        return CliRun.of(List.of("--enable-native-access=ALL-UNNAMED"), Map.of(), all.toArray(String[]::new));
    }

    /** Returns an address of this host that every path reaches. */
    private static String at(int port) throws Exception {
        return Rpma.provider().reachable(InetAddress.getLoopbackAddress()).getHostAddress() + ":" + port;
    }

    private static Report.Connection connection(CliRun run) {
        return new Gson().fromJson(run.out(), Report.class).connection();
    }

    private static List<String> paths(List<NotTaken> notTaken) {
        return notTaken.stream().map(NotTaken::path).toList();
    }

    private static boolean wasOvertaken(Report.Connection connection) {
        return connection.notTaken().stream().anyMatch(each -> each.reason().startsWith("no answer within"));
    }

    private static List<String> rows(CliRun run) {
        List<String> lines = run.out().lines().toList();
        int head = lines.indexOf(lines.stream().filter(line -> line.startsWith("path  ")).findFirst().orElseThrow(
            () -> new AssertionError(run.toString())));
        return lines.subList(head + 1, lines.size());
    }

    private static int roundTrips(String row) {
        String[] columns = row.split(" +");
        assertEquals(8, columns.length, row);
        return Integer.parseInt(columns[1]);
    }

    @Test
    void infoTellsThePath() throws Exception {
        try (EchoProcess server = new EchoProcess(ALL)) {
            CliRun run = rpma("info", "--json", at(server.port())).ended(0);
            // On a busy machine the best path may answer after its head start, when another path may be taken.
            for (int i = 0; i < 20 && wasOvertaken(connection(run)); i++) {
                run = rpma("info", "--json", at(server.port())).ended(0);
            }
            Report.Connection connection = connection(run);
            assertEquals(at(server.port()), connection.to());
            assertEquals(List.of(), connection.notTaken());
            assertEquals("shared-memory", connection.path());
            assertEquals("soft", connection.device());
            assertNull(connection.problem());
            assertEquals("", run.error());
            Report report = new Gson().fromJson(run.out(), Report.class);
            assertEquals(DEVICE ? List.of("shared-memory", "rdma", "tcp") : List.of("shared-memory", "tcp"), report.paths());
        }
    }

    @Test
    void infoTellsWhyNotABetterPath() throws Exception {
        try (EchoProcess server = new EchoProcess("tcp")) {
            Report.Connection connection = connection(rpma("info", "--json", at(server.port())).ended(0));
            assertEquals("tcp", connection.path());
            assertEquals("tcp", connection.device());
            assertEquals(List.of("shared-memory", "rdma"), paths(connection.notTaken()));
            if (!DEVICE) {
                assertEquals(Rpma.unavailabilityCause().getMessage(), connection.notTaken().getLast().reason());
            }
            CliRun run = rpma("info", at(server.port())).ended(0);
            assertTrue(run.out().startsWith("connection       to " + at(server.port()) + " by tcp, device tcp"), run::out);
            assertTrue(run.out().contains("not by shared-memory: "), run::out);
            assertTrue(run.out().contains("not by rdma: "), run::out);
            // The report contains what the warning would say, so no warning is logged.
            assertEquals("", run.error());
        }
    }

    @Test
    void infoTellsWhyThereIsNoPath() throws Exception {
        String closed;
        try (EchoProcess server = new EchoProcess(ALL)) {
            closed = at(server.port());
        }
        CliRun run = rpma("info", "--json", closed).ended(1);
        Report.Connection connection = connection(run);
        assertNull(connection.path());
        assertTrue(connection.problem().startsWith("Connection refused"), connection::problem);
        assertEquals(List.of("shared-memory", "rdma", "tcp"), paths(connection.notTaken()));
        assertTrue(rpma("info", closed).ended(1).out().startsWith("connection       to " + closed + ": NONE: "));
        assertEquals(2, rpma("info", "10.0.0.1").code());
        assertEquals(2, rpma("info", closed, "--timeout", "0").code());
        CliRun tooLong = rpma("info", closed, "-W", "2147484").ended(2);
        assertTrue(tooLong.error().startsWith("--timeout 2147484: 1 to 2147483"), tooLong::error);
    }

    @Test
    void infoWithOneProviderHasOnePath() throws Exception {
        try (EchoProcess server = new EchoProcess("tcp")) {
            Report.Connection connection = connection(rpma("info", "--json", "--provider", "tcp", at(server.port())).ended(0));
            assertEquals("tcp", connection.path());
            assertEquals("this process has only the provider tcp", connection.notTaken().getFirst().reason());
        }
    }

    @Test
    void pingMeasuresEachPath() throws Exception {
        try (EchoProcess server = new EchoProcess(ALL)) {
            CliRun run = rpma("ping", "-n", "200", "-t", "60", at(server.port())).ended(0);
            List<String> rows = rows(run);
            assertEquals(DEVICE ? 3 : 2, rows.size(), run::out);
            assertTrue(rows.getFirst().startsWith("shared-memory "), run::out);
            assertTrue(rows.getLast().startsWith("tcp "), run::out);
            rows.forEach(row -> assertEquals(200, roundTrips(row), row));
            assertTrue(run.out().contains("provider=tcp device=tcp path=tcp from="), run::out);
        }
    }

    @Test
    void pingMeasuresThePathsThatAreAskedFor() throws Exception {
        try (EchoProcess server = new EchoProcess("tcp")) {
            CliRun one = rpma("ping", "-n", "50", "-t", "60", "--path", "tcp", at(server.port())).ended(0);
            assertTrue(one.out().startsWith("provider=tcp device=tcp path=tcp "), one::out);
            assertTrue(one.out().lines().toList().getLast().startsWith("roundtrips=50 "), one::out);
            CliRun pigeon = rpma("ping", "--path", "pigeon", at(server.port())).ended(2);
            assertTrue(pigeon.error().contains("'pigeon' is not a path; the paths are: [shared-memory, rdma, tcp]"),
                pigeon::error);
        }
    }

    @Test
    void pingTellsWhyAPathDoesNotLeadThere() throws Exception {
        try (EchoProcess server = new EchoProcess("tcp")) {
            CliRun two = rpma("ping", "-n", "50", "-t", "60", "--path", "tcp,shared-memory", at(server.port())).ended(1);
            assertEquals(50, roundTrips(rows(two).getFirst()));
            assertTrue(rows(two).getLast().startsWith("shared-memory "), two::out);
            // Shared memory was not requested.
            assertEquals(50, roundTrips(row(rows(rpma("ping", "-n", "50", "-t", "60", at(server.port())).ended(0)), "tcp ")));
        }
    }

    @Test
    void pingMeasuresTheOtherPathsWhenOneFailsInBetween() throws Exception {
        try (EchoProcess server = new EchoProcess(ALL, List.of("shared-memory"))) {
            for (String[] options : new String[][] {{"--path", "shared-memory,tcp"}, {"--path", "tcp,shared-memory"}, {}}) {
                CliRun run = rpma(concat(List.of("ping", "-n", "50", "-t", "60", at(server.port())), options)).ended(1);
                List<String> rows = rows(run);
                assertEquals(50, roundTrips(row(rows, "tcp ")), run::out);
                assertTrue(row(rows, "shared-memory ").endsWith(" after 0 round trips: the server closed the connection"),
                    run::out);
                assertFalse(run.error().contains("failed"), run::error);
            }
        }
    }

    @Test
    void pingTellsForEachPathWhyItFailed() throws Exception {
        try (EchoProcess server = new EchoProcess(ALL, List.of("shared-memory", "tcp"))) {
            CliRun run = rpma("ping", "--path", "shared-memory,tcp", "-t", "60", at(server.port())).ended(1);
            for (String path : List.of("shared-memory ", "tcp ")) {
                assertTrue(row(rows(run), path).endsWith(" after 0 round trips: the server closed the connection"), run::out);
            }
            assertFalse(run.error().contains("failed"), run::error);
        }
    }

    @Test
    void pingTakesThePathsOfTheProperty() throws Exception {
        try (EchoProcess server = new EchoProcess(ALL)) {
            CliRun one = CliRun.of(List.of("--enable-native-access=ALL-UNNAMED", "-Dio.rpma.netty.paths=tcp"), Map.of(), "ping",
                "-n", "50", "-t", "60", "-W", "60", at(server.port())).ended(0);
            assertTrue(one.out().startsWith("provider=tcp device=tcp path=tcp "), one::out);
            assertTrue(one.out().lines().toList().getLast().startsWith("roundtrips=50 "), one::out);
        }
    }

    /** The value and the allowed ones are in one line, without the exceptions that contain this line. */
    @Test
    void aWrongPropertyFailsEachCommand() throws Exception {
        for (String[] wrong : new String[][] {
            {"-Dio.rpma.netty.paths=foo", "-Dio.rpma.netty.paths is 'foo'; it must name some of "},
            {"-Dio.rpma.netty.polling=foo", "-Dio.rpma.netty.polling is foo; allowed are "},
            {"-Dio.rpma.netty.spinNanos=-1", "-Dio.rpma.netty.spinNanos is -1; allowed are "},
            {"-Dio.rpma.netty.maxRegisteredBytes=1g", "-Dio.rpma.netty.maxRegisteredBytes is '1g', which is not "},
            {"-Dio.rpma.netty.maxBulkBytes=-1", "-Dio.rpma.netty.maxBulkBytes is -1; allowed are "},
            {"-Dio.rpma.netty.sharedReceiveBuffers=5", "-Dio.rpma.netty.sharedReceiveBuffers is 5; allowed are "},
        }) {
            for (String[] command : new String[][] {{"info"}, {"info", "127.0.0.1:1"}, {"ping", "127.0.0.1:1"}}) {
                CliRun run = CliRun.of(List.of("--enable-native-access=ALL-UNNAMED", wrong[0], "-Dio.rpma.provider=soft"),
                    Map.of(), command).ended(1);
                String name = command[0] + " failed: ";
                assertTrue(run.error().startsWith(name + wrong[1]), () -> List.of(command) + ": " + run);
                assertEquals(1, run.error().lines().count(), run::error);
                assertEquals("", run.out());
            }
        }
    }

    private static String[] concat(List<String> first, String... second) {
        return Stream.concat(first.stream(), Stream.of(second)).toArray(String[]::new);
    }

    private static String row(List<String> rows, String start) {
        return rows.stream().filter(row -> row.startsWith(start)).findFirst().orElseThrow();
    }

    @Test
    void pingByAPathThatIsNotThereFails() throws Exception {
        CliRun rdma = rpma("ping", "--path", "rdma", "-W", "60", "127.0.0.1:1").ended(1);
        assertTrue(rdma.error().contains(DEVICE ? "refused" : "none of the paths [rdma] can be used"), rdma::error);
    }
}
