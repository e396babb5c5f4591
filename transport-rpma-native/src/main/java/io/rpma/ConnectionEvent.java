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
package io.rpma;

/**
 * What happened to a connection ({@code enum rpma_conn_event}).
 *
 * <p>The first event other than {@link #ESTABLISHED} is final. librpma may repeat it (a {@link #CLOSED} comes again some
 * two seconds later, when the queue pair leaves its time-wait state). Ignore repetitions.
 */
public enum ConnectionEvent {
    /** {@code RPMA_CONN_UNDEFINED}: never delivered. */
    UNDEFINED(-1),
    /** {@code RPMA_CONN_ESTABLISHED}: work requests may be posted. */
    ESTABLISHED(0),
    /** {@code RPMA_CONN_CLOSED}: the peer disconnected, or has answered the disconnect of this side. */
    CLOSED(1),
    /** {@code RPMA_CONN_LOST}: the connection broke, or the device was removed. */
    LOST(2),
    /** {@code RPMA_CONN_REJECTED}: there is no listener at the address, or the peer rejected the request. */
    REJECTED(3),
    /** {@code RPMA_CONN_UNREACHABLE}: the peer's host does not answer. */
    UNREACHABLE(4);

    private static final ConnectionEvent[] VALUES = values();

    private final int code;

    ConnectionEvent(int code) {
        this.code = code;
    }

    /** Returns the value of the C enumeration. */
    public int code() {
        return code;
    }

    /**
     * Returns the event of a value of the C enumeration.
     *
     * @param code -1 to 4
     * @return the event
     * @throws IllegalArgumentException if librpma 1.x defines no such event
     */
    public static ConnectionEvent of(int code) {
        if (code < -1 || code >= VALUES.length - 1) {
            throw new IllegalArgumentException("no rpma_conn_event has the value " + code + " (known: -1 to 4)");
        }
        return VALUES[code + 1];
    }
}
