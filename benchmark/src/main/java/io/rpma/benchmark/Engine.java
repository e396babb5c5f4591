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

/** A way to transfer bytes between two ends. */
interface Engine {
    /** Returns why this engine cannot run on this machine, or {@code null} if it can. */
    Throwable unavailabilityCause();

    /** Returns whether this engine supports a measurement. */
    boolean measures(Measurement measurement);

    /** Starts the server of a measurement. */
    Server serve(Measurement measurement) throws Exception;

    /**
     * Opens the client's end of a measurement and runs the measurement.
     *
     * @param measurement the measurement to run
     * @param timing the duration of the run
     * @param address the address of the server
     * @param meter measures what both ends use
     */
    Outcome measure(Measurement measurement, Timing timing, String address, Meter meter) throws Exception;

    /** A running server. */
    interface Server extends AutoCloseable {
        /** Returns the address of the server as one word. */
        String address();

        @Override
        void close();
    }
}
