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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

class SystemCallCounterTest {
    private static final int FILES = 1_000;

    /** Reading a file takes at least three system calls: {@code open}, {@code read} and {@code close}. */
    @Test
    @Timeout(60)
    void countsTheCallsOfThreadsThatStartLater() throws Exception {
        try {
            SystemCallCounter.check();
        } catch (IOException e) {
            abort(e.getMessage());
        }
        try (SystemCallCounter counter = new SystemCallCounter(ProcessHandle.current().pid())) {
            readFiles();
            long own = counter.count();
            assertTrue(own >= 3 * FILES, () -> own + " system calls");
            Thread thread = Thread.ofPlatform().start(SystemCallCounterTest::readFiles);
            thread.join();
            long both = counter.count();
            assertTrue(both >= own + 3 * FILES, () -> own + " and then " + both + " system calls");
        }
    }

    private static void readFiles() {
        try {
            for (int i = 0; i < FILES; i++) {
                Files.readAllBytes(Path.of("/proc/self/stat"));
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
