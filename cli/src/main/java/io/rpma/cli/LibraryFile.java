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
package io.rpma.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Describes the file of librpma that this process has loaded. The library has no function that returns its version, but the
 * system's package manager has more precise information.
 */
final class LibraryFile {
    private static final List<List<String>> PACKAGE_MANAGERS = List.of(
        List.of("dpkg-query", "--search"),
        List.of("rpm", "-q", "--queryformat", "%{NAME} %{VERSION}-%{RELEASE}", "-f"));

    private LibraryFile() {
    }

    /**
     * Returns the path of a library that is mapped into this process.
     *
     * @param name the name that was used to load the library: a path, or the name of a file
     */
    static Optional<String> mapped(String name) {
        Path last = Path.of(name).getFileName();
        String file = last == null ? "" : last.toString();
        if (file.isEmpty()) {
            return Optional.empty();
        }
        String resolved = resolved(Path.of(name));
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.indexOf('/') >= 0).map(line -> line.substring(line.indexOf('/')))
                .filter(path -> path.equals(resolved) || Path.of(path).getFileName().toString().startsWith(file)).findFirst();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String resolved(Path path) {
        try {
            return path.toRealPath().toString();
        } catch (IOException e) {
            return path.toString();
        }
    }

    /**
     * Returns the package that contains a file and the version of the package, for example {@code librpma0 1.2.0-1}, if the
     * system has this information.
     */
    static Optional<String> packageOf(String path) {
        for (List<String> command : PACKAGE_MANAGERS) {
            Optional<String> found = run(Stream.concat(command.stream(), Stream.of(path)).toList());
            if (found.isPresent() && command.getFirst().equals("dpkg-query")) {
                // The output has the form "librpma0:amd64: /usr/lib/...".
                String name = found.get().substring(0, found.get().lastIndexOf(": "));
                return run(List.of("dpkg-query", "--show", "--showformat", "${Package} ${Version}", name));
            }
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private static Optional<String> run(List<String> command) {
        try {
            Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0 && !output.isEmpty()
                ? Optional.of(output.lines().findFirst().orElseThrow()) : Optional.empty();
        } catch (IOException e) {
            // The program does not exist, so this system uses another package manager.
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
