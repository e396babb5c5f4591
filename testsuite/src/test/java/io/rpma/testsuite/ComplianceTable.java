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
package io.rpma.testsuite;

import io.netty.util.Version;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The result of one run as a section of {@code target/compliance.md}. Each combination of provider, transport, allocator and
 * buffers has its own section. A later run of the same combination replaces it, so the file collects all runs of one build.
 */
final class ComplianceTable {
    private static final Path TARGET = Path.of(SuiteInventory.location(ComplianceTable.class)).getParent();

    private final Collection<ClassTally> tallies;
    private final long nanos;

    ComplianceTable(Collection<ClassTally> tallies, long nanos) {
        this.tallies = tallies;
        this.nanos = nanos;
    }

    /** Returns the totals in one line. */
    String totals() {
        String nettys = sum(true);
        String ours = sum(false);
        long classes = tallies.stream().filter(tally -> SuiteInventory.isNettys(tally.type())).count();
        long all = SuiteInventory.classesOfOurs().stream().filter(SuiteInventory::isNettys).count();
        return String.format(Locale.ROOT, "%s: Netty's suite, %d of %d classes: %s; beyond the suite: %s; %.0f s",
            RunDescription.key(), classes, all, nettys, ours, nanos / 1e9);
    }

    private String sum(boolean nettys) {
        int passed = 0;
        int failed = 0;
        int skipped = 0;
        for (ClassTally tally : tallies) {
            if (SuiteInventory.isNettys(tally.type()) == nettys) {
                passed += tally.passedCount();
                failed += tally.failures().size();
                skipped += tally.skippedCount();
            }
        }
        return (passed + failed) + " run, " + passed + " passed, " + failed + " failed, " + skipped + " skipped";
    }

    void write() throws IOException {
        Path parts = Files.createDirectories(TARGET.resolve("compliance"));
        Files.writeString(parts.resolve(RunDescription.key() + ".md"), section());
        StringBuilder all = new StringBuilder("# Compliance with Netty's transport testsuite ").append(nettyVersion())
            .append("\n\nEach case of the suite runs its body once per allocator. \"Skipped\" is skipped by the suite itself: ")
            .append("this project disables nothing.\n\n");
        StringBuilder totals = new StringBuilder();
        try (Stream<Path> files = Files.list(parts)) {
            for (Path file : files.sorted().toList()) {
                List<String> lines = Files.readAllLines(file);
                lines.subList(0, lines.size() - 1).forEach(line -> all.append(line).append('\n'));
                totals.append("* ").append(lines.getLast()).append('\n');
            }
        }
        appendOverrides(all);
        appendOutOfScope(all);
        all.append("## Totals\n").append(totals);
        Files.writeString(TARGET.resolve("compliance.md"), all);
    }

    private static String nettyVersion() {
        return Version.identify().get("netty-transport").artifactVersion();
    }

    private String section() {
        StringBuilder out = new StringBuilder("## ").append(RunDescription.heading()).append('\n');
        appendTable(out, "Netty's suite", true);
        appendTable(out, "Beyond the suite", false);
        for (ClassTally tally : tallies) {
            for (String failure : tally.failures()) {
                out.append("* FAILED ").append(tally.type().getSimpleName()).append(": ").append(oneLine(failure)).append('\n');
            }
        }
        return out.append('\n').append(totals()).append('\n').toString();
    }

    private void appendTable(StringBuilder out, String title, boolean nettys) {
        out.append("\n| ").append(title)
            .append(" | run | passed | failed | skipped | s | why skipped |\n|---|--:|--:|--:|--:|--:|---|\n");
        for (ClassTally tally : tallies) {
            if (SuiteInventory.isNettys(tally.type()) == nettys) {
                out.append(String.format(Locale.ROOT, "| %s | %d | %d | %d | %d | %.1f | %s |%n",
                    nettys ? SuiteInventory.nettysName(tally.type()) : tally.type().getSimpleName(),
                    tally.total() - tally.skippedCount(), tally.passedCount(), tally.failures().size(), tally.skippedCount(),
                    tally.seconds(), reasons(tally)));
            }
        }
    }

    private static String reasons(ClassTally tally) {
        StringBuilder out = new StringBuilder();
        for (Map.Entry<String, Integer> reason : tally.skippedBecause().entrySet()) {
            out.append(out.isEmpty() ? "" : "; ").append(reason.getValue()).append(" x ").append(oneLine(reason.getKey()));
        }
        return out.toString();
    }

    private static void appendOverrides(StringBuilder out) {
        out.append("## Overrides of the suite's methods\n\n| class | method | reason |\n|---|---|---|\n");
        for (Class<?> ours : SuiteInventory.classesOfOurs()) {
            for (Method method : SuiteInventory.overrides(ours)) {
                SuiteOverride override = method.getAnnotation(SuiteOverride.class);
                out.append("| ").append(SuiteInventory.nettysName(ours)).append(" | ").append(method.getName()).append(" | ")
                    .append(override == null ? "NONE GIVEN" : override.value()).append(" |\n");
            }
        }
        out.append("\nDetectPeerCloseWithoutReadTest is a class of this project, because Netty does not publish its own.\n\n");
    }

    private static void appendOutOfScope(StringBuilder out) {
        out.append("## Classes of the suite that are not run\n\n| class | why |\n|---|---|\n");
        SuiteInventory.OUT_OF_SCOPE.forEach((name, why) ->
            out.append("| ").append(name).append(" | ").append(why).append(" |\n"));
        out.append('\n');
    }

    private static String oneLine(String text) {
        String line = text.replaceAll("\\s+", " ").replace("|", "\\|");
        return line.length() > 300 ? line.substring(0, 300) + "..." : line;
    }
}
