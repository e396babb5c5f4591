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
package io.rpma.vertx;

import io.rpma.Rpma;
import io.rpma.RpmaUnavailableException;
import io.rpma.netty.RpmaIoHandler;
import io.vertx.core.transport.Transport;

/**
 * Runs Vert.x over RPMA:
 *
 * <pre>{@code Vertx vertx = Vertx.builder().withTransport(new RpmaTransport()).build();}</pre>
 *
 * <p>Every TCP server and client of this Vert.x instance, including those of HTTP/1.1, HTTP/2, WebSocket and {@code NetSocket},
 * then uses RPMA, so it can only communicate with peers that use RPMA too. UDP, domain sockets and DNS, over both UDP and TCP,
 * still use epoll, on the same event loops.
 *
 * <p>Options that only TCP supports ({@code tcpNoDelay}, {@code tcpKeepAlive}, {@code tcpFastOpen} and the like) are accepted and
 * have no effect.
 */
public final class RpmaTransport implements Transport {
    private final io.vertx.core.spi.transport.Transport implementation = new RpmaTransportImplementation();

    /** Creates the transport. The provider is chosen when it is first used. */
    public RpmaTransport() {
        // The constructor is only declared for its documentation.
    }

    /** Returns {@code rpma}. */
    @Override
    public String name() {
        return "rpma";
    }

    /** Returns whether a provider and Netty's native epoll library are available, and the JVM permits native access. */
    @Override
    public boolean available() {
        return unavailabilityCause() == null;
    }

    /** Returns why the transport is not available, or {@code null} if it is. */
    @Override
    public Throwable unavailabilityCause() {
        try {
            RpmaIoHandler.newFactory();
            Rpma.provider();
            return null;
        } catch (RpmaUnavailableException | UnsatisfiedLinkError e) {
            return e;
        }
    }

    @Override
    public io.vertx.core.spi.transport.Transport implementation() {
        return implementation;
    }
}
