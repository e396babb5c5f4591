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
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs every measurement with every rival in turn, for several rounds, and reports the medians of the rounds. */
@Command(name = "run-benchmark.sh", mixinStandardHelpOptions = true, usageHelpAutoWidth = true,
    description = "Measures Netty over RPMA beside Netty's own transports on this host")
final class Benchmark implements Callable<Integer> {
    /** How often a run is made if the distance of the processors changes meanwhile. */
    private static final int MOST_ATTEMPTS = 3;

    @Spec
    private CommandSpec spec;

    @Option(names = "--quick", description = "a first look in two minutes: the main measurements, one round, short times")
    private boolean quick;

    @Option(names = "--paths", description = "each path of this transport beside epoll TCP in the same place: in shared memory,"
        + " on an RDMA device, by TCP within this host and between two network namespaces")
    private boolean paths;

    @Option(names = "--only", paramLabel = "NAMES", split = ",", description = "run only these, as rtt64,tput64k or rtt*")
    private List<String> only;

    @Option(names = "--rivals", paramLabel = "NAMES", split = ",", description = "run only these, as rpma,epoll")
    private List<String> rivals;

    @Option(names = "--rounds", paramLabel = "N", description = "how often every run is repeated (default: 3; --quick: 1)")
    private Integer rounds;

    @Option(names = "--warm-up", paramLabel = "SECONDS", description = "not measured, in every run (default: 2; --quick: 0.8)")
    private Double warmUp;

    @Option(names = "--seconds", paramLabel = "SECONDS", description = "measured, in every run (default: 3; --quick: 0.7)")
    private Double seconds;

    @Option(names = "--mode", paramLabel = "MODE", defaultValue = "two",
        description = "two: client and server in two processes; one: in one process; both (default: ${DEFAULT-VALUE})")
    private String mode;

    @Option(names = "--provider", paramLabel = "NAME", defaultValue = "soft",
        description = "what carries RPMA: soft, tcp, librpma or auto (default: ${DEFAULT-VALUE})")
    private String provider;

    @Option(names = "--jvm-option", paramLabel = "OPTION",
        description = "an option for the JVMs of all rivals, as --jvm-option=-Xmx1g; repeatable")
    private List<String> jvmOptions = List.of();

    @Option(names = "--aot", description = "each process uses an ahead-of-time cache (JEP 514), which a training run of the same"
        + " measurement has created: this shows how much faster the first seconds are")
    private boolean aot;

    @Option(names = "--system-calls", description = "count the system calls of both ends, too; they take longer then, so do not"
        + " compare rates; needs root, or kernel.perf_event_paranoid=-1 and /sys/kernel/tracing readable")
    private boolean systemCalls;

    @Option(names = "--report", paramLabel = "FOLDER", required = true, hidden = true, description = "where the report goes")
    private Path report;

    @Option(names = "--list", description = "list the names of the measurements and rivals, and do nothing else")
    private boolean list;

    private Benchmark() {
    }

