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

import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts the tests that JUnit runs by class, and writes {@code target/compliance.md}. The last line that it prints contains the
 * totals.
 */
public final class ComplianceReport implements TestExecutionListener {
    private final Map<String, ClassTally> tallies = new TreeMap<>();
    private TestPlan plan;
    private long started;

    @Override
    public synchronized void testPlanExecutionStarted(TestPlan testPlan) {
        plan = testPlan;
        started = System.nanoTime();
    }

    @Override
    public synchronized void executionStarted(TestIdentifier identifier) {
        if (identifier.getSource().orElse(null) instanceof ClassSource) {
            tally(identifier).start();
        }
    }

    @Override
    public synchronized void executionSkipped(TestIdentifier identifier, String reason) {
        if (identifier.isTest()) {
            tally(identifier).skipped(method(identifier), reason);
        } else {
            for (TestIdentifier test : plan.getDescendants(identifier)) {
                if (test.isTest()) {
                    tally(test).skipped(method(test), reason);
                }
            }
        }
    }

    @Override
    public synchronized void executionFinished(TestIdentifier identifier, TestExecutionResult result) {
        boolean container = !identifier.isTest();
        String cause = result.getThrowable().map(Throwable::toString).orElse("");
        switch (result.getStatus()) {
            case SUCCESSFUL -> {
                if (!container) {
                    tally(identifier).passed();
                }
            }
            case ABORTED -> tally(identifier).skipped(method(identifier), cause);
            case FAILED -> tally(identifier).failed(identifier.getDisplayName() + ": " + cause);
        }
        if (identifier.getSource().orElse(null) instanceof ClassSource) {
            ClassTally tally = tally(identifier);
            tally.stop();
            ComplianceMain.progress(tally);
        }
    }

    @Override
    public synchronized void testPlanExecutionFinished(TestPlan testPlan) {
        if (tallies.isEmpty()) {
            return;
        }
        try {
            ComplianceTable table = new ComplianceTable(tallies.values(), System.nanoTime() - started);
            table.write();
            System.out.println(table.totals());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ClassTally tally(TestIdentifier identifier) {
        for (TestIdentifier at = identifier; at != null; at = plan.getParent(at).orElse(null)) {
            TestSource source = at.getSource().orElse(null);
            if (source instanceof MethodSource method) {
                return tally(method.getJavaClass());
            }
            if (source instanceof ClassSource type) {
                return tally(type.getJavaClass());
            }
        }
        // This is the engine itself, whose failures belong to no class.
        return tally(ComplianceReport.class);
    }

    private static String method(TestIdentifier identifier) {
        return identifier.getSource().orElse(null) instanceof MethodSource method ? method.getMethodName()
            : identifier.getDisplayName();
    }

    private ClassTally tally(Class<?> type) {
        return tallies.computeIfAbsent(type.getName(), name -> new ClassTally(type));
    }
}
