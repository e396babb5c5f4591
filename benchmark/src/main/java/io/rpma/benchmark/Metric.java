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

/** A quantity that measurements yield. */
enum Metric {
    /** Half of the operations were at least this fast, in microseconds. */
    P50("p50", "us", true),
    /** 99 of 100 operations were at least this fast, in microseconds. */
    P99("p99", "us", true),
    /** 999 of 1,000 operations were at least this fast, in microseconds. */
    P999("p99.9", "us", true),
    /** Operations per second, over all connections. */
    RATE("rate", "1/s", false),
    /** Megabytes (of 1,000,000 bytes) of payload per second that the receiver has read, over all connections. */
    THROUGHPUT("rate", "MB/s", false),
    /** Seconds of processor time, of both ends and of kernel and user, for 1,000,000,000 bytes of payload. */
    CPU_PER_GB("CPU", "s/GB", true),
    /** Microseconds of processor time, of both ends and of kernel and user, for one operation. */
    CPU_PER_OPERATION("CPU", "us/op", true),
    /** Memory that one more connection takes, of both ends, in KiB. */
    MEMORY_PER_CONNECTION("memory", "KiB/connection", true),
    /** Processor time of both ends, in percent of one processor. */
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

    /** Returns how many times better a value is than another one: above 1 it is better. */
    double advantage(double value, double other) {
        return lessIsBetter ? other / value : value / other;
    }
}
