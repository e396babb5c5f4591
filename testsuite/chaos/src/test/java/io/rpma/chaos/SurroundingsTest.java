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

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** Tests that runs with different providers can take place at the same time, as they do in the stages on librpma. */
class SurroundingsTest {
    @TempDir
    private Path logs;

    @Test
    void aRunKeepsTheLogsOfOtherProviders() throws Exception {
        Ledger ledger = new Ledger(100);
        try (Surroundings first = new Surroundings("librpma", logs, ledger)) {
            Path log = Files.writeString(first.logs().resolve("server.log"), "a warning");
            try (Surroundings second = new Surroundings("auto", logs, ledger)) {
                Files.writeString(second.logs().resolve("server.log"), "another warning");
            }
            assertEquals("a warning", Files.readString(log));
        }
    }

    @Test
    void aRunDeletesTheLogsOfTheLastOneWithItsProvider() throws Exception {
        Ledger ledger = new Ledger(100);
        Path log;
        try (Surroundings first = new Surroundings("soft", logs, ledger)) {
            log = Files.writeString(first.logs().resolve("server.log"), "a warning");
        }
        new Surroundings("soft", logs, ledger).close();
        assertFalse(Files.exists(log));
    }
}
