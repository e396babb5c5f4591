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
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * A process of a run: the server, the client, or both in one. It writes its messages for the parent process to the standard
 * output, and executes commands from its standard input. A server ends when its standard input ends, so it ends with its parent,
 * even if the parent is killed.
 */
final class Peer {
    /** The prefix of a server's first line; the address of the server follows it. */
    static final String LISTENING = "listening=";
    /** A command, and the prefix of its answer; the bytes of the heap that are in use follow it. */
    static final String MEMORY = "memory=";
    /** A command, which is followed by the number of idle connections, and the prefix of its answer. */
    static final String CONNECT = "connect=";

    /** The system property of a client that is to count the system calls of both ends. */
    static final String COUNT_PROPERTY = "io.rpma.benchmark.systemCalls";

    private Peer() {
    }

    /**
     * Runs the process.
     *
     * @param arguments {@code server RIVAL MEASUREMENT}, {@code client RIVAL MEASUREMENT WARM-UP WINDOW ADDRESS SERVER-PID} or
     *     {@code both RIVAL MEASUREMENT WARM-UP WINDOW}; times in milliseconds
     */
    public static void main(String[] arguments) throws Exception {
        Engine engine = Rival.withKey(arguments[1]).engine();
        Measurement measurement = Measurement.named(arguments[2]);
        switch (arguments[0]) {
            case "server" -> {
                try (Engine.Server server = engine.serve(measurement)) {
                    System.out.println(LISTENING + server.address());
                    obey(null);
                }
            }
            case "client" ->
                runClient(engine, measurement, timing(arguments), arguments[5], Long.parseLong(arguments[6]));
            case "both" -> {
                try (Engine.Server server = engine.serve(measurement)) {
                    runClient(engine, measurement, timing(arguments), server.address(), own());
                }
            }
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        // The work is done. Exiting explicitly also ends threads that a library has left running.
        System.exit(0);
    }

    private static long own() {
        return ProcessHandle.current().pid();
    }

    private static Timing timing(String[] arguments) {
        return new Timing(TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[3])),
            TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[4])));
    }

    private static void runClient(Engine engine, Measurement measurement, Timing timing, String address, long serverPid)
            throws Exception {
        if (measurement.kind() == Kind.IDLE) {
            try (IdleClient client = new IdleClient((NettyTransport) engine, address)) {
                obey(client);
            }
        } else {
            try (Meter meter = new Meter(own(), serverPid, Boolean.getBoolean(COUNT_PROPERTY))) {
                System.out.print(engine.measure(measurement, timing, address, meter).format());
            }
            System.out.flush();
        }
    }

    /** Executes commands until the input ends. */
    private static void obey(IdleClient client) throws Exception {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            if (command.equals(MEMORY)) {
                System.out.println(MEMORY + JvmMemory.settle());
            } else if (command.startsWith(CONNECT) && client != null) {
                client.connect(Integer.parseInt(command.substring(CONNECT.length())));
                System.out.println(command);
            } else {
                throw new IOException("this process does not know the command " + command);
            }
        }
    }
}
