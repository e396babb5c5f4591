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

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RpmaException;
import io.rpma.netty.connect.AcceptBackoff;
import io.rpma.netty.memory.Fabric;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One of the endpoints of a server channel, with its device. Used by the channel's event loop. */
final class Listening {
    private final Fabric fabric;
    private final Endpoint endpoint;
    private final AcceptBackoff backoff = new AcceptBackoff();
    private NextChild next;
    // Whether there may be requests that the descriptor has reported already.
    private boolean mayHaveRequests = true;
    // Not null while no requests are taken from this endpoint.
    private Future<?> pause;

    /**
     * Takes over an endpoint.
     *
     * @param next the configuration of its first connection
     */
    Listening(Fabric fabric, Endpoint endpoint, NextChild next) {
        this.fabric = fabric;
        this.endpoint = endpoint;
        this.next = next;
    }

    Fabric fabric() {
        return fabric;
    }

    Endpoint endpoint() {
        return endpoint;
    }

    /** Returns what counts the failures of this endpoint. */
    AcceptBackoff backoff() {
        return backoff;
    }

    boolean isPaused() {
        return pause != null;
    }

    /**
     * Pauses this endpoint.
     *
     * @param afterwards called on the event loop when the pause is over
     */
    void pause(EventLoop loop, long millis, Runnable afterwards) {
        pause = loop.schedule(() -> {
            pause = null;
            afterwards.run();
        }, millis, TimeUnit.MILLISECONDS);
    }

    /** Ends a pause at once, without a call of what was to be called. */
    void cancelPause() {
        if (pause != null) {
            pause.cancel(false);
            pause = null;
        }
    }

    /** Returns whether the next connection has been configured already. */
    boolean isPrepared() {
        return next != null;
    }

    void prepare(NextChild with) {
        next = with;
    }

    /** Takes the next request; returns {@code null} if there is none. */
    ConnectionRequest nextRequest() throws RpmaException {
        ConnectionRequest request = endpoint.nextConnectionRequest(next.config());
        if (request == null) {
            mayHaveRequests = false;
        }
        return request;
    }

    /** Called when the descriptor may have reported requests. */
    void reported() {
        mayHaveRequests = true;
    }

    /**
     * Returns whether there may be requests that the descriptor has reported already. It reports only those again that arrive
     * after {@link #nextRequest()} has returned {@code null}.
     */
    boolean mayHaveRequests() {
        return mayHaveRequests;
    }

    /** Returns the object that accepts the request that was taken last. */
    NextChild take() {
        NextChild taken = next;
        next = null;
        return taken;
    }

    /** Drops the configuration of the next connection, which is not suitable any more. */
    void dropNext() throws RpmaException {
        NextChild dropped = take();
        if (dropped != null) {
            dropped.drop();
        }
    }

    /** Closes all endpoints, even if closing some of them fails. */
    static void closeAll(List<Listening> all) throws RpmaException {
        RpmaException failure = null;
        for (Listening each : all) {
            try {
                each.close();
            } catch (RpmaException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void close() throws RpmaException {
        try {
            endpoint.close();
        } finally {
            dropNext();
        }
    }
}