    /** Runs the benchmark from the command line. */
    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return new CommandLine(new Benchmark());
    }

    @Override
    public Integer call() throws Exception {
        if (list) {
            printList();
            return 0;
        }
        int lastRound = rounds != null ? rounds : quick ? 1 : 3;
        if (lastRound < 1) {
            throw new ParameterException(spec.commandLine(), "--rounds " + rounds + ": at least 1");
        }
        if (systemCalls) {
            checkSystemCalls();
        }
        try (ReportFolder folder = ReportFolder.lock(report)) {
            return measure(folder, lastRound);
        } catch (ReportFolder.BusyException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage());
        }
    }

    private void checkSystemCalls() {
        try {
            SystemCallCounter.check();
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), "--system-calls: " + e.getMessage());
        }
    }

    private int measure(ReportFolder folder, int lastRound) throws Exception {
        // This property is read when the provider is first used.
        System.setProperty(Rpma.PROVIDER_PROPERTY, provider);
        Results results = new Results();
        TwoHosts hosts = paths ? openHosts(results) : null;
        Launcher launcher = new Launcher(millis("--warm-up", warmUp, quick ? 0.8 : 2),
            millis("--seconds", seconds, quick ? 0.7 : 3), allJvmOptions(), folder.logs(), hosts,
            aot ? AotCaches.in(report.resolveSibling("aot")) : null);
        List<Results.Key> plan = plan(results);
        folder.empty();
        ProcessorDistance processors = new ProcessorDistance();
        try (hosts; Progress progress = new Progress(lastRound * plan.size())) {
            for (int round = 1; round <= lastRound; round++) {
                for (Results.Key key : plan) {
                    progress.next("round " + round + " of " + lastRound + ": " + key);
                    run(launcher, key, round, results, progress, processors);
                }
            }
        }
        Report written = new Report(Setting.of(launcher, lastRound), results);
        written.write(report);
        System.out.println();
        System.out.print(written.table());
        System.out.println("The whole report: " + report.resolve("report.html"));
        return results.failures().isEmpty() ? 0 : 1;
    }

    private static TwoHosts openHosts(Results results) throws InterruptedException {
        try {
            return new TwoHosts();
        } catch (IOException e) {
            for (Rival rival : Rival.values()) {
                if (rival.needsTwoHosts()) {
                    results.skip(rival, e.getMessage());
                }
            }
            return null;
        }
    }

    /** Runs until the distance of the processors has not changed during a run, but not more than {@link #MOST_ATTEMPTS} times. */
    private static void run(Launcher launcher, Results.Key key, int round, Results results, Progress progress,
            ProcessorDistance processors) throws IOException, InterruptedException {
        for (int attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
            double before = processors.nanos();
            Outcome outcome = runOnce(launcher, key, round, results, progress);
            if (outcome == null) {
                return;
            }
            double after = processors.nanos();
            Distance distance = Distance.of(before, after);
            if (distance == Distance.CHANGING && attempt < MOST_ATTEMPTS) {
                progress.say(round + " " + key + " is repeated: the round trip between the processors changed from "
                    + Table.format(before) + " to " + Table.format(after) + " ns");
            } else {
                Results.Run run = new Results.Run(outcome, distance, (before + after) / 2);
                results.add(key, run);
                progress.say(Table.line(round, key, run));
                return;
            }
        }
    }

    /** Returns the outcome of a run, or {@code null} if it has failed. */
    private static Outcome runOnce(Launcher launcher, Results.Key key, int round, Results results, Progress progress)
            throws IOException, InterruptedException {
        OtherLoad otherLoad = new OtherLoad();
        Outcome outcome = null;
        try {
            outcome = launcher.run(key.rival(), key.measurement(), key.mode(), round);
        } catch (RunFailedException e) {
            results.fail(key, e.getMessage());
            progress.say(round + " " + key + " failed: " + e.getMessage());
        }
        results.addOtherLoad(otherLoad.part());
        return outcome;
    }

    /** Returns the runs of one round: all rivals of one measurement, one after the other, then those of the next measurement. */
    private List<Results.Key> plan(Results results) {
        List<Rival> present = new ArrayList<>();
        List<String> rivalNames = rivals != null ? rivals : quick && !paths ? List.of("rpma", "epoll", "uds", "io_uring", "aeron",
            "memcpy", "touch") : List.of("*");
        List<Rival> all = Stream.of(Rival.values()).filter(paths ? each -> each.isOfPaths() || each == Rival.EPOLL
            : each -> !each.isOfPaths()).toList();
        for (Rival rival : choose("--rivals", rivalNames, all, Rival::key)) {
            Throwable cause = rival.unavailabilityCause();
            if (results.skipped().containsKey(rival)) {
                System.out.println("left out: " + rival.title() + ", " + results.skipped().get(rival));
            } else if (cause == null) {
                present.add(rival);
            } else {
                results.skip(rival, "it is not available on this machine: " + cause);
                System.out.println("left out: " + rival.title() + ", " + results.skipped().get(rival));
            }
        }
        List<String> names = only != null ? only : paths ? Measurement.OF_PATHS : quick ? Measurement.QUICK : List.of("*");
        List<Measurement> measurements = choose("--only", names, Measurement.ALL, Measurement::name);
        List<Results.Key> plan = new ArrayList<>();
        for (Mode each : modes()) {
            for (Measurement measurement : measurements) {
                present.stream().filter(rival -> rival.engine().measures(measurement))
                    .forEach(rival -> plan.add(new Results.Key(each, measurement, rival)));
            }
        }
        if (plan.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "there is nothing to run: none of the rivals does any of "
                + String.join(", ", measurements.stream().map(Measurement::name).toList()));
        }
        return plan;
    }

    private void printList() {
        System.out.println("measurements (--only), with * for those of --quick:");
        Measurement.ALL.forEach(each -> System.out.printf("%s %-12s %s%n", Measurement.QUICK.contains(each.name()) ? "*" : " ",
            each.name(), each.title()));
        System.out.println("rivals (--rivals):");
        for (Rival rival : Rival.values()) {
            System.out.printf("  %-13s %s%s%n", rival.key(), rival.description(), rival.isOfPaths() ? " (--paths only)" : "");
        }
    }

    /** Returns the elements whose names match one of the patterns, in their original order. */
    private <T> List<T> choose(String option, List<String> patterns, List<T> all, Function<T, String> name) {
        for (String pattern : patterns) {
            if (all.stream().noneMatch(each -> matches(pattern, name.apply(each)))) {
                throw new ParameterException(spec.commandLine(), option + " " + pattern + ": there is none; one of "
                    + String.join(", ", all.stream().map(name).toList()));
            }
        }
        return all.stream().filter(each -> patterns.stream().anyMatch(pattern -> matches(pattern, name.apply(each)))).toList();
    }

    private static boolean matches(String pattern, String name) {
        return name.matches(("\\Q" + pattern + "\\E").replace("*", "\\E.*\\Q"));
    }

    private List<Mode> modes() {
        if (mode.equals("both")) {
            return List.of(Mode.values());
        }
        return List.of(Arrays.stream(Mode.values()).filter(each -> each.key().equals(mode)).findFirst()
            .orElseThrow(() -> new ParameterException(spec.commandLine(), "--mode " + mode + ": two, one or both")));
    }

    private long millis(String option, Double given, double otherwise) {
        double value = given != null ? given : otherwise;
        if (!(value >= 0.1 && value <= 3600)) {
            throw new ParameterException(spec.commandLine(), option + " " + value + ": from 0.1 to 3600 seconds");
        }
        return Math.round(value * 1000);
    }

    private List<String> allJvmOptions() {
        List<String> all = new ArrayList<>(List.of("--enable-native-access=ALL-UNNAMED",
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "-D" + Rpma.PROVIDER_PROPERTY + "=" + provider));
        if (systemCalls) {
            all.add("-D" + Peer.COUNT_PROPERTY + "=true");
        }
        all.addAll(jvmOptions);
        return all;
    }
}
