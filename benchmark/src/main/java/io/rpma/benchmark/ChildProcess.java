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

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A child process of a run. Its standard error goes to a log file, and its standard output is kept in memory. It ends when this
 * process ends.
 */
final class ChildProcess implements AutoCloseable {
    private final String name;
    private final Path log;
    private final Process process;
    private final Thread hook;
    private final Thread reader;
    private final List<String> output = new ArrayList<>();
    private int taken;
    private boolean ended;

    ChildProcess(String name, List<String> command, Path log) throws IOException {
        this.name = name;
        this.log = log;
        process = new ProcessBuilder(command).redirectError(log.toFile()).start();
        hook = new Thread(process::destroyForcibly, "end the " + name);
        Runtime.getRuntime().addShutdownHook(hook);
        reader = Thread.ofPlatform().name("output of the " + name).daemon().start(this::read);
    }

    private void read() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                add(line);
            }
        } catch (IOException e) {
            add("its output cannot be read: " + e);
        } finally {
            end();
        }
    }

    private synchronized void add(String line) {
        output.add(line);
        notifyAll();
    }

    private synchronized void end() {
        ended = true;
        notifyAll();
    }

    long pid() {
        return process.pid();
    }

    /** Waits for the next line that begins with a prefix, and returns the rest of that line. */
    synchronized String await(String prefix, long deadlineNanos) throws IOException, InterruptedException, TimeoutException {
        for (;;) {
            while (taken == output.size()) {
                if (ended) {
                    throw new IOException("the " + name + " ended early with exit code " + process.waitFor());
                }
                waitUntil(deadlineNanos);
            }
            String line = output.get(taken++);
            if (line.startsWith(prefix)) {
                return line.substring(prefix.length());
            }
        }
    }

    /** Waits for the end of the process, and returns all lines of its output. */
    synchronized List<String> awaitEnd(long deadlineNanos) throws IOException, InterruptedException, TimeoutException {
        while (!ended) {
            waitUntil(deadlineNanos);
        }
        int code = process.waitFor();
        if (code != 0) {
            throw new IOException("the " + name + " ended with exit code " + code);
        }
        return List.copyOf(output);
    }

    private void waitUntil(long deadlineNanos) throws InterruptedException, TimeoutException {
        long left = deadlineNanos - System.nanoTime();
        if (left <= 0) {
            throw new TimeoutException("the " + name + " did not finish in time");
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
    }

    /** Writes a command to the standard input of the process. */
    void command(String line) throws IOException {
        process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    /** Closes the standard input of the process, which asks a process that reads it to end. */
    void endInput() throws IOException {
        process.getOutputStream().close();
    }

    /** Makes the process print the stacks of all its threads, then appends its output to its log. */
    void dump() {
        try {
            if (process.isAlive()) {
                new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid())).inheritIO().start().waitFor();
                await("Heap", System.nanoTime() + TimeUnit.SECONDS.toNanos(2));
            }
        } catch (IOException | TimeoutException e) {
            add("no dump: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        synchronized (this) {
            try {
                Files.write(log, output, StandardOpenOption.APPEND);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            reader.join();
            if (Files.size(log) == 0) {
                Files.delete(log);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The shutdown hook is already running because this process is ending.
            assert e.getMessage() != null;
        }
    }
}
