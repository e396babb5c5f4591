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

package io.rpma.agent;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A program in a separate process, with or without the agent. The transport is not on its class path. */
final class Program {
    private static final String JAR = System.getProperty("agent.jar");
    private static final long LIMIT_SECONDS = 240;
    private static final Pattern CARRIED = Pattern.compile("RPMA carried (\\d+) bytes out.* (\\d+) bytes in");

    private final List<String> jvm = new ArrayList<>();
    private List<String> classPath;

    private Program() {
        classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.contains("transport-rpma")
                && !Path.of(entry).toAbsolutePath().endsWith("agent/target/classes"))
            .collect(Collectors.toCollection(ArrayList::new));
        jvm.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        jvm.addAll(List.of("-Xmx256m", "-Dio.rpma.provider=" + System.getProperty("io.rpma.provider", "auto")));
    }

    /** Returns a program without the agent. */
    static Program plain() {
        return new Program();
    }

    /** Returns a program with the agent. */
    static Program withAgent(String options) {
        return withAgentAlone(options).jvm("--enable-native-access=ALL-UNNAMED");
    }

    /** Returns a program with the agent, but without the native access that the agent needs. */
    static Program withAgentAlone(String options) {
        Program program = new Program();
        program.jvm.add("-javaagent:" + JAR + (options.isEmpty() ? "" : "=" + options));
        return program;
    }

    Program jvm(String... options) {
        jvm.addAll(List.of(options));
        return this;
    }

    /** Removes the entries that contain one of these parts from the class path. */
    Program without(String... parts) {
        classPath.removeIf(entry -> Arrays.stream(parts).anyMatch(entry::contains));
        return this;
    }

    List<String> classPath() {
        return classPath;
    }

    Program classPath(List<String> entries) {
        classPath = entries;
        return this;
    }

    /** Runs the program to its end. */
    Output run(Class<?> main, String... arguments) throws IOException, InterruptedException {
        return run(main.getName(), arguments);
    }

    Output run(String main, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(jvm);
        command.addAll(List.of("-cp", String.join(File.pathSeparator, classPath), main));
        command.addAll(List.of(arguments));
        Path file = Files.createTempFile("rpma-agent-test", ".out");
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(file.toFile()).start();
            boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
            if (!ended) {
                process.destroyForcibly().waitFor();
            }
            return new Output(ended ? process.exitValue() : -1, Files.readString(file));
        } finally {
            Files.delete(file);
        }
    }

    /** The exit code and the output of a program. */
    record Output(int exitCode, String text) {
        /**
         * Returns the number of bytes that RPMA carried out and in, for both ends together, or 0 if the agent does not report
         * them.
         */
        long carried() {
            long sum = 0;
            Matcher matcher = CARRIED.matcher(text);
            while (matcher.find()) {
                sum += Long.parseLong(matcher.group(1)) + Long.parseLong(matcher.group(2));
            }
            return sum;
        }

        /** Returns the output of the program itself. */
        List<String> result() {
            return text.lines().filter(line -> line.startsWith("result: ")).toList();
        }
    }
}
