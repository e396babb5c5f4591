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
package io.rpma.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProgressBarTest {
    private final ByteArrayOutputStream terminal = new ByteArrayOutputStream();

    @Test
    void isWrittenOverAndWiped() {
        try (ProgressBar bar = new ProgressBar(new PrintStream(terminal, true, StandardCharsets.UTF_8))) {
            bar.show("stream", 0, 4);
            bar.show("stream", 3, 4);
        }
        assertEquals("\r\033[K[" + "-".repeat(40) + "] 0 % of the stream"
            + "\r\033[K[" + "#".repeat(30) + "-".repeat(10) + "] 75 % of the stream"
            + "\r\033[K", terminal.toString(StandardCharsets.UTF_8));
    }

    @Test
    void writesNothingIfNothingWasShown() {
        new ProgressBar(new PrintStream(terminal, true, StandardCharsets.UTF_8)).close();
        assertEquals(0, terminal.size());
    }

    @Test
    void isSilentWithoutATerminal() {
        try (ProgressBar bar = new ProgressBar(null)) {
            bar.show("stream", 1, 2);
        }
        assertEquals(0, terminal.size());
    }
}
