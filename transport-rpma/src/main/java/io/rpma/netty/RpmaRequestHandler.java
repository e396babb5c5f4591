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
 * {@code rpma_conn_req_get_private_data(3)}). Set as {@link RpmaChannelOption#RPMA_REQUEST_HANDLER} on a server's bootstrap.
 */
@FunctionalInterface
public interface RpmaRequestHandler {
    /**
     * Called when a client asks for a connection, on the event loop of the server channel. It must therefore not block; the
     * decision may be taken here or later, on any thread, by one of the methods of the request.
     *
     * <p>Undecided requests count against {@code SO_BACKLOG}. A request that is not decided within
     * {@link RpmaChannelOption#RPMA_REQUEST_TIMEOUT_MILLIS} is refused. This transport allocates nothing for a client before it
     * is accepted; librpma has created its queue pair and its completion queues by then.
     *
     * @param request the request to decide
     * @throws Exception if the request cannot be decided. The client is then refused, unless the decision was taken before, and
     *     the exception is fired through the pipeline of the server channel
     */
    void requested(RpmaConnectRequest request) throws Exception;
}
