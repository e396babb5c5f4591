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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.DataFormatException;

/**
 * Runs one measurement of one rival in new processes that do nothing else.
 *
 * @param warmUpMillis the duration of the warm-up, which is not measured
 * @param windowMillis the duration of the measurement after the warm-up
 * @param jvmOptions the JVM options of every process, for all rivals
 * @param logs the folder for the standard error output of the processes
 * @param hosts the two hosts for the rivals that need them; {@code null} if there are none
 * @param caches the ahead-of-time caches of the processes; {@code null} if there are none
 */
record Launcher(long warmUpMillis, long windowMillis, List<String> jvmOptions, Path logs, TwoHosts hosts, AotCaches caches) {
    /** How long a run may take in addition to its configured times, for starting two JVMs, connecting and ending. */
    private static final long PATIENCE_SECONDS = 60;

    /**
     * Runs the measurement and returns the result. The exception of a failure says what happened and which file has more
     * information.
     */
    Outcome run(Rival rival, Measurement measurement, Mode mode, int round) throws RunFailedException, InterruptedException {
        if (caches != null && round == 1) {
            execute(new Run(rival, measurement, mode, round, true));
        }
        return execute(new Run(rival, measurement, mode, round, false));
    }

    private Outcome execute(Run run) throws RunFailedException, InterruptedException {
        try {
            Files.createDirectories(logs);
            return run.mode == Mode.TWO_PROCESSES ? run.inTwo() : run.inOne();
        } catch (IOException e) {
            throw new RunFailedException(e.getMessage() + run.firstError() + "; see " + logs.resolve(run.name + "-*.log"), e);
        }
    }

    /** A single run. */
    private final class Run {
        private final Rival rival;
        private final Measurement measurement;
        private final Mode mode;
        private final String name;
        // Whether the processes create their ahead-of-time caches instead of being measured.
        private final boolean training;
        private final long warmUp;
        private final long deadline;

        Run(Rival rival, Measurement measurement, Mode mode, int round, boolean training) {
            this.rival = rival;
            this.measurement = measurement;
            this.mode = mode;
            this.training = training;
            name = key() + "-" + (training ? "training" : round);
            warmUp = training ? Math.max(caches.trainingMillis(), warmUpMillis) : warmUpMillis;
            deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Window.LONGEST_WARM_UP * warmUp + windowMillis)
                + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        }

        private String key() {
            return measurement.name() + "-" + rival.key() + "-" + mode.key();
        }

        Outcome inTwo() throws IOException, InterruptedException {
            try (ChildProcess server = child("server")) {
                try {
                    String address = server.await(Peer.LISTENING, deadline);
                    Outcome outcome;
                    try (ChildProcess client = child("client", Long.toString(warmUp), Long.toString(windowMillis), address,
                            Long.toString(server.pid()))) {
                        outcome = outcome(client, server);
                    }
                    server.endInput();
                    server.awaitEnd(deadline);
                    return outcome;
                } catch (TimeoutException e) {
                    server.dump();
                    throw new IOException(e.getMessage(), e);
                }
            }
        }

        Outcome inOne() throws IOException, InterruptedException {
            try (ChildProcess both = child("both", Long.toString(warmUp), Long.toString(windowMillis))) {
                return outcome(both, both);
            } catch (TimeoutException e) {
                throw new IOException(e.getMessage(), e);
            }
        }

        private Outcome outcome(ChildProcess client, ChildProcess server)
                throws IOException, InterruptedException, TimeoutException {
            try {
                if (measurement.kind() != Kind.IDLE) {
                    List<String> output = client.awaitEnd(deadline);
                    // The JVM that creates a cache writes messages to the same output.
                    return training ? null : Outcome.parse(output);
                }
                Outcome outcome = new IdleRun(measurement.connections(), client, server,
                    TimeUnit.MILLISECONDS.toNanos(windowMillis), deadline).run();
                client.endInput();
                client.awaitEnd(deadline);
                return outcome;
            } catch (DataFormatException e) {
                throw new IOException("the client's histogram cannot be read", e);
            } catch (TimeoutException e) {
                client.dump();
                throw e;
            }
        }

        private ChildProcess child(String role, String... arguments) throws IOException {
            List<String> command = new ArrayList<>(rival.needsTwoHosts() ? hosts.prefix(role.equals("server")) : List.of());
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(jvmOptions);
            if (measurement.kind() == Kind.IDLE) {
                command.addAll(IdleRun.JVM_OPTIONS);
            }
            command.addAll(rival.jvmOptions());
            if (rival.needsTwoHosts()) {
                command.add("-D" + NettyTransport.HOST_PROPERTY + "=" + TwoHosts.SERVER);
            }
            if (caches != null) {
                command.addAll(training ? List.of(caches.toCreate(key() + "-" + role)) : caches.toUse(key() + "-" + role));
            }
            command.addAll(List.of("-cp", caches != null ? caches.classPath() : System.getProperty("java.class.path"),
                Peer.class.getName()));
            command.addAll(List.of(role, rival.key(), measurement.name()));
            command.addAll(List.of(arguments));
            return new ChildProcess(role, command, log(role));
        }

        private Path log(String role) {
            return logs.resolve(name + "-" + role + ".log");
        }

        /** Returns the first line of an error that the processes have logged, if there is one. */
        String firstError() throws RunFailedException {
            for (String role : List.of("client", "both", "server")) {
                if (Files.exists(log(role))) {
                    try {
                        for (String line : Files.readAllLines(log(role))) {
                            if (line.contains("Exception") || line.contains("Error")) {
                                return ": " + line;
                            }
                        }
                    } catch (IOException e) {
                        throw new RunFailedException("the log cannot be read: " + e.getMessage(), e);
                    }
                }
            }
            return "";
        }
    }
}
