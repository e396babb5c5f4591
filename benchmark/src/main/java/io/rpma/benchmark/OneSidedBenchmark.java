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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures one-sided operations between two processes, and messages over the same connection for comparison. */
@Command(name = "run-benchmark.sh one-sided", mixinStandardHelpOptions = true, usageHelpAutoWidth = true,
    description = "Measures reads, writes, writes with immediate data, flushes and atomic writes of another process's memory, "
        + "one under way and many, beside messages over the same connection; and compares what was read or written. With the "
        + "programs of the package perftest beside them, where they are installed and the provider is librpma.")
final class OneSidedBenchmark implements Callable<Integer> {
    private static final int LARGEST = 4 << 20;
    /**
     * How long a run may take in addition to its configured times, on the slowest machine, for starting a JVM and for filling and
     * comparing memory.
     */
    private static final long PATIENCE_SECONDS = 300;

    @Spec
    private CommandSpec spec;

    @Option(names = "--only", paramLabel = "OPERATIONS", split = ",",
        description = "only these: read, write, write-imm, write+flush, atomic, message, echo")
    private List<String> only;

    @Option(names = "--sizes", paramLabel = "BYTES", split = ",", defaultValue = "8,64,512,4096,32768,262144,1048576,4194304",
        description = "multiples of 8, up to 4194304 (default: ${DEFAULT-VALUE})")
    private List<Integer> sizes;

