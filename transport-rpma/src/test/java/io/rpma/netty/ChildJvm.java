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

package io.rpma.netty;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** A process of the same Java runtime with the same class path, which can be killed. */
public final class ChildJvm implements AutoCloseable {
    // It differs from every line by its identity.
    private static final String END = new String("the end");

    private final Process process;
    private final BlockingQueue<String> output = new LinkedBlockingQueue<>();

    public ChildJvm(List<String> options, Class<?> main, String... arguments) throws IOException {
        this(List.of(), options, main, arguments);
    }

    /** Does the same through a program that limits the process that it starts. */
    public ChildJvm(List<String> limiting, List<String> options, Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(limiting);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        String provider = System.getProperty("io.rpma.provider");
        if (provider != null && options.stream().noneMatch(option -> option.startsWith("-Dio.rpma.provider"))) {
            command.add("-Dio.rpma.provider=" + provider);
        }
        if (Boolean.getBoolean("io.rpma.soft.withoutImmediateData")) {
            command.add("-Dio.rpma.soft.withoutImmediateData=true");
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        // A thread that waits for a line can be interrupted, for example when the time of a test is over. A thread that reads
        // cannot be interrupted.
        Thread.ofPlatform().daemon().name("output of " + process.pid()).start(this::read);
    }

    private void read() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                output.add(line);
            }
        } catch (IOException e) {
            output.add("the output cannot be read: " + e);
        }
        output.add(END);
    }

    /** Waits for the next line. Returns {@code null} at the end of the output. */
    private String nextLine() throws IOException {
        try {
            String line = output.take();
            if (line != END) {
                return line;
            }
            output.add(END);
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("while the process was waited for");
        }
    }

    /** Returns the usual JVM options of a user of the class path. */
    public static List<String> ordinary() {
        return List.of("--enable-native-access=ALL-UNNAMED", "-Xmx256m", "-XX:TieredStopAtLevel=1");
    }

    long pid() {
        return process.pid();
    }

    /** Waits for a line that begins with a word. Returns the rest of the line. */
    String await(String word) throws IOException {
        StringBuilder seen = new StringBuilder();
        for (String line = nextLine(); line != null; line = nextLine()) {
            if (line.startsWith(word)) {
                return line.substring(word.length()).trim();
            }
            seen.append(line).append('\n');
        }
        throw new AssertionError("the process ended without saying '" + word + "':\n" + seen);
    }

    /** Writes a line to the standard input of the process. */
    void tell(String line) throws IOException {
        process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    /** Returns the remaining output of the process until it ends. */
    public String rest() throws IOException {
        StringBuilder rest = new StringBuilder();
        for (String line = nextLine(); line != null; line = nextLine()) {
            rest.append(line).append('\n');
        }
        return rest.toString();
    }

    /** Kills the process, as {@code kill -9} does. */
    void kill() {
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        kill();
    }
}
