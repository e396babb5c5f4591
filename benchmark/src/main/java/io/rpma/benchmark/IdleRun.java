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
 * Measures what idle connections cost. The memory of one connection is calculated from the difference that many connections make
 * after the first hundred, which have already caused all one-time allocations, so the JVMs and the pools do not count. The whole
 * Java heap is resident from the start, and the used part of it is added. The JVMs use only the C1 compiler, because it needs
 * little memory for its own work.
 */
final class IdleRun {
    /** The options of the JVMs, in addition to the options of every run. */
    static final List<String> JVM_OPTIONS =
        List.of("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    private static final int FIRST_CONNECTIONS = 100;
    /** The pause between readings. Nothing signals that a JVM has finished its own work, so the memory is read repeatedly. */
    private static final long SETTLE_MILLIS = 250;
    /**
     * The memory counts as stable after this many consecutive readings that each differ from the previous one by at most
     * STABLE_BYTES.
     */
    private static final int STABLE_READINGS = 2;
    private static final long STABLE_BYTES = 128 << 10;
    private static final long SHORTEST_WINDOW_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final int connections;
    private final ChildProcess client;
    private final List<ChildProcess> processes = new ArrayList<>();
    private final long windowNanos;
    private final long deadline;

    /**
     * Creates a run.
     *
     * @param connections the number of connections that are opened after the first ones
     * @param client the process that opens the connections
     * @param server the process of the server, which may be the same
     * @param windowNanos how long the processor time is measured
     * @param deadline the value of {@link System#nanoTime()} at which the run fails
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
        // Answering the last reading also takes processor time, which must not be measured.
        Thread.sleep(SETTLE_MILLIS);
        long cpuBefore = cpuNanos();
        long began = System.nanoTime();
        // The processes do nothing during this time, which is what the run measures.
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
        // Compilers and collectors run for a while and then release the memory that they used.
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
        // This happens after all processes have settled, because a page that is mapped by several processes counts partly in
        // each.
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
