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
package io.rpma.testsuite;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A {@link ChildServer} in a separate JVM with the options of this one. */
final class ChildProcess {
    private static final int LIMIT_SECONDS = 30;
    private static final List<String> HANDED_ON = List.of(TestTransport.PROPERTY, Permutations.ALLOCATOR_PROPERTY,
        "io.rpma.provider", "io.netty.leakDetection.level");

    private final Map<String, Integer> ports = new HashMap<>();
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private final Process process;

    ChildProcess(File file) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (!argument.startsWith("-agentlib:") && !argument.startsWith("-javaagent:")) {
                command.add(argument);
            }
        }
        for (String property : HANDED_ON) {
            String value = System.getProperty(property);
            if (value != null) {
                command.add("-D" + property + '=' + value);
            }
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ChildServer.class.getName(), file.getPath()));
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        Thread reader = new Thread(this::read, "child output");
        reader.setDaemon(true);
        reader.start();
        for (String line = next(); !line.equals("ready"); line = next()) {
            String[] words = line.split(" ");
            if (words.length == 3 && words[0].equals("port")) {
                ports.put(words[1], Integer.valueOf(words[2]));
            }
        }
    }

    private void read() {
        try (BufferedReader lines = process.inputReader()) {
            lines.lines().forEach(said::add);
        } catch (IOException | RuntimeException e) {
            said.add("unreadable: " + e);
        }
        said.add("gone");
    }

    /** Returns the next line that the child prints. */
    String next() throws IOException, InterruptedException {
        String line = said.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
        if (line == null) {
            throw new IOException("the child printed nothing for " + LIMIT_SECONDS + " s");
        }
        if (line.equals("gone")) {
            said.add(line);
            throw new IOException("the child has ended with exit code " + process.waitFor());
        }
        return line;
    }

    /** Returns the next line that the child prints about one subject, without the word for the subject. */
    String next(String subject) throws IOException, InterruptedException {
        for (String line = next();; line = next()) {
            if (line.startsWith(subject + ' ')) {
                return line.substring(subject.length() + 1);
            }
        }
    }

    int port(String name) {
        Integer port = ports.get(name);
        if (port == null) {
            throw new IllegalArgumentException("no server " + name + " in " + ports);
        }
        return port;
    }

    /** Kills the child, as a crash would. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Ends the child in order, and returns the leaks that it found. */
    List<String> end() throws IOException, InterruptedException {
        process.outputWriter().close();
        List<String> leaks = new ArrayList<>();
        for (String line = next(); !line.equals("end"); line = next()) {
            if (line.startsWith("leak ")) {
                leaks.add(line);
            }
        }
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            kill();
            throw new IOException("the child did not end in " + LIMIT_SECONDS + " s");
        }
        if (process.exitValue() != 0) {
            throw new IOException("the child ended with exit code " + process.exitValue());
        }
        return leaks;
    }
}
