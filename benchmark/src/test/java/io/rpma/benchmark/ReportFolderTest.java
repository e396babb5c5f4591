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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportFolderTest {
    @Test
    void aSecondBenchmarkIsRefusedAndDeletesNothing(@TempDir Path temporary) throws Exception {
        Path report = temporary.resolve("report");
        try (ReportFolder first = ReportFolder.lock(report)) {
            Path log = Files.writeString(first.logs().resolve("first.log"), "output");
            StringWriter errors = new StringWriter();
            assertEquals(2, Benchmark.commandLine().setErr(new PrintWriter(errors)).execute("--only=rtt64", "--rivals=epoll",
                "--quick", "--report=" + report));
            assertTrue(errors.toString().startsWith("another benchmark is running and will write its report to " + report),
                errors::toString);
            assertEquals(2, OneSidedBenchmark.execute("--sizes=8", "--rounds=1", "--report=" + report));
            assertTrue(Files.exists(log));
        }
    }

    @Test
    void theNextBenchmarkGetsAnEmptyFolder(@TempDir Path temporary) throws Exception {
        Path report = temporary.resolve("report");
        try (ReportFolder first = ReportFolder.lock(report)) {
            Files.writeString(first.logs().resolve("first.log"), "output");
            Files.writeString(report.resolve("report.txt"), "table");
            assertThrows(ReportFolder.BusyException.class, () -> ReportFolder.lock(report));
        }
        try (ReportFolder second = ReportFolder.lock(report)) {
            second.empty();
            assertEquals(0, second.logs().toFile().list().length);
            assertEquals(1, report.toFile().list().length);
        }
    }
}
