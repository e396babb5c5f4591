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
import java.nio.ByteBuffer;

/**
 * A request for a connection ({@code struct rpma_conn_req}), outgoing or incoming. Its queues exist already: receives are posted
 * before {@link #connect}, so that one is available for the peer's first message. It is used by one thread at a time, an
 * incoming request by the thread of its endpoint.
 */
public interface ConnectionRequest extends AutoCloseable {
    /** The private data that an outgoing request can carry, in bytes. */
    int MAX_CONNECT_PRIVATE_DATA = 56;

    /** The private data that the acceptance of an incoming request can carry, in bytes. */
    int MAX_ACCEPT_PRIVATE_DATA = 196;

    /**
     * Returns the private data of an incoming request ({@code rpma_conn_req_get_private_data}): always
     * {@link #MAX_CONNECT_PRIVATE_DATA} bytes, padded with zeros (iWARP devices give the exact length). A read-only copy.
     *
     * @throws RpmaException {@link RpmaError#INVALID} on an outgoing request
     */
    ByteBuffer privateData() throws RpmaException;

    /** Returns the address of the other side. */
    InetSocketAddress remoteAddress();

    /**
     * Posts a receive before the connection exists ({@code rpma_conn_req_recv}).
     *
     * @param target the region, registered for {@link MemoryUsage#RECV}, not {@code null} here
     * @param offset from the start of the region, in bytes
     * @param length in bytes
     * @param context comes back as {@link WorkCompletions#context}
     * @throws RpmaException {@link RpmaError#PROVIDER} if the queue is full; {@link RpmaError#INVALID} if an argument is not
     *     valid
     */
    void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException;

    /**
     * Sends the request, or accepts it ({@code rpma_conn_req_connect}). Does not wait: {@link Connection#nextEvent()} returns the
     * result. The request cannot be used again, whether this succeeds or not.
     *
     * @param privateData its remaining bytes go to the other side, at most {@link #MAX_CONNECT_PRIVATE_DATA} or
     *     {@link #MAX_ACCEPT_PRIVATE_DATA}; {@code null} for none
     * @return the connection, not established yet
     * @throws RpmaException {@link RpmaError#PROVIDER} if the other side has closed or the private data is too long;
     *     {@link RpmaError#INVALID} if the private data is empty but not {@code null}, or the request was used up before
     */
    Connection connect(ByteBuffer privateData) throws RpmaException;

    /**
     * Drops the request; an incoming one is rejected ({@code rpma_conn_req_delete}). Does nothing if {@link #connect} or this
     * method was called before. librpma leaks one communication identifier for each rejected request, so a server that has to
     * refuse many clients should accept their connections and close them.
     */
    @Override
    void close() throws RpmaException;
}
