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

import java.util.ArrayDeque;

/**
 * The turns of the connections of one event loop. A connection that has had its turn gives it to the connection that has waited
 * longest. The number of connections that talk at a time therefore stays the same. Only the thread of the loop uses it.
 */
final class Turns {
    private final ArrayDeque<RoundTripHandler> waiting = new ArrayDeque<>();

    /** Adds a connection that waits. */
    void add(RoundTripHandler handler) {
        waiting.add(handler);
    }

    /**
     * Ends the turn of a connection, and begins that of the next one.
     *
     * @param now {@code System.nanoTime()}
     */
    void ended(RoundTripHandler handler, long now) {
        waiting.add(handler);
        waiting.remove().begin(now);
    }
}
