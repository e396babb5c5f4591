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

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The output and the exit code of a command that was run in a separate JVM. */
record CliRun(int code, String out, String error) {
    /**
     * Runs a command to its end.
     *
     * @param jvmOptions options of the JVM
     * @param variables variables that are added to the environment
     * @param arguments the command and its options
     */
    static CliRun of(List<String> jvmOptions, Map<String, String> variables, String... arguments) throws Exception {
        return of(ProcessBuilder.Redirect.PIPE, jvmOptions, variables, arguments);
    }

    /** Runs a command to its end. {@code out} is empty if the output goes elsewhere. */
    static CliRun of(ProcessBuilder.Redirect output, List<String> jvmOptions, Map<String, String> variables, String... arguments)
            throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(List.of("-XX:+UseSerialGC", "-Xmx256m", "-cp", System.getProperty("java.class.path"),
            RpmaCommand.class.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(output);
        builder.environment().remove("RPMA_PROVIDER");
        builder.environment().putAll(variables);
        Process process = builder.start();
        CompletableFuture<String> error = CompletableFuture.supplyAsync(() -> read(process.errorReader()));
        String out = read(process.inputReader());
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("did not end; output: " + out);
        }
        return new CliRun(process.exitValue(), out, error.get());
    }

    private static String read(java.io.BufferedReader reader) {
        try (reader) {
            return reader.readAllAsString();
        } catch (IOException e) {
            return e.toString();
        }
    }

    CliRun ended(int expected) {
        assertEquals(expected, code, this::toString);
        return this;
    }
}
