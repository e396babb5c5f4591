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
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that the program in {@code docs/one-sided.md} is the one that is compiled here, and that it does what the page says. */
class OneSidedPageTest {
    @Test
    void thePageShowsTheProgram() throws Exception {
        Path module = Path.of(System.getProperty("basedir", "."));
        String page = Files.readString(module.resolve("../docs/one-sided.md"));
        String source = Files.readString(module.resolve("src/main/java/io/rpma/examples/OneSided.java"));
        assertTrue(page.contains("```java\n" + source.substring(source.indexOf("import ")) + "```"),
            "docs/one-sided.md does not contain OneSided.java unchanged");
    }

    @Test
    @Timeout(120)
    void theProgramDoesWhatThePageSays() throws Exception {
        String page = Files.readString(Path.of(System.getProperty("basedir", "."), "../docs/one-sided.md"));
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(written, true, StandardCharsets.UTF_8));
        try {
            OneSided.main();
        } finally {
            System.setOut(before);
        }
        List<String> lines = written.toString(StandardCharsets.UTF_8).lines().toList();
        assertEquals(3, lines.size(), lines.toString());
        for (String line : lines) {
            assertTrue(page.contains(line), () -> "the page does not contain: " + line);
        }
    }
}
