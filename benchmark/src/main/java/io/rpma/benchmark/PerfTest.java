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
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * A program of the package perftest. The programs access the device from C code, so they show which times and rates are possible
 * without Java.
 */
enum PerfTest {
    READ_LATENCY("ib_read_lat", "ib_read", true),
    WRITE_LATENCY("ib_write_lat", "ib_write", true),
    READ_BANDWIDTH("ib_read_bw", "ib_read", false),
    WRITE_BANDWIDTH("ib_write_bw", "ib_write", false);

    private static final double BYTES_PER_MIB = 1 << 20;
    private static final double MICROS_PER_SECOND = 1e6;
    private static final int FEWEST = 20;
    private static final int MOST = 1000;
    private static final int BYTES_IN_ALL = 256 << 20;
    private static final int CONNECTION_ATTEMPTS = 50;
    private static final int MEASUREMENT_ATTEMPTS = 10;
    private static final long PATIENCE_SECONDS = 120;

    private final String program;
    private final String figure;
    private final boolean isLatency;

    PerfTest(String program, String figure, boolean isLatency) {
        this.program = program;
        this.figure = figure;
        this.isLatency = isLatency;
    }

    /** Returns the programs that are not on the search path. */
    static List<String> missing() {
        return Arrays.stream(values()).map(each -> each.program)
            .filter(program -> Arrays.stream(System.getenv("PATH").split(":"))
                .noneMatch(folder -> Files.isExecutable(Path.of(folder, program))))
            .toList();
    }

    /**
     * Runs both ends of the program. A program samples the clock when it starts, to determine the frequency of the processor. If
     * the samples vary too much, as they may do on a busy processor, it reports infinite times. It is then run again.
     */
    OneSidedFigure measure(OneSidedSize size, Path logs) throws IOException, InterruptedException {
        for (int i = 1;; i++) {
            try {
                return measureOnce(size, logs);
            } catch (UnknownFrequencyException e) {
                if (i == MEASUREMENT_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private OneSidedFigure measureOnce(OneSidedSize size, Path logs) throws IOException, InterruptedException {
        int count = Math.clamp(BYTES_IN_ALL / size.bytes(), FEWEST, MOST);
        List<String> command = List.of(program, "-F", "-s", Integer.toString(size.bytes()), "-n", Integer.toString(count));
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        try (ChildProcess server = new ChildProcess(program, command, logs.resolve(program + "-server.log"))) {
            List<String> lines = client(command, logs, deadline);
            server.awaitEnd(deadline);
            return parse(lines, size);
        } catch (TimeoutException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /**
     * Runs the client, and repeats this while the server refuses the connection, because the server does not report when it
     * listens.
     */
    private List<String> client(List<String> command, Path logs, long deadline)
            throws IOException, InterruptedException, TimeoutException {
        IOException refused = null;
        for (int i = 0; i < CONNECTION_ATTEMPTS; i++) {
            TimeUnit.MILLISECONDS.sleep(200);
            try (ChildProcess client = new ChildProcess(program, with(command, "127.0.0.1"),
                    logs.resolve(program + "-client.log"))) {
                return client.awaitEnd(deadline);
            } catch (IOException e) {
                refused = e;
            }
        }
        throw refused;
    }

    private static List<String> with(List<String> command, String more) {
        return Stream.concat(command.stream(), Stream.of(more)).toList();
    }

    /** Parses the line of numbers that a program prints at its end. */
    OneSidedFigure parse(List<String> lines, OneSidedSize size) throws IOException {
        for (String line : lines) {
            String[] words = line.trim().split("\\s+");
            if (words[0].equals(Integer.toString(size.bytes())) && words.length >= (isLatency ? 9 : 5)) {
                // The size and the number of repetitions come first. A latency line continues with the minimum, maximum, median,
                // mean, standard deviation, 99 % and 99.9 %; a rate line with the peak and the mean.
                if (isLatency) {
                    return new OneSidedFigure(figure, size.bytes(), 1, number(words[4]), number(words[7]),
                        MICROS_PER_SECOND / number(words[5]), 0, 0);
                }
                return new OneSidedFigure(figure, size.bytes(), size.depth(), 0, 0,
                    number(words[3]) * BYTES_PER_MIB / size.bytes(), 0, 0);
            }
        }
        throw new IOException(program + " has printed no figures: " + String.join(" / ", lines));
    }

    private double number(String word) throws IOException {
        double number;
        try {
            number = Double.parseDouble(word);
        } catch (NumberFormatException e) {
            number = Double.NaN;
        }
        if (!Double.isFinite(number)) {
            throw new UnknownFrequencyException(program + " has measured " + word
                + ": it could not determine the frequency of this machine's processor");
        }
        return number;
    }

    /** A program has not determined the frequency of the processor, so it has measured no time. */
    static final class UnknownFrequencyException extends IOException {
        private static final long serialVersionUID = 1;

        UnknownFrequencyException(String message) {
            super(message);
        }
    }
}
