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
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * A program that does not know RPMA, such as curl. If it is not installed, the test is skipped, and the message says what to
 * install.
 */
final class Program implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 60;

    private final Process process;

    /** Starts a server, and returns when it has printed a line with these words. */
    Program(String words, List<String> command) throws Exception {
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> lines = new ArrayList<>();
        CompletableFuture<Void> ready = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try (BufferedReader reader = process.inputReader()) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    lines.add(line);
                    if (line.contains(words)) {
                        ready.complete(null);
                    }
                }
                ready.completeExceptionally(new IOException(command + " ended: " + lines));
            } catch (IOException e) {
                ready.completeExceptionally(e);
            }
        });
        ready.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    /** Returns the path of a command, or skips the test if it is not installed. */
    static String of(String name, String debianPackage) {
        String[] folders = (System.getenv("PATH") + ":/usr/sbin:/sbin").split(":");
        List<String> found = Stream.of(folders).map(folder -> folder + "/" + name).filter(path -> new File(path).canExecute())
            .toList();
        assumeTrue(!found.isEmpty(), name + " is not installed (Debian: apt install " + debianPackage + ")");
        return found.getFirst();
    }

    /** Runs a command to its end. It must succeed. Returns its output. */
    static byte[] run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).start();
        CompletableFuture<String> error = CompletableFuture.supplyAsync(() -> {
            try (InputStream in = process.getErrorStream()) {
                return new String(in.readAllBytes());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }, reader -> Thread.ofPlatform().daemon().start(reader));
        CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS).execute(process::destroyForcibly);
        byte[] out = process.getInputStream().readAllBytes();
        assertEquals(0, process.waitFor(), () -> Arrays.toString(command) + ": " + error.join());
        return out;
    }

    /** Returns a free TCP port, for a program that needs a port as its argument. */
    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void close() {
        process.destroy();
        try {
            process.onExit().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            process.destroyForcibly();
            throw new AssertionError("the program did not end", e);
        }
    }
}
