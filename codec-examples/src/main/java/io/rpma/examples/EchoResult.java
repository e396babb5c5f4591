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
package io.rpma.examples;

import java.io.PrintStream;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * The result of an echo client.
 *
 * @param plan the plan
 * @param streamNanos the time in nanoseconds until the whole stream had been sent and received back
 * @param roundTrips the times of the measured round trips in nanoseconds; {@code null} if there were none
 * @param client what the client received and sent
 * @param server what the server received and sent
 */
record EchoResult(EchoPlan plan, long streamNanos, Histogram roundTrips, EchoReport client, EchoReport server) {
    /** Returns whether both ends received and sent the same two streams, with the planned length. */
    boolean matches() {
        long total = plan.bytes() + plan.messages() * EchoPlan.ROUND_TRIP_BYTES;
        return client.matches(server) && client.sent() == total && client.received() == total
            && client.sentChecksum() == client.receivedChecksum();
    }

    /** Returns the throughput of the stream in one direction, in bytes per second. */
    double bytesPerSecond() {
        return plan.bytes() * 1e9 / streamNanos;
    }

    void print(PrintStream out) {
        String parts = " bytes (a stream of " + new ByteSize(plan.bytes()) + ", then " + plan.messages() + " x "
            + EchoPlan.ROUND_TRIP_BYTES + ")";
        out.println("sent=" + client.sent() + parts);
        out.println("received=" + client.received() + parts);
        if (matches()) {
            out.printf("checksum=%08x match%n", client.receivedChecksum());
        } else {
            out.printf("checksum=%08x MISMATCH%n  client: %s%n  server: %s%n", client.receivedChecksum(), client, server);
        }
        out.printf(Locale.ROOT, "throughput=%s/s (the stream, there and back in %.2f s from a cold start)%n",
            ByteSize.mebibytes((long) bytesPerSecond()), streamNanos / 1e9);
        if (roundTrips != null) {
            out.printf(Locale.ROOT, "rtt p50=%.1f us p99=%.1f us p99.9=%.1f us (%d of %d bytes, after %d to warm up)%n",
                micros(50), micros(99), micros(99.9), plan.roundTrips(), EchoPlan.ROUND_TRIP_BYTES, plan.warmUp());
        }
    }

    private double micros(double percentile) {
        return roundTrips.getValueAtPercentile(percentile) / 1e3;
    }
}
