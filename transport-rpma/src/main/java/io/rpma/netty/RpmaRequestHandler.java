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

/**
 * Decides about each client of a server channel before it is accepted ({@code rpma_ep_next_conn_req(3)},
 * {@code rpma_conn_req_get_private_data(3)}). Set as {@link RpmaChannelOption#RPMA_REQUEST_HANDLER}, on a server's bootstrap.
 */
@FunctionalInterface
public interface RpmaRequestHandler {
    /**
     * A client asks for a connection. Called on the event loop of the server channel, so it must not block: the decision may be
     * taken here or later, on any thread, by one of the methods of the request.
     *
     * <p>Requests that are not decided yet count against {@code SO_BACKLOG}. One that is not decided within
     * {@link RpmaChannelOption#RPMA_REQUEST_TIMEOUT_MILLIS} is refused. Nothing of this transport is allocated for a client
     * before it is accepted; librpma itself has made its queue pair and its completion queues by then.
     *
     * @param request to be decided
     * @throws Exception if it cannot be decided; then the client is refused, unless the decision was taken before, and the
     *     exception goes through the pipeline of the server channel
     */
    void requested(RpmaConnectRequest request) throws Exception;
}
