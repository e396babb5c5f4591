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
package io.rpma.tcp;

import io.rpma.posix.Sockets;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests a process that has no descriptors left. */
@Timeout(120)
class OpenFilesTest {
    private static final int LIMIT = 512;
    private static final String LIMITED = ": Too many open files; the limit of open files is " + LIMIT
        + ": raise it (ulimit -n, or LimitNOFILE of the systemd service), or close connections";
    private static final String SHORTAGE = ": a descriptor for events cannot be created" + LIMITED;

    /** Runs a scenario of {@link ExhaustedChild}. Returns what it prints. */
    private static List<String> run(String scenario) throws Exception {
        Process process = new ProcessBuilder("sh", "-c", "ulimit -n " + LIMIT + " && exec \"$@\"", "sh",
            Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--enable-native-access=ALL-UNNAMED", "-Xmx256m",
            "-Xshare:auto", "-XX:+UseSerialGC", "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            ExhaustedChild.class.getName(), scenario).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = process.inputReader()) {
            return output.lines().toList();
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void aClientThatCannotBeServedWaits() throws Exception {
        List<String> printed = run("accept");
        assertEquals(List.of("ESTABLISHED ESTABLISHED", "done"), printed.subList(1, printed.size()));
        String reason = printed.getFirst();
        assertTrue(reason.startsWith("errno " + Sockets.EMFILE + ": clients of ")
            && reason.endsWith(" cannot be accepted and have to wait" + LIMITED), reason);
    }

    /** The first use creates what all connections share. It fails without leaving anything behind, and is tried again. */
    @Test
    void theFirstUseIsTriedAgain() throws Exception {
        String start = "errno " + Sockets.EMFILE + ": software RDMA over TCP cannot start" + LIMITED;
        assertEquals(List.of(start, "errno " + Sockets.EMFILE + ": listen: socket failed: Too many open files", start, start,
            "errno " + Sockets.EMFILE + ": listen: epoll_create1 failed: Too many open files", "[0, 0, 0] [0, 1, 2]", "done"),
            run("first"));
    }

    @Test
    void aDescriptorThatCannotBeCreatedIsReportedWithTheLimit() throws Exception {
        assertEquals(List.of("errno " + Sockets.EMFILE + SHORTAGE, "IllegalStateException" + SHORTAGE, "true", "done"),
            run("fd"));
    }
}
