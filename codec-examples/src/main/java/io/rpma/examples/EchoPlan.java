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

/**
 * The parameters of an echo client.
 *
 * @param bytes the length of the stream in each direction
 * @param roundTrips the number of measured round trips
 * @param seed the seed of the data and of the message sizes
 */
record EchoPlan(long bytes, int roundTrips, long seed) {
    /** The largest message of the stream in bytes; the smallest is one byte. */
    static final int LARGEST_MESSAGE = 8 << 20;
    /** The size of a round trip's message in bytes. */
    static final int ROUND_TRIP_BYTES = 64;

    /** Returns the number of round trips before the measured ones. They ensure that the measured code is compiled. */
    int warmUp() {
        return roundTrips / 2;
    }

    /** Returns the total number of round trips. */
    long messages() {
        return (long) warmUp() + roundTrips;
    }
}
