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

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests that the project's files that its scripts name exist. A renamed folder would otherwise break scripts that no build runs.
 */
class ScriptsTest {
    /** Folders that a build, an editor or version control creates. */
    private static final Set<String> NOT_OURS = Set.of("target", ".git", ".idea", "javadoc");
    /** The path of a file relative to the project ({@code root}) or to the folder of the script ({@code here}). */
    private static final Pattern NAMED = Pattern.compile("\\$\\{?(root|launch_root|here)}?/([A-Za-z0-9_./-]+)");

    private static List<Path> scripts() throws IOException {
        List<Path> scripts = new ArrayList<>();
        Files.walkFileTree(Documents.PROJECT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                boolean ours = !NOT_OURS.contains(folder.getFileName().toString());
                return ours ? FileVisitResult.CONTINUE : FileVisitResult.SKIP_SUBTREE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().endsWith(".sh") || file.endsWith(".ci/run")) {
                    scripts.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return scripts;
    }

    @Test
    void whatScriptsNameExists() throws IOException {
        List<String> missing = new ArrayList<>();
        int named = 0;
        for (Path script : scripts()) {
            for (MatchResult match : NAMED.matcher(Files.readString(script)).results().toList()) {
                Path base = match.group(1).equals("here") ? script.getParent() : Documents.PROJECT;
                Path file = base.resolve(match.group(2)).normalize();
                if (Documents.PROJECT.relativize(file).toString().matches("(.*/)?target(/.*)?")) {
                    continue;
                }
                named++;
                if (!Files.exists(file)) {
                    missing.add(Documents.PROJECT.relativize(script) + " names " + match.group());
                }
            }
        }
        assertTrue(named > 30, named + " files are named: the pattern is outdated");
        assertEquals(List.of(), missing);
    }
}
