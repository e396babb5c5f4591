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

import java.util.List;
import java.util.stream.Stream;

/**
 * A measurement that every rival runs.
 *
 * @param name the name in the options of the command line and in the reports
 * @param title the description for a reader
 * @param kind the kind of the measurement
 * @param bytes the size of a message, 0 if there are no messages
 * @param connections the number of connections that are open at a time
 * @param talking the number of connections that transfer messages at a time; all of them, unless they take turns
 * @param depth the number of messages that are outstanding on each connection that transfers any
 */
record Measurement(String name, String title, Kind kind, int bytes, int connections, int talking, int depth) {
    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;

    /** All measurements, in the order in which they are run. */
    static final List<Measurement> ALL = List.of(
        new Measurement("rtt64", "64 B round trip", Kind.ROUND_TRIP, 64, 1, 1),
        new Measurement("rtt4k", "4 KiB round trip", Kind.ROUND_TRIP, 4 * KIB, 1, 1),
        new Measurement("rtt64x16", "64 B round trip, 16 connections", Kind.ROUND_TRIP, 64, 16, 1),
        new Measurement("rtt64x256", "64 B round trip, 256 connections", Kind.ROUND_TRIP, 64, 256, 1),
        new Measurement("rtt64x64of4000", "64 B round trip, 64 of 4,000 connections at a time", Kind.ROUND_TRIP, 64, 4000, 64, 1),
        new Measurement("rtt64x4000", "64 B round trip, 4,000 connections", Kind.ROUND_TRIP, 64, 4000, 1),
        new Measurement("tput1k", "1 KiB one way", Kind.STREAM, KIB, 1, 1),
        new Measurement("tput64k", "64 KiB one way", Kind.STREAM, 64 * KIB, 1, 1),
        new Measurement("tput1m", "1 MiB one way", Kind.STREAM, MIB, 1, 1),
        new Measurement("tput64kx16", "64 KiB one way, 16 connections", Kind.STREAM, 64 * KIB, 16, 1),
        new Measurement("tput64kx256", "64 KiB one way, 256 connections", Kind.STREAM, 64 * KIB, 256, 1),
        new Measurement("pipe64", "64 B pipelined echo, 64 deep", Kind.PIPELINE, 64, 1, 64),
        new Measurement("pipe64x16", "64 B pipelined echo, 64 deep, 16 connections", Kind.PIPELINE, 64, 16, 64),
        new Measurement("pipe64x256", "64 B pipelined echo, 64 deep, 256 connections", Kind.PIPELINE, 64, 256, 64),
        new Measurement("connect", "connect and close", Kind.CONNECT, 0, 1, 1),
        new Measurement("connectx16", "connect and close, 16 at a time", Kind.CONNECT, 0, 16, 1),
        new Measurement("idle", "1,000 idle connections", Kind.IDLE, 0, 1000, 1));

    /** A measurement that only {@code softroce-ladder.sh} uses. */
    private static final Measurement BARE =
        new Measurement("bare64k", "64 KiB one way, not touched", Kind.BARE_STREAM, 64 * KIB, 1, 1);

    /** Creates a measurement in which all connections transfer messages at the same time. */
    Measurement(String name, String title, Kind kind, int bytes, int connections, int depth) {
        this(name, title, kind, bytes, connections, connections, depth);
    }

    /**
     * Returns the number of operations, over all connections, after which their code has been compiled. A machine that is slow or
     * busy with other work needs longer to reach it.
     */
    int warmUpOperations() {
        return switch (kind) {
            case ROUND_TRIP, PIPELINE, CONNECT -> 20_000;
            case STREAM, BARE_STREAM -> 2_000;
            case IDLE -> 0;
        };
    }

    /** The names of the measurements in {@link #ALL} that a quick run includes. */
    static final List<String> QUICK =
        List.of("rtt64", "tput1k", "tput64k", "tput1m", "pipe64", "connect", "idle");

    /** The names of the measurements that compare paths. */
    static final List<String> OF_PATHS = List.of("rtt64", "tput1k", "tput64k", "tput1m");

    /** Returns the distance in bytes between the eight-byte words of a stream that are written and read. */
    int payloadStride() {
        return kind == Kind.BARE_STREAM ? bytes : Long.BYTES;
    }

    static Measurement named(String name) {
        return Stream.concat(ALL.stream(), Stream.of(BARE)).filter(each -> each.name.equals(name)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("there is no measurement " + name));
    }
}
