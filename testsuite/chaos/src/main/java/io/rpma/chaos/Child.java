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

package io.rpma.chaos;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A Java program of this harness in a process of its own: what it says, line by line, its orders, its end. */
public final class Child implements AutoCloseable {
    private static final String GONE = "gone";
    private static final int PATIENCE_SECONDS = 180;

    private final String name;
    private final Process process;
    private final PrintWriter orders;
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private final Predicate<String> consumer;

    private Child(String name, Process process, Predicate<String> consumer) {
        this.name = name;
        this.process = process;
        this.consumer = consumer;
        orders = new PrintWriter(process.outputWriter(), true);
        Thread.ofPlatform().daemon().name("output of " + name).start(this::read);
    }

    /**
     * Starts a program.
     *
     * @param prefix what runs Java, as a shell that sets limits; empty for nothing
     * @param options of the virtual machine
     * @param log where its errors go
     * @param consumer takes what it says as it comes; what it refuses is for {@link #next}
     */
    static Child start(String name, List<String> prefix, List<String> options, Class<?> main, List<String> arguments, Path log,
            Predicate<String> consumer) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto"));
        command.addAll(options);
        if (!options.contains("-cp")) {
            command.addAll(List.of("-cp", classPath()));
        }
        command.add(main.getName());
        command.addAll(arguments);
        return new Child(name, new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(log.toFile())).start(),
            consumer);
    }

    /** The class path with jars in place of folders, of which no archive of classes can be made. */
    static String classPath() throws IOException {
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path folder = Path.of(entry);
            if (Files.isDirectory(folder) && folder.endsWith("classes")) {
                try (var jars = Files.newDirectoryStream(folder.getParent(), "chaos-*.jar")) {
                    for (Path jar : jars) {
                        folder = jar;
                    }
                }
            }
            entries.add(folder.toString());
        }
        return String.join(File.pathSeparator, entries);
    }

    private void read() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!consumer.test(line)) {
                    said.add(line);
                }
            }
        } catch (IOException | RuntimeException e) {
            said.add("unreadable: " + e);
        }
        said.add(GONE);
    }

    /** Waits for the next line; {@code null} if it has ended, or has said nothing for so long. */
    public String next(long millis) throws InterruptedException {
        String line = said.poll(millis, TimeUnit.MILLISECONDS);
        if (GONE.equals(line)) {
            said.add(line);
            return null;
        }
        return line;
    }

    /** Waits for a line that begins with a word; returns the rest of it. */
    public String expect(String word) throws IOException, InterruptedException {
        for (;;) {
            String line = next(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
            if (line == null) {
                throw new IOException(name + (!said.contains(GONE) ? " said nothing for " + PATIENCE_SECONDS + " s"
                    : " has ended with exit code " + process.waitFor()) + " when \"" + word + "\" was expected");
            }
            if (line.equals(word) || line.startsWith(word + ' ')) {
                return line.substring(word.length()).strip();
            }
        }
    }

    /** Gives an order. */
    public void order(String line) {
        orders.println(line);
    }

    /** Returns its process number. */
    public long pid() {
        return process.pid();
    }

    /** Returns whether it has not ended. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Sends it a signal. */
    public void signal(int number) {
        Signals.send((int) process.pid(), number);
    }

    /** Ends it as {@code kill -9} does, also when it is stopped. */
    public void kill() {
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        kill();
    }
}
