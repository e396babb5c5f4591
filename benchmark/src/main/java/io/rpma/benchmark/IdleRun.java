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
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Measures what connections cost that do nothing. The memory of one is the difference that many make after the first hundred,
 * which have brought what is needed once: so neither the JVMs nor the pools count. All of the Java heap is in memory from the
 * beginning, and what is used of it is added; and the compiler is the one that takes little memory for its own work.
 */
final class IdleRun {
    /** Beside the options of every run. */
    static final List<String> JVM_OPTIONS =
        List.of("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    private static final int FIRST_CONNECTIONS = 100;
    /** Between readings: nothing tells when a JVM's own work is done, so it is looked at again. */
    private static final long SETTLE_MILLIS = 250;
    /** Readings, and how far from one to the next, that show that the memory does not change by itself any more. */
    private static final int STABLE_READINGS = 2;
    private static final long STABLE_BYTES = 128 << 10;
    private static final long SHORTEST_WINDOW_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final int connections;
    private final ChildProcess client;
    private final List<ChildProcess> processes = new ArrayList<>();
    private final long windowNanos;
    private final long deadline;

    /**
     * Begins.
     *
     * @param connections how many connections there are to be after the first
     * @param client the process that opens the connections
     * @param server the process of the server, or the same
     * @param windowNanos how long the processor time is to be measured
     * @param deadline when to give up, a value of {@link System#nanoTime()}
     */
    IdleRun(int connections, ChildProcess client, ChildProcess server, long windowNanos, long deadline) {
        this.connections = connections;
        this.client = client;
        this.windowNanos = Math.max(windowNanos, SHORTEST_WINDOW_NANOS);
        this.deadline = deadline;
        processes.add(client);
        if (server != client) {
            processes.add(server);
        }
    }

    Outcome run() throws IOException, InterruptedException, TimeoutException {
        long first = memoryWith(FIRST_CONNECTIONS);
        long all = memoryWith(FIRST_CONNECTIONS + connections);
        // The answer to the last reading is work, too.
        Thread.sleep(SETTLE_MILLIS);
        long cpuBefore = cpuNanos();
        long began = System.nanoTime();
        // What is measured is that nothing happens.
        TimeUnit.NANOSECONDS.sleep(windowNanos);
        double cpu = (double) (cpuNanos() - cpuBefore) / (System.nanoTime() - began);
        Map<Metric, Double> values = new EnumMap<>(Metric.class);
        values.put(Metric.MEMORY_PER_CONNECTION, (all - first) / 1024.0 / connections);
        values.put(Metric.IDLE_CPU, cpu * 100);
        return Outcome.of(values);
    }

    private long memoryWith(int count) throws IOException, InterruptedException, TimeoutException {
        client.command(Peer.CONNECT + count);
        client.await(Peer.CONNECT, deadline);
        // Compilers and collectors are at work for a while, and what they took is given back.
        long total = memory();
        for (int unchanged = 0; unchanged < STABLE_READINGS;) {
            if (System.nanoTime() - deadline > 0) {
                throw new TimeoutException("the memory of " + count + " idle connections has not become stable");
            }
            Thread.sleep(SETTLE_MILLIS);
            long next = memory();
            unchanged = Math.abs(next - total) <= STABLE_BYTES ? unchanged + 1 : 0;
            total = next;
        }
        return total;
    }

    private long memory() throws IOException, InterruptedException, TimeoutException {
        long total = 0;
        for (ChildProcess process : processes) {
            process.command(Peer.MEMORY);
            total += Long.parseLong(process.await(Peer.MEMORY, deadline));
        }
        // Not before all have settled: a page that several have mapped counts a part in each.
        for (ChildProcess process : processes) {
            total += Processes.proportionalBytes(process.pid());
        }
        return total;
    }

    private long cpuNanos() throws IOException {
        long total = 0;
        for (ChildProcess process : processes) {
            total += Processes.threadNanos(process.pid());
        }
        return total;
    }
}
