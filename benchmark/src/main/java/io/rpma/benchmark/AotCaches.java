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

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/**
 * The ahead-of-time caches of a benchmark's processes (JEP 514), which contain the loaded classes and the profiles of methods
 * (JEP 515). There is one for each role in each measurement of each rival. A training run, which is not measured, creates it.
 *
 * @param folder where the caches are
 * @param classPath the class path of all processes, which consists of jar files only: the JVM caches no other classes
 * @param trainingMillis the shortest warm-up of a training run, which must be long enough for complete profiles
 */
record AotCaches(Path folder, String classPath, long trainingMillis) {
    private static final long TRAINING_MILLIS = 10_000;

    /** Prepares a folder for caches of complete profiles; caches that are there are deleted. */
    static AotCaches in(Path folder) throws IOException {
        return in(folder, TRAINING_MILLIS);
    }

    static AotCaches in(Path folder, long trainingMillis) throws IOException {
        Files.createDirectories(folder);
        try (Stream<Path> old = Files.list(folder)) {
            for (Path each : old.toList()) {
                Files.delete(each);
            }
        }
        List<String> jars = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path path = Path.of(entry);
            jars.add(Files.isDirectory(path) ? jar(path, folder.resolve("classes" + jars.size() + ".jar")).toString() : entry);
        }
        return new AotCaches(folder, String.join(File.pathSeparator, jars), trainingMillis);
    }

    /** Writes the files of a folder to a jar file. */
    private static Path jar(Path classes, Path jar) throws IOException {
        try (Stream<Path> files = Files.walk(classes);
                OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file)) {
            for (Path each : files.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new JarEntry(classes.relativize(each).toString().replace(File.separatorChar, '/')));
                Files.copy(each, out);
                out.closeEntry();
            }
        }
        return jar;
    }

    /** Returns the option with which a process creates its cache when it ends. */
    String toCreate(String process) {
        return "-XX:AOTCacheOutput=" + cache(process);
    }

    /** Returns the options with which a process uses its cache. The process does not start if it cannot use it. */
    List<String> toUse(String process) {
        return List.of("-XX:AOTCache=" + cache(process), "-XX:AOTMode=on");
    }

    private Path cache(String process) {
        return folder.resolve(process + ".aot");
    }
}
