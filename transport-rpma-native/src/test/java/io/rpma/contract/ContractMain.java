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
package io.rpma.contract;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs the tests without a build tool: {@code java -cp <class path> io.rpma.contract.ContractMain [-v] [pattern ...]}, where a
 * pattern is a part of the name of a class or a method. With {@code -v}, it prints each test and its duration. It prints every
 * test that fails with its stack trace, and exits with 0 if none has failed, otherwise with 1.
 */
public final class ContractMain {
    private ContractMain() {
    }

    /** Runs the tests. */
    public static void main(String[] args) {
        List<String> patterns = new ArrayList<>(List.of(args));
        boolean verbose = patterns.remove("-v");
        LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectPackage("io.rpma.contract"))
            .filters(ClassNameFilter.includeClassNamePatterns(".*ContractTest"));
        if (!patterns.isEmpty()) {
            request.filters((org.junit.platform.launcher.PostDiscoveryFilter) test ->
                org.junit.platform.engine.FilterResult.includedIf(test.isContainer() && !test.isTest()
                    && test.getUniqueId().getSegments().size() < 3
                    || patterns.stream().anyMatch(test.getUniqueId().toString()::contains)));
        }
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        Launcher launcher = LauncherFactory.create();
        launcher.execute(request.build(), summary, new Progress(verbose));
        PrintWriter out = new PrintWriter(System.out, true);
        summary.getSummary().printFailuresTo(out, 40);
        out.printf("%d of %d cases passed, %d failed, %d skipped%n", summary.getSummary().getTestsSucceededCount(),
            summary.getSummary().getTestsFoundCount(), summary.getSummary().getTestsFailedCount(),
            summary.getSummary().getTestsAbortedCount() + summary.getSummary().getTestsSkippedCount());
        boolean good = summary.getSummary().getTotalFailureCount() == 0 && summary.getSummary().getTestsSucceededCount() > 0;
        System.exit(good ? 0 : 1);
    }

    /** Prints each failure when it happens. In verbose mode, it also prints each test with its duration. */
    private static final class Progress implements TestExecutionListener {
        private final boolean verbose;
        private TestPlan plan;
        private long start;

        Progress(boolean verbose) {
            this.verbose = verbose;
        }

        @Override
        public void testPlanExecutionStarted(TestPlan testPlan) {
            plan = testPlan;
        }

        @Override
        public void executionStarted(TestIdentifier test) {
            if (test.isTest()) {
                start = System.nanoTime();
                if (verbose) {
                    System.out.print(name(test) + " ... ");
                    System.out.flush();
                }
            }
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            boolean success = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
            if (test.isTest() && verbose) {
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
                System.out.println(result.getStatus() + " " + millis + " ms"
                    + result.getThrowable().map(cause -> " " + cause).orElse(""));
            } else if (!success) {
                System.out.println(result.getStatus() + " " + name(test)
                    + result.getThrowable().map(cause -> ": " + cause).orElse(""));
            }
        }

        private String name(TestIdentifier test) {
            return plan.getParent(test).map(parent -> parent.getDisplayName() + " > ").orElse("") + test.getDisplayName();
        }
    }
}
