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
package io.rpma.ecosystem;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs the remaining tests of one test class, {@code RunClass CLASS RESULTS ONLY}. It ends the process at the first test of JUnit
 * 4 that fails, because the resources that a failed test leaves behind, such as a server on the port that all of them use, would
 * make the following tests fail. The exit code is then {@link #AGAIN}, and another process continues after that test.
 *
 * <p>Each line of the file of results is {@code UNIT, END, CLASS#TEST, REASON}, separated by tabs. A unit is the smallest part
 * that can be skipped: a method with all of its invocations. A unit is recorded as {@code BEGUN} before it runs and as {@code
 * DONE} afterwards, so that the next process can recognize a unit that ended its process or did not end. The file {@code ONLY},
 * if it is not empty, contains the {@code CLASS#METHOD} of the requested tests, one per line.
 */
public final class RunClass implements TestExecutionListener {
    /** The exit code that requests another process. */
    private static final int AGAIN = 75;

    /** Longer than any timeout that a test of these suites has. */
    private static final long UNIT_MILLIS = 240_000;

    private final Path results;
    private final Set<String> units = ConcurrentHashMap.newKeySet();
    private final Timer timer = new Timer("deadline of a test", true);
    private TimerTask deadline;
    private boolean failed;

    private RunClass(Path results) {
        this.results = results;
    }

    private synchronized void record(String unit, String end, String test, String why) {
        String reason = why.lines().findFirst().orElse("").replace('\t', ' ');
        try {
            Files.writeString(results, String.join("\t", unit, end, test, reason) + '\n', StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
        } catch (IOException e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    /**
     * Returns the units that are done. Units that have begun and are not done are recorded as failed, because their process
     * ended.
     */
    private Set<String> finished() throws IOException {
        Set<String> done = new HashSet<>();
        if (Files.exists(results)) {
            List<String[]> lines = Files.readAllLines(results).stream().map(line -> line.split("\t", 4)).toList();
            lines.stream().filter(line -> line[1].equals("DONE")).forEach(line -> done.add(line[0]));
            for (String[] line : lines) {
                if (line[1].equals("BEGUN") && done.add(line[0])) {
                    record(line[0], "FAILED", line[2], "its process ended");
                    record(line[0], "DONE", line[2], "");
                }
            }
        }
        return done;
    }

    private static String method(TestSource source, String otherwise) {
        if (source instanceof MethodSource method) {
            String type = method.getClassName();
            return type.substring(type.lastIndexOf('.') + 1) + '#' + method.getMethodName();
        }
        return otherwise;
    }

    /** Returns {@code CLASS#METHOD}, with the number of the invocation if there are several. */
    private static String name(TestIdentifier test) {
        String unique = test.getUniqueId();
        int invocation = unique.lastIndexOf("-invocation:#");
        String number = invocation < 0 ? "" : '[' + unique.substring(invocation + "-invocation:#".length());
        return method(test.getSource().orElse(null), test.getLegacyReportingName()) + number;
    }

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        plan.getRoots().forEach(root -> plan.getDescendants(root).stream()
            .filter(each -> plan.getChildren(each.getUniqueIdObject()).isEmpty())
            .forEach(each -> units.add(each.getUniqueId())));
    }

    @Override
    public synchronized void executionStarted(TestIdentifier test) {
        String unit = test.getUniqueId();
        if (!units.contains(unit)) {
            return;
        }
        String name = name(test);
        record(unit, "BEGUN", name, "");
        deadline = new TimerTask() {
            @Override
            public void run() {
                PrintStream out = System.err;
                Thread.getAllStackTraces().forEach((thread, stack) -> {
                    out.println(thread);
                    for (StackTraceElement each : stack) {
                        out.println("\tat " + each);
                    }
                });
                record(unit, "FAILED", name, "did not end within " + UNIT_MILLIS / 1000 + " s");
                record(unit, "DONE", name, "");
                Runtime.getRuntime().halt(AGAIN);
            }
        };
        timer.schedule(deadline, UNIT_MILLIS);
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        if (units.contains(test.getUniqueId())) {
            record(test.getUniqueId(), "SKIPPED", name(test), reason);
            record(test.getUniqueId(), "DONE", name(test), "");
        }
    }

    @Override
    public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
        String unit = test.getUniqueId();
        boolean bad = result.getStatus() == TestExecutionResult.Status.FAILED;
        failed |= bad;
        if (bad) {
            System.err.println(name(test) + " failed:");
            result.getThrowable().ifPresent(Throwable::printStackTrace);
        }
        if (test.isTest() || bad) {
            String end = bad ? "FAILED" : result.getStatus() == TestExecutionResult.Status.ABORTED ? "SKIPPED" : "PASSED";
            record(unit, end, name(test), result.getThrowable().map(Throwable::toString).orElse(""));
        }
        if (units.contains(unit)) {
            deadline.cancel();
            record(unit, "DONE", name(test), "");
            // The tests of JUnit 5, which are those of Reactor Netty, use free ports.
            if (failed && unit.startsWith("[engine:junit-vintage]")) {
                System.exit(AGAIN);
            }
        }
    }

    /**
     * Runs the tests.
     *
     * @param arguments the class, the file of results, and the file of the requested tests
     */
    public static void main(String[] arguments) throws Exception {
        RunClass run = new RunClass(Path.of(arguments[1]));
        Set<String> done = run.finished();
        Set<String> only = Files.readAllLines(Path.of(arguments[2])).stream().collect(Collectors.toSet());
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectClass(arguments[0]))
            .filters((PostDiscoveryFilter) each -> FilterResult.includedIf(wanted(each, done, only)))
            .build();
        // The listeners of a suite are not registered. BlockHound's listener, for example, cannot change the classes of every
        // JDK.
        Launcher launcher = LauncherFactory.create(
            LauncherConfig.builder().enableTestExecutionListenerAutoRegistration(false).build());
        launcher.execute(request, run);
        System.exit(0);
    }

    private static boolean wanted(TestDescriptor test, Set<String> done, Set<String> only) {
        String method = method(test.getSource().orElse(null), null);
        return !done.contains(test.getUniqueId().toString()) && (method == null || only.isEmpty() || only.contains(method));
    }
}
