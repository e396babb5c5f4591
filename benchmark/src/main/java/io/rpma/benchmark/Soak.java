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
package io.rpma.benchmark;

import io.rpma.Rpma;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Sends a large number of messages back and forth between two processes, in stretches of equal length, and reads after each
 * stretch how much memory and how many files both processes use. Any error ends the run.
 */
@Command(name = "run-benchmark.sh soak", mixinStandardHelpOptions = true, usageHelpAutoWidth = true,
    description = "Sends numbered, checksummed messages there and back between two processes and demands that nothing is lost, "
        + "doubled, reordered or damaged, and that after the first quarter memory and open files stay as they are. The exit code "
        + "is 1 if not.")
final class Soak implements Callable<Integer> {
    private static final int STRETCHES = 20;
    /** A process prints something at least every second while it works, so a longer silence is an error. */
    private static final long PATIENCE_SECONDS = 60;
    /** The whole Java heap is resident from the start, so that only explicit allocations change the memory of the process. */
    private static final List<String> JVM_OPTIONS =
        List.of("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC");
    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(10);

    @Spec
    private CommandSpec spec;

    @Option(names = "--messages", paramLabel = "N", defaultValue = "100000000",
        description = "how many messages, over all connections (default: ${DEFAULT-VALUE})")
    private long messages;

    @Option(names = "--bytes", paramLabel = "N", defaultValue = "64",
        description = "the size of a message (default: ${DEFAULT-VALUE})")
    private int bytes;

    @Option(names = "--connections", paramLabel = "N", defaultValue = "1",
        description = "how many connections, which take turns (default: ${DEFAULT-VALUE})")
    private int connections;

    @Option(names = "--depth", paramLabel = "N",
        description = "how many messages may be under way in all (default: 256 on one connection, 1 on more)")
    private Integer depth;

    @Option(names = "--provider", paramLabel = "NAME", defaultValue = "soft",
        description = "what carries RPMA: soft, tcp, librpma or auto (default: ${DEFAULT-VALUE})")
    private String provider;

    @Option(names = "--jvm-option", paramLabel = "OPTION", description = "an option for both JVMs; repeatable")
    private List<String> jvmOptions = List.of();

    @Option(names = "--logs", paramLabel = "FOLDER", required = true, hidden = true,
        description = "where the processes' standard error goes")
    private Path logs;

    private final Map<String, List<Map<SoakFigure, Long>>> samples = Map.of("client", new ArrayList<>(), "server",
        new ArrayList<>());

    private Soak() {
    }

    /** Runs the soak test from the command line. */
    public static void main(String[] arguments) {
        System.exit(execute(arguments));
    }

    /** Runs the command line and returns the exit code. */
    static int execute(String... arguments) {
        return new CommandLine(new Soak()).execute(arguments);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        check("--messages", messages, STRETCHES, Long.MAX_VALUE);
        check("--connections", connections, 1, 1_000_000);
        check("--bytes", bytes, SoakMessage.SMALLEST, 1 << 20);
        if (bytes % Long.BYTES != 0) {
            throw new ParameterException(spec.commandLine(), "--bytes " + bytes + ": a multiple of 8 is needed");
        }
        if (depth == null) {
            depth = connections == 1 ? 256 : 1;
        }
        check("--depth", depth, 1, 1 << 20);
        Files.createDirectories(logs);
        say("%,d messages of %d B there and back, %,d connection%s, at most %,d under way, provider %s", messages, bytes,
            connections, connections == 1 ? "" : "s", depth, provider);
        try (ChildProcess server = child("server", Integer.toString(bytes))) {
            String failure = null;
            try {
                failure = run(server);
            } catch (IOException | TimeoutException e) {
                server.dump();
                failure = e.getMessage() + "; see " + logs;
            }
            if (failure != null) {
                say("FAILED: %s", failure);
                return 1;
            }
            return 0;
        }
    }

    private void check(String option, long value, long least, long most) {
        if (value < least || value > most) {
            throw new ParameterException(spec.commandLine(), option + " " + value + ": from " + least + " to " + most);
        }
    }

