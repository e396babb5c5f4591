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

/**
 * A Java program of this test suite in a child process. This class reads its output line by line, sends it orders and ends it.
 */
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
     * @param prefix the command that runs Java, for example a shell that sets limits; empty for none
     * @param options the options of the virtual machine
     * @param log the file for the standard error output
     * @param consumer is called with each line of output and returns whether it has handled the line; {@link #next} returns the
     *     other lines
     */
    public static Child start(String name, List<String> prefix, List<String> options, Class<?> main, List<String> arguments,
            Path log, Predicate<String> consumer) throws IOException {
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

    /** Returns the class path with jars in place of folders, because a class archive cannot contain classes from folders. */
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

    /** Waits for the next line. Returns {@code null} if the process has ended, or has printed nothing within the given time. */
    public String next(long millis) throws InterruptedException {
        String line = said.poll(millis, TimeUnit.MILLISECONDS);
        if (GONE.equals(line)) {
            said.add(line);
            return null;
        }
        return line;
    }

    /** Waits for a line that begins with a word, and returns the rest of the line. */
    public String expect(String word) throws IOException, InterruptedException {
        for (;;) {
            String line = next(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
            if (line == null) {
                throw new IOException(end(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS)) + " when \"" + word + "\" was expected");
            }
            if (line.equals(word) || line.startsWith(word + ' ')) {
                return line.substring(word.length()).strip();
            }
        }
    }

    /** Returns a text that says why {@link #next} has returned {@code null} after the given time. */
    public String end(long millis) throws InterruptedException {
        return name + (!said.contains(GONE) ? " said nothing for " + millis / 1000 + " s"
            : " has ended with exit code " + process.waitFor());
    }

    /** Sends an order to the process. */
    public void order(String line) {
        orders.println(line);
    }

    /** Returns the process identifier. */
    public long pid() {
        return process.pid();
    }

    /** Returns whether the process is still running. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Sends a signal to the process.
     *
     * @return whether it was sent; {@code false} if the process has ended, because another process may have its number then
     */
    public boolean signal(int number) {
        if (!process.isAlive()) {
            return false;
        }
        Signals.send((int) process.pid(), number);
        return true;
    }

    /** Ends the process as {@code kill -9} does, even if it is stopped. */
    public void kill() {
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        kill();
    }
}
