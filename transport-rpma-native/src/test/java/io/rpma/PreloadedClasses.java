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
package io.rpma;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Loads classes for tests of processes without descriptors, because loading a class from a folder needs a descriptor. */
public final class PreloadedClasses {
    private PreloadedClasses() {
    }

    /**
     * Loads all classes of this library, and some of the tests. It does not initialize them.
     *
     * @param ofLibrary any class of the library
     * @param ofTests any class of the tests
     * @param tests a regular expression for the full names of the classes of the tests
     */
    public static void load(Class<?> ofLibrary, Class<?> ofTests, String tests) throws IOException, ReflectiveOperationException {
        load(ofLibrary, ".*");
        load(ofTests, tests);
    }

    private static void load(Class<?> one, String names) throws IOException, ReflectiveOperationException {
        Path root = Path.of(one.getProtectionDomain().getCodeSource().getLocation().getPath());
        if (!Files.isDirectory(root)) {
            return;
        }
        List<String> found;
        try (Stream<Path> files = Files.walk(root.resolve("io/rpma"))) {
            found = files.map(file -> root.relativize(file).toString()).filter(name -> name.endsWith(".class"))
                .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.'))
                .filter(name -> name.matches(names)).toList();
        }
        for (String name : found) {
            Class.forName(name, false, one.getClassLoader());
        }
    }
}
