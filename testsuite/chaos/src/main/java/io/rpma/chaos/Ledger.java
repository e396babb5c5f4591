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

package io.rpma.chaos;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * What each case did and cost, and whether all of it is allowed. All values except the counts must be zero, and pauses must be
 * short.
 */
final class Ledger {
    private final long limitMillis;
    private final Map<String, Row> rows = new LinkedHashMap<>();
    private double machineMillis;

    /**
     * Creates an empty table.
     *
     * @param limitMillis the longest pause of a neighbour that is allowed beyond the pauses of the machine in the same time
     */
    Ledger(long limitMillis) {
        this.limitMillis = limitMillis;
    }

    /** The row of one case. Thread-safe. */
    final class Row {
        // Both maps have the names of paths as keys.
        private final Map<String, Long> counts = new LinkedHashMap<>();
        private final Map<String, Long> exchanges = new LinkedHashMap<>();
        private long lost;
        private long corrupt;
        private long descriptors;
        private long bytes;
        private long threads;
        private long connections;
        private double pauseMillis;
        private double excessMillis;

        /**
         * Names the paths on which something must happen.
         *
         * @param attacked the paths that hostile processes must attack
         * @param used the paths on which neighbours must exchange data
         */
        synchronized void expect(Collection<String> attacked, Collection<String> used) {
            attacked.forEach(path -> counts.putIfAbsent(path, 0L));
            used.forEach(path -> exchanges.putIfAbsent(path, 0L));
        }

        /** Counts the hostile actions against the server on a path: kills, stops, frames, overwritten words. */
        synchronized void count(String path, long more) {
            counts.merge(path, more, Long::sum);
        }

        /** Counts the exchanges of the neighbours on a path, and how many of them were lost or corrupted. */
        synchronized void traffic(String path, long exchanged, long lostOfIt, long corruptOfIt) {
            exchanges.merge(path, exchanged, Long::sum);
            lost += lostOfIt;
            corrupt += corruptOfIt;
        }

        /** Counts a failure of the case itself as a loss. */
        synchronized void failed() {
            lost++;
        }

        /** Counts the resources that the server did not release. A decrease of one does not hide an increase of another. */
        synchronized void leaked(ServerStatus before, ServerStatus after) {
            descriptors += Math.max(0, after.descriptors() - before.descriptors());
            bytes += Math.max(0, after.usedBytes() - before.usedBytes())
                + Math.max(0, after.mappedBytes() - before.mappedBytes());
            threads += Math.max(0, after.threads() - before.threads());
            connections += Math.max(0, after.connections() - before.connections());
        }

        /**
         * Records a pause.
         *
         * @param millis how long a neighbour waited
         * @param excess the part of the pause that the machine does not explain
         */
        synchronized void paused(double millis, double excess) {
            pauseMillis = Math.max(pauseMillis, millis);
            excessMillis = Math.max(excessMillis, excess);
        }

        /** Returns how many exchanges have been lost or corrupted so far. */
        synchronized long losses() {
            return lost + corrupt;
        }

        private synchronized boolean isClean() {
            return lost == 0 && corrupt == 0 && descriptors == 0 && bytes == 0 && threads == 0 && connections == 0
                && excessMillis <= limitMillis && isPositive(counts) && isPositive(exchanges);
        }

        private static boolean isPositive(Map<String, Long> ofPaths) {
            return !ofPaths.isEmpty() && ofPaths.values().stream().allMatch(value -> value > 0);
        }

        private static long sum(Map<String, Long> ofPaths) {
            return ofPaths.values().stream().mapToLong(Long::longValue).sum();
        }

        private synchronized String line(String name) {
            return String.format(Locale.ROOT, "%-15s %11d %11d %6d %8d %6d %12d %8d %6d %10.1f %10.1f%s%n", name,
                sum(counts), sum(exchanges), lost, corrupt, descriptors, bytes, threads, connections, pauseMillis,
                excessMillis, isClean() ? "" : "  <<<");
        }

        /** Returns a line for each path if there are several. */
        private synchronized String linesOfPaths() {
            StringBuilder text = new StringBuilder();
            if (exchanges.size() > 1) {
                exchanges.forEach((path, exchanged) -> text.append(String.format(Locale.ROOT, "  %-13s %11d %11d%n", path,
                    counts.getOrDefault(path, 0L), exchanged)));
            }
            return text.toString();
        }
    }

    long limitMillis() {
        return limitMillis;
    }

    synchronized Row row(String name) {
        return rows.computeIfAbsent(name, ignored -> new Row());
    }

    synchronized void machinePause(double millis) {
        machineMillis = millis;
    }

    /** Returns whether every case did something while there was traffic, and caused no damage. */
    synchronized boolean isClean() {
        return !rows.isEmpty() && rows.values().stream().allMatch(Row::isClean);
    }

    synchronized String table() {
        StringBuilder text = new StringBuilder(String.format("%-15s %11s %11s %6s %8s %6s %12s %8s %6s %10s %10s%n", "case",
            "count", "exchanges", "lost", "corrupt", "fds", "bytes", "threads", "conns", "pause ms", "beyond ms"));
        rows.forEach((name, row) -> text.append(row.line(name)).append(row.linesOfPaths()));
        return text.append(String.format(Locale.ROOT, "The machine itself paused for up to %.1f ms; a neighbour may pause %d ms"
            + " beyond that.%n", machineMillis, limitMillis)).toString();
    }

    synchronized String line(String name) {
        return rows.get(name).line(name);
    }
}
