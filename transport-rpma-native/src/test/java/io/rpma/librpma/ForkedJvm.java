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
package io.rpma.librpma;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** A separate JVM, for decisions that are made once in the life of a process. */
record ForkedJvm(int exitCode, String output) {
    /**
     * Runs a main method and waits for its end.
     *
     * @param main the class with the main method
     * @param arguments the options of the JVM; if {@code --module} is one of them, it is the last one and names the class
     */
    static ForkedJvm run(Class<?> main, String... arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(arguments));
        if (!command.contains("--module")) {
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        }
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().remove("RPMA_PROVIDER");
        Process process = builder.start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the JVM closed its output and continues to run");
            return new ForkedJvm(process.exitValue(), output);
        } finally {
            process.destroyForcibly();
        }
    }

    void assertOutputContains(String... parts) {
        for (String part : parts) {
            assertTrue(output.contains(part), () -> "'" + part + "' is not in the output:\n" + output);
        }
    }
}
