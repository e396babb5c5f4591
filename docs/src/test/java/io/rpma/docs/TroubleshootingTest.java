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
package io.rpma.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Tests that the list of messages is that of the sources. With {@code -Dio.rpma.docs.update=true} (or {@code RPMA_DOCS_UPDATE=1})
 * it writes the list. The explanations above the list are maintained by hand.
 */
class TroubleshootingTest {
    private static final Path FILE = Documents.FOLDER.resolve("troubleshooting.md");
    private static final String LIST = "## Every message\n";
    private static final Pattern QUOTED = Pattern.compile("^\\* `([^`]+)`", Pattern.MULTILINE);

    /** The creation of a logger, with the name of the logger or the class whose name it has. */
    private static final Pattern LOGGER = Pattern.compile(
        "(?:\\bgetLogger|InternalLoggerFactory\\.getInstance|new SoftwareLog)\\((?:\"([\\w.]+)\"|(\\w+)\\.class|(\\w+))");
    private static final Pattern LOGGER_ROW = Pattern.compile("^\\| `(io\\.rpma\\.[\\w.]+)` \\|", Pattern.MULTILINE);

    private static String list(TreeMap<String, String> messages) {
        StringBuilder list = new StringBuilder("\n| message | class |\n|---|---|\n");
        messages.forEach((message, type) -> list.append("| `").append(message.replace("|", "\\|")).append("` | ").append(type)
            .append(" |\n"));
        return list.toString();
    }

    @Test
    void everyMessageIsListed() throws IOException {
        TreeMap<String, String> messages = Messages.read(Documents.PROJECT);
        assertTrue(messages.size() > 50, "the sources were not read: " + messages);
        String text = Files.readString(FILE);
        int at = text.indexOf("| message |");
        assertTrue(at > text.indexOf(LIST), "no list");
        String expected = list(messages).substring(1);
        if (Documents.UPDATE) {
            Files.writeString(FILE, text.substring(0, at) + expected);
            return;
        }
        assertEquals(expected, text.substring(at),
            "docs/troubleshooting.md does not list the messages as the sources have them; RPMA_DOCS_UPDATE=1 mvn -pl docs -am"
                + " -Dtest=TroubleshootingTest -Dsurefire.failIfNoSpecifiedTests=false verify writes the list");
    }

    @Test
    void whatIsExplainedIsThere() throws IOException {
        TreeMap<String, String> messages = Messages.read(Documents.PROJECT);
        String text = Files.readString(FILE);
        Matcher quoted = QUOTED.matcher(text.substring(0, text.indexOf(LIST)));
        int count = 0;
        while (quoted.find()) {
            String words = quoted.group(1);
            assertTrue(messages.keySet().stream().anyMatch(message -> message.contains(words)), () -> "no message has the words '"
                + words + "'; it was changed or removed");
            count++;
        }
        assertTrue(count > 10, "the page explains no message");
    }

    @Test
    void everyLoggerIsListed() throws IOException {
        TreeSet<String> used = new TreeSet<>();
        for (String module : List.of("transport-rpma-native", "transport-rpma", "integrations/micrometer", "integrations/vertx",
                "integrations/reactor-netty", "integrations/spring-boot", "agent")) {
            try (Stream<Path> tree = Files.walk(Documents.PROJECT.resolve(module).resolve("src/main/java"))) {
                for (Path file : tree.filter(path -> path.toString().endsWith(".java")).toList()) {
                    addLoggers(file, used);
                }
            }
        }
        TreeSet<String> listed = new TreeSet<>();
        Matcher row = LOGGER_ROW.matcher(Files.readString(FILE));
        while (row.find()) {
            listed.add(row.group(1));
        }
        assertEquals(used, listed, "docs/troubleshooting.md does not list the loggers as the sources have them");
    }

    private static void addLoggers(Path file, TreeSet<String> used) throws IOException {
        String text = Files.readString(file);
        Matcher logger = LOGGER.matcher(text);
        while (logger.find()) {
            if (logger.group(1) != null) {
                used.add(logger.group(1));
            } else if (logger.group(2) != null) {
                used.add(qualified(logger.group(2), text));
            } else {
                // The class that writes the log of a provider gets the name from each provider, which is found there.
                assertEquals("SoftwareLog.java", file.getFileName().toString(), "the name of a logger cannot be determined");
            }
        }
    }

    /** Returns the full name of a class that a source file names: it is imported, or in the package of the file. */
    private static String qualified(String name, String text) {
        Matcher imported = Pattern.compile("^import (io\\.rpma\\.[\\w.]*\\b" + name + ");", Pattern.MULTILINE).matcher(text);
        if (imported.find()) {
            return imported.group(1);
        }
        Matcher own = Pattern.compile("^package ([\\w.]+);", Pattern.MULTILINE).matcher(text);
        assertTrue(own.find(), "no package");
        return own.group(1) + '.' + name;
    }
}
