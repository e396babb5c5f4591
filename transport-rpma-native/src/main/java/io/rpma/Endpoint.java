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

import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * A listening endpoint ({@code struct rpma_ep}). A single thread uses it <b>and</b> accepts the requests that it returns: with
 * librpma, a thread that asks for the next request while another thread accepts one takes the events of that connection.
 */
public interface Endpoint extends AutoCloseable {
    /** Returns the descriptor to wait on for requests, non-blocking, owned by the endpoint ({@code rpma_ep_get_fd}). */
    int fd();

    /** Returns the address listened on, with the port that was chosen if 0 was asked for. */
    InetSocketAddress localAddress();

    /**
     * Takes the next connection request ({@code rpma_ep_next_conn_req}).
     *
     * @param config the queue sizes of the connection, {@code null} for librpma's defaults; it may be changed or closed
     *     afterwards
     * @return the request, or {@code null} if there is none
     * @throws RpmaException if <i>this</i> request failed, because its client has closed or the queues cannot be created; the
     *     endpoint stays usable. With the errno {@code EMFILE} (24) or {@code ENFILE} (23) there is no file descriptor left: on
     *     the software provider the client then waits for a later call, and a retry at once fails as well
     */
    ConnectionRequest nextConnectionRequest(ConnectionConfig config) throws RpmaException;

    /**
     * Passes clients to the endpoint of another provider that shares the TCP port of this endpoint, without taking a request and
     * without waiting. An endpoint of the provider {@code soft} accepts the TCP clients of the endpoint of the provider
     * {@code tcp}, and passes them on only in this method and in {@link #nextConnectionRequest}. A thread that takes no requests
     * for a while must therefore call this method when the descriptor is readable.
     *
     * @throws RpmaException if a client cannot be accepted; a later call tries again
     */
    default void progress() throws RpmaException {
        // Only endpoints of the provider soft have clients to pass on.
    }

    /**
     * Waits for the next connection request, as {@code rpma_ep_next_conn_req} does on a blocking descriptor. Not for event loops.
     * A virtual thread that waits does not pin its carrier.
     *
     * @param config as for {@link #nextConnectionRequest}
     * @param timeout how long at most; 0 does not wait
     * @return the request, or {@code null} if none came in time
     * @throws RpmaException as {@link #nextConnectionRequest}, after which one may wait again; {@link RpmaError#INVALID} if the
     *     endpoint is closed meanwhile
     * @throws InterruptedException if the thread was interrupted before or while it waited; no request is lost by that
     * @throws IllegalArgumentException if the timeout is negative
     * @throws IllegalStateException if another thread waits for requests of this endpoint
     */
    default ConnectionRequest waitForConnectionRequest(ConnectionConfig config, Duration timeout)
            throws RpmaException, InterruptedException {
        return EventWait.forIt(fd(), timeout, () -> nextConnectionRequest(config));
    }

    /** Stops listening ({@code rpma_ep_shutdown}); requests not taken are rejected. Closing again does nothing. */
    @Override
    void close() throws RpmaException;
}
