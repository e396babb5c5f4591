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
package io.rpma.soft;

import io.rpma.TestPatience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The side of a test that controls a {@link SoftChild}: it reads the answers of the process, gives it orders and ends it. */
final class Child implements AutoCloseable {
    private static final int DEADLINE_SECONDS = 60 * TestPatience.FACTOR;
    /** The time after which a process is killed in any case, because a thread that reads its answers cannot be interrupted. */
    private static final int LIFE_SECONDS = 300 * TestPatience.FACTOR;

    private final Process process;
    private final BufferedReader answers;
    private final PrintWriter orders;

    private Child(Process process) {
        this.process = process;
        process.onExit().orTimeout(LIFE_SECONDS, TimeUnit.SECONDS).exceptionally(late -> {
            process.destroyForcibly();
            return process;
        });
        answers = new BufferedReader(new InputStreamReader(process.getInputStream()));
        orders = new PrintWriter(new OutputStreamWriter(process.getOutputStream()), true);
    }

    /** Starts a process that executes the given task with a port. */
    static Child start(String task, int port, Object... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of(task, String.valueOf(port)));
        for (Object argument : arguments) {
            all.add(String.valueOf(argument));
        }
        return start(List.of("-Dio.rpma.soft.faults=true"), all);
    }

    /** Starts a process that runs {@link Interleavings}. */
    static Child interleavings() throws IOException {
        return start(List.of("-Dio.rpma.soft.faults=true"), List.of("interleave", "0"));
    }

    private static Child start(List<String> options, List<String> arguments) throws IOException {
        return new Child(ChildProcess.start(options, SoftChild.class, arguments.toArray(String[]::new)));
    }

    /** Returns the next line that the process prints, or {@code null} if it has ended. */
    String answer() throws IOException {
        return answers.readLine();
    }

    void expect(String line) throws IOException {
        assertEquals(line, answer());
    }

    /** Gives the process an order. Its answer is read by {@link #answer()}. */
    void order(String line) {
        orders.println(line);
    }

    long pid() {
        return process.pid();
    }

    /** Waits until the process has been stopped. */
    void awaitStop() throws IOException {
        while (!Files.readString(Path.of("/proc/" + pid() + "/stat")).contains(") T ")) {
            Station.pause();
        }
    }

    /** Continues the process after it has stopped itself at a place. */
    void goOn() {
        SoftChild.signal(pid(), SoftChild.SIGCONT);
        order("go on");
    }

    /** Waits until the process has ended. */
    void awaitEnd() {
        try {
            assertTrue(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS), "the other process did not end");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Ends the process as {@code kill -9} does. */
    void kill() {
        process.destroyForcibly();
        awaitEnd();
    }

    @Override
    public void close() {
        kill();
    }
}
