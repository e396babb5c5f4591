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

/**
 * A listening endpoint ({@code struct rpma_ep}). One thread uses it <b>and</b> connects the requests that come out of it: with
 * librpma, another thread that asks for the next request while one is being accepted steals the events of its connection.
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
     * @throws RpmaException if <i>this</i> request failed, because its client is gone or the queues cannot be had; the
     *     endpoint goes on. With the errno {@code EMFILE} (24) or {@code ENFILE} (23) there is no file descriptor left: on the
     *     software provider the client then waits for a later call, and trying again at once is in vain
     */
    ConnectionRequest nextConnectionRequest(ConnectionConfig config) throws RpmaException;

    /** Stops listening ({@code rpma_ep_shutdown}); requests not taken are rejected. Closing again does nothing. */
    @Override
    void close() throws RpmaException;
}
