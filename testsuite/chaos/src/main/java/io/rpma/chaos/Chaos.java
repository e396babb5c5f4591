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

package io.rpma.chaos;

import io.rpma.Rpma;
import io.rpma.RpmaProvider;
import io.rpma.chaos.cases.ChaosCase;
import io.rpma.chaos.cases.ChaosCases;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Runs the cases one after another alongside verified traffic, prints the table, and exits with code 1 unless all its values are
 * zero.
 */
@Command(name = "testsuite/chaos/run.sh", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
    description = "Processes die, stop, forge and scribble beside checked traffic that must not notice.")
public final class Chaos implements Callable<Integer> {
    @Option(names = "--minutes", paramLabel = "N", defaultValue = "2", description = "how long the cases run, as 2 or 0.5")
    private double minutes;

    @Option(names = "--seed", paramLabel = "S", description = "what the schedule derives from; chosen and printed if absent")
    private Long seed;

    @Option(names = "--case", paramLabel = "NAME", split = ",", description = "only these cases: ${COMPLETION-CANDIDATES}",
        completionCandidates = CaseNames.class)
    private List<String> names = List.of();

    @Option(names = "--provider", paramLabel = "NAME", description = "soft, tcp, librpma, or auto for all paths of this machine"
        + " at the same time; default: RPMA_PROVIDER, else soft")
    private String provider;

    @Option(names = "--pause", paramLabel = "MS", defaultValue = "100",
        description = "the longest pause of a neighbour, in milliseconds, beyond what the machine itself paused")
    private long pauseMillis;

    @Option(names = "--logs", paramLabel = "DIR", hidden = true, required = true, description = "where the processes' logs go")
    private Path logs;

    private static final class CaseNames implements Iterable<String> {
        @Override
        public java.util.Iterator<String> iterator() {
            return ChaosCases.all().stream().map(ChaosCase::name).iterator();
        }
    }

    /** Runs the program from the command line. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Chaos()).execute(arguments));
    }

    @Override
    public Integer call() throws Exception {
        if (provider == null) {
            provider = System.getenv().getOrDefault("RPMA_PROVIDER", "soft");
        }
        System.setProperty(Rpma.PROVIDER_PROPERTY, provider);
        List<String> providers = Rpma.providers().stream().map(RpmaProvider::name).toList();
        List<ChaosCase> possible = ChaosCases.all().stream().filter(each -> providers.stream().anyMatch(each::runsOn)).toList();
        List<ChaosCase> cases = possible.stream().filter(each -> names.isEmpty() || names.contains(each.name())).toList();
        if (cases.isEmpty() || !names.isEmpty() && cases.size() < names.size()) {
            System.err.println("no such case on " + provider + ": " + names + "; there are "
                + possible.stream().map(ChaosCase::name).toList());
            return 2;
        }
        if (seed == null) {
            seed = new SplittableRandom().nextLong() >>> 1;
        }
        Schedule schedule = Schedule.of(seed, Math.round(minutes * 60_000), cases);
        System.out.println("provider=" + provider + " seed=" + seed + " minutes=" + minutes);
        System.out.print(schedule);
        Ledger ledger = new Ledger(pauseMillis);
        Path ofProvider;
        try (Surroundings surroundings = new Surroundings(provider, logs, ledger)) {
            ofProvider = surroundings.logs();
            schedule.run(surroundings);
            surroundings.finish();
            ledger.machinePause(surroundings.machine().longest());
        }
        System.out.print(ledger.table());
        System.out.println(ledger.isClean() ? "clean" : "NOT CLEAN; the processes' logs are in " + ofProvider);
        return ledger.isClean() ? 0 : 1;
    }
}