    @Option(names = "--depth", paramLabel = "N", defaultValue = "16",
        description = "how many are under way at once; fewer, but two, if that were more than 8 MiB (default: ${DEFAULT-VALUE})")
    private int depth;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "3",
        description = "how often all is repeated, in new processes (default: ${DEFAULT-VALUE})")
    private int rounds;

    @Option(names = "--warm-up", paramLabel = "SECONDS", defaultValue = "0.3",
        description = "not measured, in every run (default: ${DEFAULT-VALUE})")
    private double warmUp;

    @Option(names = "--seconds", paramLabel = "SECONDS", defaultValue = "0.5",
        description = "measured, in every run (default: ${DEFAULT-VALUE})")
    private double seconds;

    @Option(names = "--provider", paramLabel = "NAME", defaultValue = "soft",
        description = "what carries RPMA: soft, tcp, librpma or auto (default: ${DEFAULT-VALUE})")
    private String provider;

    @Option(names = "--jvm-option", paramLabel = "OPTION", description = "an option for both JVMs; repeatable")
    private List<String> jvmOptions = List.of();

    @Option(names = "--report", paramLabel = "FOLDER", required = true, hidden = true, description = "where the report goes")
    private Path report;

    private OneSidedBenchmark() {
    }

    /** Runs the benchmark from the command line. */
    public static void main(String[] arguments) {
        System.exit(execute(arguments));
    }

    /** Runs the command line and returns the exit code. */
    static int execute(String... arguments) {
        return new CommandLine(new OneSidedBenchmark()).execute(arguments);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<OneSidedKind> kinds = kinds();
        check("--depth", depth, 1, 1024);
        check("--rounds", rounds, 1, 1000);
        check("--warm-up", warmUp, 0.01, 3600);
        check("--seconds", seconds, 0.01, 3600);
        for (int bytes : sizes) {
            check("--sizes", bytes, Long.BYTES, LARGEST);
            if (bytes % Long.BYTES != 0) {
                throw new ParameterException(spec.commandLine(), "--sizes " + bytes + ": a multiple of 8 is needed");
            }
        }
        List<OneSidedSize> all = OneSidedSize.of(sizes.stream().distinct().sorted().toList(), depth);
        try (ReportFolder folder = ReportFolder.lock(report)) {
            return measure(all, kinds, folder.logs());
        } catch (ReportFolder.BusyException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage());
        }
    }

    private int measure(List<OneSidedSize> all, List<OneSidedKind> kinds, Path logs) throws IOException, InterruptedException {
        OneSidedFigures figures = new OneSidedFigures();
        String used = null;
        for (int round = 1; round <= rounds; round++) {
            try {
                used = run(all, kinds, logs, figures, round);
            } catch (IOException e) {
                System.out.println("FAILED: " + e.getMessage() + "; see " + logs);
                return 1;
            }
        }
        Launcher launcher = new Launcher(millis(warmUp), millis(seconds), allJvmOptions(), logs, null, null);
        OneSidedReport written = new OneSidedReport(Setting.of(launcher, rounds, used), figures, depth);
        written.write(report);
        System.out.println();
        System.out.print(written.tables());
        System.out.println("The whole report: " + report.resolve("one-sided.html"));
        return 0;
    }

    private List<OneSidedKind> kinds() {
        if (only == null) {
            return List.of(OneSidedKind.values());
        }
        try {
            return only.stream().map(OneSidedKind::withKey).toList();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--only " + String.join(",", only) + ": " + e.getMessage()
                + "; one of " + String.join(", ", Arrays.stream(OneSidedKind.values()).map(OneSidedKind::key).toList()), e);
        }
    }

    private void check(String option, double value, double least, double most) {
        if (!(value >= least && value <= most)) {
            throw new ParameterException(spec.commandLine(),
                option + " " + number(value) + ": from " + number(least) + " to " + number(most));
        }
    }

    private static String number(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }

    private static long millis(double time) {
        return Math.round(time * 1000);
    }

    private String run(List<OneSidedSize> all, List<OneSidedKind> kinds, Path logs, OneSidedFigures figures, int round)
            throws IOException, InterruptedException {
        String used;
        try (ChildProcess server = child(logs, "server", OneSidedSize.toWord(all))) {
            String ports = server.await(OneSidedPeer.LISTENING, deadline());
            try (ChildProcess client = child(logs, "client", OneSidedSize.toWord(all), ports,
                    String.join(",", kinds.stream().map(OneSidedKind::key).toList()), Long.toString(millis(warmUp)),
                    Long.toString(millis(seconds)), Long.toString(server.pid()))) {
                // The client first runs each operation, one at a time and several at a time, until its code is compiled.
                String line = client.await("", deadline(2 * kinds.size() + 1));
                while (!line.startsWith(OneSidedPeer.DONE)) {
                    if (line.startsWith(OneSidedPeer.FIGURE)) {
                        add(figures, OneSidedFigure.parse(line.substring(OneSidedPeer.FIGURE.length())), round);
                    }
                    line = client.await("", deadline());
                }
                used = line.substring(OneSidedPeer.DONE.length());
                client.awaitEnd(deadline());
            }
            server.endInput();
            server.awaitEnd(deadline());
        } catch (TimeoutException e) {
            throw new IOException(e.getMessage(), e);
        }
        if (used.equals("librpma")) {
            perfTest(all, logs, figures, round);
        }
        return used;
    }

    private static void perfTest(List<OneSidedSize> all, Path logs, OneSidedFigures figures, int round)
            throws InterruptedException {
        List<String> missing = PerfTest.missing();
        if (!missing.isEmpty()) {
            figures.note("Left out: " + String.join(", ", missing) + ", not installed (Debian: apt install perftest)");
            return;
        }
        for (OneSidedSize size : all) {
            for (PerfTest program : PerfTest.values()) {
                try {
                    add(figures, program.measure(size, logs), round);
                } catch (IOException e) {
                    figures.note("Left out: " + e.getMessage());
                }
            }
        }
    }

    private static void add(OneSidedFigures figures, OneSidedFigure figure, int round) {
        figures.add(figure);
        System.out.printf(Locale.ROOT, "%d  %-12s %7s, %4d under way: p50 %s us, %s/s, %s MB/s%n", round, figure.name(),
            new OneSidedSize(figure.bytes(), 1).title(), figure.depth(), Table.format(figure.p50()), Table.format(figure.rate()),
            Table.format(figure.megabytes()));
    }

    private long deadline() {
        return deadline(1);
    }

    /** Returns the time at which a number of runs must have ended. */
    private long deadline(int runs) {
        Timing timing = new Timing(TimeUnit.MILLISECONDS.toNanos(millis(warmUp)), TimeUnit.MILLISECONDS.toNanos(millis(seconds)));
        return System.nanoTime() + runs * OneSidedRun.longestNanos(timing) + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    }

    private List<String> allJvmOptions() {
        List<String> all = new ArrayList<>(List.of("--enable-native-access=ALL-UNNAMED",
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "-D" + Rpma.PROVIDER_PROPERTY + "=" + provider));
        all.addAll(jvmOptions);
        return all;
    }

    private ChildProcess child(Path logs, String role, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(allJvmOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), OneSidedPeer.class.getName(), role));
        command.addAll(List.of(arguments));
        return new ChildProcess(role, command, logs.resolve("one-sided-" + role + ".log"));
    }
}
