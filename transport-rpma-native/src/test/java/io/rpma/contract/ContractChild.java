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
package io.rpma.contract;

import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.Peer;
import io.rpma.Rpma;
import io.rpma.RpmaError;
import io.rpma.RpmaLog;
import io.rpma.TestPatience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import static io.rpma.CompletionFlag.ALWAYS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The other side of a connection, in its own process. The program connects to the given address, with one region of the same size
 * as that of a pair. Then it executes commands that it reads line by line from its standard input, and answers each line with one
 * line.
 */
final class ContractChild {
    private static MemorySegment foreign;

    private final Process process;
    private final BufferedReader answers;
    private final PrintWriter commands;
    private final CompletableFuture<String> errors;

    private ContractChild(Process process) {
        this.process = process;
        answers = process.inputReader(StandardCharsets.UTF_8);
        commands = new PrintWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8), true);
        errors = reading(() -> new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8));
    }

    // Each task gets its own thread, because the common pool has only one thread on a machine with one processor.
    private static CompletableFuture<String> reading(Callable<String> source) {
        CompletableFuture<String> read = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                read.complete(source.call());
            } catch (Exception e) {
                read.completeExceptionally(e);
            }
        });
        return read;
    }

    /** Starts the program. It connects to the address at once. */
    static ContractChild connecting(InetSocketAddress address) throws IOException {
        return start(address.getAddress().getHostAddress(), "" + address.getPort());
    }

    /** Starts the program, which then only reports what the log contains. */
    static ContractChild logging() throws IOException {
        return start("log");
    }

    private static ContractChild start(String... arguments) throws IOException {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> command = new ArrayList<>(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--enable-native-access=ALL-UNNAMED",
            "-Xmx256m", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC",
            "-Dio.rpma.provider=" + Contract.PROVIDER.name(), "-cp", classPath, ContractChild.class.getName()));
        command.addAll(List.of(arguments));
        return new ContractChild(new ProcessBuilder(command).start());
    }

    /** Waits for the next line of the program. */
    void expect(String answer) throws Exception {
        String line;
        try {
            line = reading(answers::readLine).get(60L * TestPatience.FACTOR, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("the other process printed nothing instead of " + answer, e);
        }
        assertEquals(answer, line, () -> "the other process: " + (process.isAlive() ? "" : errors.join()));
    }

    /** Sends a command to the program, and waits until it has been executed. */
    void command(String command) throws Exception {
        begin(command);
        expect("done " + command);
    }

    /** Sends a command to the program without waiting. */
    void begin(String command) {
        commands.println(command);
    }

    /** Sends a command whose execution ends the program before it can answer. */
    void lastCommand(String command) throws Exception {
        begin(command);
        assertTrue(process.waitFor(60L * TestPatience.FACTOR, TimeUnit.SECONDS));
    }

    /** Ends the program as {@code kill -9} does. */
    void kill() throws Exception {
        process.toHandle().destroyForcibly();
        assertTrue(process.waitFor(60L * TestPatience.FACTOR, TimeUnit.SECONDS));
    }

    /** Ends the program if it is still running, and releases everything that belongs to it. */
    void end() throws Exception {
        kill();
        answers.close();
        commands.close();
        errors.join();
    }

    /** Runs the program. */
    public static void main(String[] args) throws Exception {
        if (args[0].equals("log")) {
            log();
            return;
        }
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Peer peer = Contract.DEVICE.newPeer();
            Memory memory = new Memory();
            LocalMemoryRegion region = memory.region(peer, Pair.SIZE, Memory.ALL);
            ConnectionConfig config = Contract.PROVIDER.newConnectionConfig()
                .timeoutMillis((int) Contract.DEADLINE).completionQueueSize(32);
            ConnectionRequest request = peer.newConnectionRequest(
                new InetSocketAddress(InetAddress.getByName(args[0]), Integer.parseInt(args[1])), config)) {
            for (int i = 0; i < 4; i++) {
                request.receive(region, i * 64L, 64, i);
            }
            ByteBuffer descriptor = ByteBuffer.allocate(region.descriptorSize());
            region.descriptor(descriptor);
            try (Connection connection = request.connect(descriptor.flip())) {
                Wait.event(ConnectionEvent.ESTABLISHED, connection);
                System.out.println("connected");
                for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                    obey(line, connection, region);
                    System.out.println("done " + line);
                }
            }
        }
    }

    // The sink is set before the first connection of the process, so that a provider can bind its functions accordingly.
    private static void log() throws Exception {
        RpmaLog log = Rpma.provider().log();
        AtomicInteger heard = new AtomicInteger();
        log.sink((level, file, line, function, format) -> heard.incrementAndGet());
        log.threshold(RpmaLog.Threshold.MAIN, RpmaLog.Level.DEBUG);
        fail(Contract.FOREIGN);
        try (Pair pair = Pair.plain()) {
            pair.exchange();
        }
        System.out.println(heard.get() > 0 ? "heard" : "heard nothing");
        log.threshold(RpmaLog.Threshold.MAIN, RpmaLog.Level.DISABLED);
        heard.set(0);
        fail(Contract.FOREIGN);
        System.out.println(heard.get() == 0 ? "silent" : "heard " + heard);
        log.sink(null);
        fail(Contract.FOREIGN);
        System.out.println(heard.get() == 0 ? "silent" : "heard " + heard);
    }

    private static void fail(InetAddress foreign) {
        Contract.refused(RpmaError.PROVIDER, () -> Rpma.provider().localDevice(foreign));
    }

    private static void obey(String command, Connection connection, LocalMemoryRegion region) throws Exception {
        switch (command) {
            case "fill" -> Memory.fill(region, 8192, 4096, 1);
            case "check" -> Memory.assertFilled(region, 16384, 4096, 2);
            case "send" -> {
                Memory.fill(region, 4096, 64, 3);
                connection.send(region, 4096, 64, ALWAYS, 100);
                assertEquals(100, Wait.success(connection.completionQueue()).context());
            }
            case "receive" -> {
                Completion received = Wait.success(connection.completionQueue());
                assertEquals(64, received.byteLength());
                Memory.assertFilled(region, received.context() * 64, 64, 4);
            }
            case "post send" -> connection.send(region, 4096, 64, ALWAYS, 101);
            case "complete send" -> assertEquals(101, Wait.success(connection.completionQueue()).context());
            case "foreign" -> {
                // This memory is unknown to the provider. It is never freed, because the process ends soon.
                foreign = Arena.global().allocate(4096, 8);
                ByteBuffer descriptor = ByteBuffer.allocate(region.descriptorSize());
                region.peer().register(foreign, Memory.ALL).descriptor(descriptor);
                region.memory().asByteBuffer().put(descriptor.flip());
            }
            case "check foreign" -> assertEquals(0x0102030405060708L, foreign.get(ValueLayout.JAVA_LONG, 64));
            case "disconnect" -> {
                connection.disconnect();
                Wait.event(ConnectionEvent.CLOSED, connection);
            }
            case "halt" -> Runtime.getRuntime().halt(0);
            default -> throw new IllegalArgumentException(command);
        }
    }
}
