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

import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Runs the suite without Maven, as {@code testsuite/softroce/run.sh --suite} does in its guest, which has no Maven. It runs all
 * classes, or those whose simple names are given, without the tests that have one of the comma-separated tags of
 * {@code -Dio.rpma.testsuite.excludedTags}. The exit code is 0 if at least one test ran and none failed, and 1 otherwise.
 */
public final class ComplianceMain {
    private static volatile boolean showProgress;

    private ComplianceMain() {
    }

    /**
     * Runs the tests.
     *
     * @param arguments the simple names of test classes; if there are none, all classes are run
     */
    public static void main(String[] arguments) {
        String inPackage = ComplianceMain.class.getPackageName();
        List<DiscoverySelector> selectors = new ArrayList<>();
        for (String name : arguments) {
            selectors.add(DiscoverySelectors.selectClass(inPackage + '.' + name));
        }
        if (selectors.isEmpty()) {
            selectors.add(DiscoverySelectors.selectPackage(inPackage));
        }
        // The tests with C programs are a separate stage, which reports it if the programs cannot be compiled.
        LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request().selectors(selectors)
            .filters(ClassNameFilter.includeClassNamePatterns(arguments.length == 0 ? ".*(?<!CPeers)Test" : ".*Test"));
        String excluded = System.getProperty("io.rpma.testsuite.excludedTags", "");
        if (!excluded.isEmpty()) {
            request.filters(TagFilter.excludeTags(excluded.split(",")));
        }
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        showProgress = true;
        try (LauncherSession session = LauncherFactory.openSession()) {
            session.getLauncher().registerTestExecutionListeners(summary);
            session.getLauncher().execute(request.build());
        }
        TestExecutionSummary result = summary.getSummary();
        if (result.getTotalFailureCount() > 0) {
            result.printFailuresTo(new PrintWriter(System.err, true), 40);
        }
        System.out.flush();
        // Netty's own threads are daemons, but a test that failed may have left other threads.
        System.exit(result.getTestsSucceededCount() > 0 && result.getTotalFailureCount() == 0 ? 0 : 1);
    }

    /** Prints the result of a class. With Maven, Surefire prints it. */
    static void progress(ClassTally tally) {
        if (showProgress) {
            System.out.println(String.format(Locale.ROOT, "%-48s %4d passed %3d failed %3d skipped %6.1f s",
                tally.type().getSimpleName(), tally.passedCount(), tally.failures().size(), tally.skippedCount(),
                tally.seconds()));
        }
    }
}
