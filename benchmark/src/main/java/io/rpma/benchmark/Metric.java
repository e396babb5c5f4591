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

/** A quantity that measurements report. */
enum Metric {
    /** Half of the operations were at least this fast, in microseconds. */
    P50("p50", "us", true),
    /** 99 of 100 operations were at least this fast, in microseconds. */
    P99("p99", "us", true),
    /** 999 of 1,000 operations were at least this fast, in microseconds. */
    P999("p99.9", "us", true),
    /** Operations per second, summed over all connections. */
    RATE("rate", "1/s", false),
    /** Megabytes (of 1,000,000 bytes) of payload that the receivers read per second, summed over all connections. */
    THROUGHPUT("rate", "MB/s", false),
    /** Seconds of processor time per 1,000,000,000 bytes of payload, summed over both ends and over kernel and user mode. */
    CPU_PER_GB("CPU", "s/GB", true),
    /** Microseconds of processor time per operation, summed over both ends and over kernel and user mode. */
    CPU_PER_OPERATION("CPU", "us/op", true),
    /** System calls of both ends per 1,000,000 bytes of payload, if they are counted. */
    SYSTEM_CALLS_PER_MB("system calls", "1/MB", true),
    /** System calls of both ends per operation, if they are counted. */
    SYSTEM_CALLS_PER_OPERATION("system calls", "1/op", true),
    /** The memory in KiB that each additional connection uses, summed over both ends. */
    MEMORY_PER_CONNECTION("memory", "KiB/connection", true),
    /** The processor time of both ends, in percent of one processor. */
    IDLE_CPU("CPU", "% of a core", true);

    private final String label;
    private final String unit;
    private final boolean lessIsBetter;

    Metric(String label, String unit, boolean lessIsBetter) {
        this.label = label;
        this.unit = unit;
        this.lessIsBetter = lessIsBetter;
    }

    String label() {
        return label;
    }

    String unit() {
        return unit;
    }

    boolean isLessBetter() {
        return lessIsBetter;
    }

    /** Returns the factor by which a value is better than another one; it is greater than 1 if the value is better. */
    double advantage(double value, double other) {
        return lessIsBetter ? other / value : value / other;
    }
}
