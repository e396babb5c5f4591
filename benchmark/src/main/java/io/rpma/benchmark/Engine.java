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

/** A way to move bytes between two ends. */
interface Engine {
    /** Returns why this machine cannot run it, or {@code null} if it can. */
    Throwable unavailabilityCause();

    /** Whether it is made for a measurement. */
    boolean measures(Measurement measurement);

    /** Starts the server of a measurement. */
    Server serve(Measurement measurement) throws Exception;

    /**
     * Opens the client's end of a measurement and runs it.
     *
     * @param measurement what to do
     * @param timing for how long
     * @param address where the server is
     * @param cpu of both ends
     */
    Outcome measure(Measurement measurement, Timing timing, String address, CpuTime cpu) throws Exception;

    /** A running server. */
    interface Server extends AutoCloseable {
        /** Returns where it is, in one word. */
        String address();

        @Override
        void close();
    }
}