    /** Returns a description of what is wrong, or {@code null} if nothing is. */
    private String run(ChildProcess server) throws IOException, InterruptedException, TimeoutException {
        Map<SoakFigure, Long> serverBefore = memory(server);
        String address = server.await(SoakPeer.LISTENING, deadline());
        try (ChildProcess client = child("client", Integer.toString(bytes), Integer.toString(connections),
                Integer.toString(depth), address)) {
            Map<SoakFigure, Long> clientBefore = memory(client);
            long began = System.nanoTime();
            client.await(SoakPeer.CONNECTED, System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS + connections / 10));
            long connectNanos = System.nanoTime() - began;
            Map<String, ChildProcess> both = Map.of("client", client, "server", server);
            sample(both);
            say("connected in %.1f s; files of the client %d -> %d, of the server %d -> %d", connectNanos / 1e9,
                clientBefore.get(SoakFigure.FILES), last("client").get(SoakFigure.FILES), serverBefore.get(SoakFigure.FILES),
                last("server").get(SoakFigure.FILES));
            long nanos = stretches(client, both);
            long checked = finish(client, server);
            if (checked != messages) {
                return "the server has checked " + checked + " messages, the client " + messages;
            }
            List<String> grown = new ArrayList<>();
            String growth = growth(grown);
            if (!grown.isEmpty()) {
                return "not flat after the warm-up: " + String.join(", ", grown);
            }
            say("passed: %,d messages of %d B in %.1f s, %,.0f/s, each checked by both ends: none lost, doubled, reordered or "
                + "damaged; growth after the warm-up: %s", messages, bytes, nanos / 1e9, messages * 1e9 / nanos, growth);
            return null;
        }
    }

    /** Sends all messages, and returns how many nanoseconds that took. */
    private long stretches(ChildProcess client, Map<String, ChildProcess> both)
            throws IOException, InterruptedException, TimeoutException {
        long nanos = 0;
        for (int stretch = 1; stretch <= STRETCHES; stretch++) {
            long count = messages * stretch / STRETCHES - messages * (stretch - 1) / STRETCHES;
            long took = stretch(client, count);
            nanos += took;
            sample(both);
            say("%3d %% %,15d messages %,12.0f/s | %s | %s", 100 * stretch / STRETCHES, messages * stretch / STRETCHES,
                count * 1e9 / took, figures("client"), figures("server"));
        }
        return nanos;
    }

    /** Ends both processes, and returns how many messages the server has checked. */
    private static long finish(ChildProcess client, ChildProcess server)
            throws IOException, InterruptedException, TimeoutException {
        client.command(SoakPeer.FINISH);
        client.await(SoakPeer.FINISH, deadline());
        server.command(SoakPeer.CHECKED);
        long checked = Long.parseLong(server.await(SoakPeer.CHECKED, deadline()));
        for (ChildProcess each : List.of(client, server)) {
            each.endInput();
            each.awaitEnd(deadline());
        }
        return checked;
    }

    private long stretch(ChildProcess client, long count) throws IOException, InterruptedException, TimeoutException {
        client.command(SoakPeer.RUN + count);
        long said = System.nanoTime();
        for (;;) {
            String line = client.await("", deadline());
            if (line.startsWith(SoakPeer.RUN)) {
                return Long.parseLong(line.substring(SoakPeer.RUN.length()));
            }
            if (line.startsWith(SoakPeer.PROGRESS) && System.nanoTime() - said > PROGRESS_NANOS) {
                said = System.nanoTime();
                say("      %,15d messages", Long.parseLong(line.substring(SoakPeer.PROGRESS.length())));
            }
        }
    }

    private void sample(Map<String, ChildProcess> both) throws IOException, InterruptedException, TimeoutException {
        for (Map.Entry<String, ChildProcess> each : both.entrySet()) {
            each.getValue().command(SoakPeer.MEMORY);
            samples.get(each.getKey()).add(memory(each.getValue()));
        }
    }

    private static Map<SoakFigure, Long> memory(ChildProcess process) throws IOException, InterruptedException, TimeoutException {
        return SoakFigure.parse(process.await(SoakPeer.MEMORY, deadline()));
    }

    private Map<SoakFigure, Long> last(String role) {
        return samples.get(role).getLast();
    }

    private String figures(String role) {
        List<String> parts = new ArrayList<>();
        last(role).forEach((figure, value) -> parts.add(figure.title() + " " + figure.format(value)));
        return role + ": " + String.join(", ", parts);
    }

    /** Returns how much each figure has grown, and adds the figures that have grown too much to a list. */
    private String growth(List<String> tooMuch) {
        List<String> parts = new ArrayList<>();
        for (String role : List.of("client", "server")) {
            Map<SoakFigure, Long> grown = new EnumMap<>(SoakFigure.class);
            for (SoakFigure figure : SoakFigure.values()) {
                // The sample from before the first stretch is left out.
                List<Long> values = samples.get(role).stream().skip(1).map(each -> each.get(figure)).toList();
                long growth = SoakFigure.growth(values);
                parts.add(role + " " + figure.title() + " " + figure.format(growth));
                if (growth > figure.limit()) {
                    tooMuch.add(figure.title() + " of the " + role + " has grown by " + figure.format(growth) + ", more than "
                        + figure.format(figure.limit()) + ": " + String.join(" ", values.stream().map(figure::format).toList()));
                }
            }
        }
        return String.join(", ", parts);
    }

    private static long deadline() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    }

    private ChildProcess child(String role, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-D" + Rpma.PROVIDER_PROPERTY + "=" + provider));
        command.addAll(JVM_OPTIONS);
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), SoakPeer.class.getName(), role));
        command.addAll(List.of(arguments));
        return new ChildProcess(role, command, logs.resolve("soak-" + role + ".log"));
    }

    private static void say(String format, Object... values) {
        System.out.printf(Locale.ROOT, "soak: " + format + "%n", values);
        System.out.flush();
    }
}
