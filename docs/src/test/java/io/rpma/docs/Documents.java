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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The Markdown files of the project, and their blocks of code. */
final class Documents {
    /** The folder of this module, in which Maven and the scripts run tests. */
    static final Path FOLDER = Path.of("").toAbsolutePath();
    /** The folder of the project. */
    static final Path PROJECT = FOLDER.getParent();
    /** Whether lists that are generated from the sources are written. */
    static final boolean UPDATE = Boolean.getBoolean("io.rpma.docs.update") || System.getenv("RPMA_DOCS_UPDATE") != null;

    /**
     * A block between fences.
     *
     * @param file the Markdown file, relative to the project's folder
     * @param line the number of the line of its first fence, from 1
     * @param kind the text after the fence: the language, and other words about how to test the block
     * @param text the lines of the block
     */
    record Block(Path file, int line, String kind, List<String> text) {
        @Override
        public String toString() {
            return file + ":" + line + " " + kind;
        }
    }

    private Documents() {
    }

    /** Returns all Markdown files that users read. */
    static List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>(List.of(PROJECT.resolve("README.md")));
        try (Stream<Path> docs = Files.list(FOLDER)) {
            docs.filter(file -> file.toString().endsWith(".md")).sorted().forEach(files::add);
        }
        return files;
    }

    /** Returns the blocks of all files whose kind begins with a word. */
    static List<Block> blocks(String language) throws IOException {
        List<Block> blocks = new ArrayList<>();
        for (Path file : files()) {
            Block open = null;
            int number = 0;
            for (String line : Files.readAllLines(file)) {
                number++;
                if (!line.strip().startsWith("```")) {
                    if (open != null) {
                        open.text().add(line);
                    }
                } else if (open == null) {
                    open = new Block(PROJECT.relativize(file), number, line.strip().substring(3).strip(), new ArrayList<>());
                } else {
                    if ((open.kind() + " ").startsWith(language + " ")) {
                        blocks.add(open);
                    }
                    open = null;
                }
            }
            if (open != null) {
                throw new IOException(open + " has no end");
            }
        }
        return blocks;
    }
}
