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
package io.rpma.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** An example in a separate process, as run-example.sh starts it, with pipes for its two outputs. */
final class ExampleRun implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 120;

    private final Process process;
    private final BufferedReader out;
    private final List<String> outLines = new ArrayList<>();
    private final CompletableFuture<String> error;

    ExampleRun(String... arguments) throws IOException {
        this(ExampleJvm.command(List.of(arguments)), PATIENCE_SECONDS);
    }

    /** Starts a command. It is killed after some time if it has not ended by then. */
    ExampleRun(List<String> command, long patienceSeconds) throws IOException {
        process = new ProcessBuilder(command).start();
        out = process.inputReader();
        error = CompletableFuture.supplyAsync(() -> String.join("\n", process.errorReader().lines().toList()),
            reader -> Thread.ofPlatform().daemon().start(reader));
        // Threads wait for the output of the process. If the process hangs, it is killed, and its exit code fails the test.
        CompletableFuture.delayedExecutor(patienceSeconds, TimeUnit.SECONDS).execute(process::destroyForcibly);
    }

    /** Runs an example to its end. */
    static ExampleRun toEnd(String... arguments) throws Exception {
        ExampleRun run = new ExampleRun(arguments);
        run.await();
        return run;
    }

    ProcessHandle handle() {
        return process.toHandle();
    }

    /** Writes a line to the standard input of the process. */
    void say(String line) throws IOException {
        process.outputWriter().write(line + "\n");
        process.outputWriter().flush();
    }

    /** Reads up to a line that begins with this text, and returns the line. */
    String lineWith(String beginning) throws IOException {
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            outLines.add(line);
            if (line.startsWith(beginning)) {
                return line;
            }
        }
        throw new AssertionError("no line began with '" + beginning + "' in " + outLines + "; the error output: " + error.join());
    }

    /** Waits for the end of the process, and returns the exit code. */
    int await() throws Exception {
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            outLines.add(line);
        }
        return process.waitFor();
    }

    List<String> out() {
        return outLines;
    }

    String error() {
        return error.join();
    }

    /** Asserts the exit code, and returns this run. */
    ExampleRun ended(int code) throws Exception {
        assertEquals(code, await(), () -> "exit code; output: " + outLines + "; error output: " + error());
        return this;
    }

    /** Asserts that a line of the output matches, and returns the line. */
    String has(String pattern) {
        return outLines.stream().filter(line -> line.matches(pattern)).findFirst()
            .orElseThrow(() -> new AssertionError("no line matches '" + pattern + "' in " + outLines));
    }

    void errorHas(String words) {
        assertTrue(error().contains(words), () -> "'" + words + "' is not in the error output: " + error());
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
