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

package io.rpma.netty;

import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;

/**
 * What the next connection of a listener is made with. librpma fixes it before the request is taken, and so before anything is
 * known of the client. Used once: by {@link #configured()} and then {@link #accept} or {@link #admit}, or by {@link #drop()}.
 */
abstract class NextChild {
    final Fabric fabric;
    private final ConnectionConfig config;

    /**
     * Takes what was prepared.
     *
     * @param config the sizes of the queues, taken over
     */
    NextChild(Fabric fabric, ConnectionConfig config) {
        this.fabric = fabric;
        this.config = config;
    }

    final ConnectionConfig config() {
        return config;
    }

    /** The request has been taken: its configuration is no longer needed. */
    final void configured() throws RpmaException {
        config.close();
    }

    /**
     * Accepts a connection, or refuses it; on the loop.
     *
     * @param request used up, whatever happens
     * @return the connection, not established yet, or {@code null} if it was refused
     */
    abstract QueuePair accept(ConnectionRequest request) throws RpmaException;

    /**
     * Takes a request in, for the application to decide about, or refuses it; on the loop.
     *
     * @param request used up by the answer, or if there is none by this call
     * @return {@code null} if it was refused
     */
    abstract Admission admit(ConnectionRequest request) throws RpmaException;

    /** No connection is made with it. */
    final void drop() throws RpmaException {
        try {
            release();
        } finally {
            config.close();
        }
    }

    /** Gives up what was made besides the configuration. */
    abstract void release();
}
