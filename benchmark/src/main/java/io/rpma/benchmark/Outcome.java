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

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * The result of one run.
 *
 * @param values the metrics of this kind of measurement
 * @param times the durations of the single operations in nanoseconds; empty if there are none
 */
record Outcome(Map<Metric, Double> values, Histogram times) {
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final String TIMES = "times";

    /** Returns a histogram for durations in nanoseconds. */
    static Histogram newTimes() {
        Histogram times = new Histogram(TimeUnit.SECONDS.toNanos(10), 3);
        times.setAutoResize(true);
        return times;
    }

    static Outcome ofStream(long bytes, long nanos, Usage used) {
        if (bytes == 0) {
            throw new EmptyWindowException("nothing arrived in " + nanos / 1_000_000 + " ms");
        }
        Map<Metric, Double> values = new EnumMap<>(Metric.class);
        values.put(Metric.THROUGHPUT, bytes / 1e6 / (nanos / NANOS_PER_SECOND));
        values.put(Metric.CPU_PER_GB, used.cpuNanos() / NANOS_PER_SECOND / (bytes / 1e9));
        used.systemCalls().ifPresent(calls -> values.put(Metric.SYSTEM_CALLS_PER_MB, calls / (bytes / 1e6)));
        return of(values);
    }

    static Outcome of(Map<Metric, Double> values) {
        return new Outcome(values, new Histogram(1));
    }

    static Outcome ofOperations(Histogram times, long nanos, Usage used) {
        long operations = times.getTotalCount();
        if (operations == 0) {
            throw new EmptyWindowException("no operation ended in " + nanos / 1_000_000 + " ms");
        }
        Map<Metric, Double> values = new EnumMap<>(Metric.class);
        values.put(Metric.P50, times.getValueAtPercentile(50) / NANOS_PER_MICRO);
        values.put(Metric.P99, times.getValueAtPercentile(99) / NANOS_PER_MICRO);
        values.put(Metric.P999, times.getValueAtPercentile(99.9) / NANOS_PER_MICRO);
        values.put(Metric.RATE, operations / (nanos / NANOS_PER_SECOND));
        values.put(Metric.CPU_PER_OPERATION, used.cpuNanos() / NANOS_PER_MICRO / operations);
        used.systemCalls()
            .ifPresent(calls -> values.put(Metric.SYSTEM_CALLS_PER_OPERATION, (double) calls / operations));
        return new Outcome(values, times);
    }

    /** Formats this outcome as lines of the form name=value. */
    String format() {
        StringBuilder lines = new StringBuilder();
        values.forEach((metric, value) -> lines.append(metric.name()).append('=').append(value).append('\n'));
        if (times.getTotalCount() > 0) {
            ByteBuffer encoded = ByteBuffer.allocate(times.getNeededByteBufferCapacity());
            int length = times.encodeIntoCompressedByteBuffer(encoded);
            encoded.flip().limit(length);
            lines.append(TIMES).append('=')
                .append(new String(Base64.getEncoder().encode(encoded).array(), StandardCharsets.US_ASCII))
                .append('\n');
        }
        return lines.toString();
    }

    /** Parses the lines of {@link #format} and ignores other lines. */
    static Outcome parse(Iterable<String> lines) throws DataFormatException {
        Map<Metric, Double> values = new EnumMap<>(Metric.class);
        Histogram times = new Histogram(1);
        for (String line : lines) {
            int equals = line.indexOf('=');
            if (equals < 0) {
                continue;
            }
            String name = line.substring(0, equals);
            String value = line.substring(equals + 1);
            if (name.equals(TIMES)) {
                times = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(value)), 0);
            } else {
                for (Metric metric : Metric.values()) {
                    if (metric.name().equals(name)) {
                        values.put(metric, Double.valueOf(value));
                    }
                }
            }
        }
        return new Outcome(values, times);
    }
}
