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

import io.netty.util.internal.PlatformDependent;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import io.rpma.netty.jit.InliningBarrier;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.QueuePair;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The configuration of a listener's next connection. librpma fixes it before the request is taken, and therefore before
 * anything is known of the client. Used once: either {@link #configured()} and then {@link #accept}, {@link #admit} or
 * {@link #reject}, or {@link #drop()}.
 */
abstract class NextChild {
    private static final InliningBarrier ACCEPT = new InliningBarrier(MethodHandles.lookup(), NextChild.class, "accept",
        MethodType.methodType(QueuePair.class, ConnectionRequest.class));

    final Fabric fabric;
    private final ConnectionConfig config;

    /**
     * Takes over the configuration of a connection.
     *
     * @param config the sizes of the queues; closed by this object
     */
    NextChild(Fabric fabric, ConnectionConfig config) {
        this.fabric = fabric;
        this.config = config;
    }

    final ConnectionConfig config() {
        return config;
    }

    /** Called when the request has been taken and the configuration is no longer needed. */
    final void configured() throws RpmaException {
        config.close();
    }

    /**
     * Accepts or refuses a connection; called on the event loop.
     *
     * @param request consumed in any case
     * @return the connection, not established yet, or {@code null} if it was refused
     */
    abstract QueuePair accept(ConnectionRequest request) throws RpmaException;

    /**
     * Calls {@link #accept} through an {@link InliningBarrier}; see {@link io.rpma.netty.pair.QueuePairCalls}.
     */
    final QueuePair acceptBehindBarrier(ConnectionRequest request) throws RpmaException {
        try {
            return (QueuePair) ACCEPT.method().invokeExact(this, request);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
            return null;
        }
    }

    /**
     * Prepares a request for the application's decision, or refuses it; called on the event loop.
     *
     * @param request consumed by the answer, or by this call if the result is {@code null}
     * @return {@code null} if it was refused
     */
    abstract Admission admit(ConnectionRequest request) throws RpmaException;

    /**
     * Rejects a request without a reason; called on the event loop.
     *
     * @param request consumed in any case
     */
    final void reject(ConnectionRequest request) throws RpmaException {
        try {
            request.close();
        } finally {
            release();
        }
    }

    /** Releases everything without a connection having been made. */
    final void drop() throws RpmaException {
        try {
            release();
        } finally {
            config.close();
        }
    }

    /** Releases what was created in addition to the configuration. */
    abstract void release();
}
