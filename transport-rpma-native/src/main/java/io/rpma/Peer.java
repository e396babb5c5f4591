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

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Set;

/**
 * A protection domain on one device ({@code struct rpma_peer}): memory regions and connections work together only if they
 * come from one peer. Thread-safe.
 */
public interface Peer extends AutoCloseable {
    /** Returns the device. */
    Device device();

    /**
     * Starts to listen ({@code rpma_ep_listen}).
     *
     * @param local the address of this host, which must not be a wildcard on librpma (the address determines the device
     *     that listens), and the port; with port 0 a free one is chosen, which {@link Endpoint#localAddress()} returns
     * @return the endpoint
     * @throws RpmaException {@link RpmaError#PROVIDER} with errno {@code EADDRINUSE} (98), {@code EADDRNOTAVAIL} (99) or
     *     {@code EACCES} (13); {@link RpmaError#INVALID} if an argument is not valid
     */
    Endpoint listen(InetSocketAddress local) throws RpmaException;

    /**
     * Starts to listen under the port of an endpoint of another provider. If the two providers have ports of their own, as
     * librpma and soft do, this method is the same as {@link #listen(InetSocketAddress)}. An endpoint of the provider {@code tcp}
     * does not open a TCP port beside an endpoint of {@code soft}: that endpoint owns the TCP port and passes its clients on.
     *
     * @param local as for {@link #listen(InetSocketAddress)}, with the port of the other endpoint
     * @param beside the other endpoint, which must be closed before this one, or together with it
     * @return the endpoint
     * @throws RpmaException as {@link #listen(InetSocketAddress)}
     */
    default Endpoint listen(InetSocketAddress local, Endpoint beside) throws RpmaException {
        return listen(local);
    }

    /**
     * Prepares a connection to a listening peer ({@code rpma_conn_req_new}). <b>Blocks</b> while the address and the route
     * are resolved, up to twice {@link ConnectionConfig#timeoutMillis()}: it must not be called on an event loop. With the
     * provider tcp it blocks while a TCP connection is made, up to this time, and until the listener has greeted, up to the same
     * time again, but at least 2 s and at most 10 s.
     *
     * @param remote a resolved address
     * @param config the queue sizes, {@code null} for librpma's defaults; it may be changed or closed afterwards
     * @return the request, on which receives may be posted before {@link ConnectionRequest#connect}
     * @throws RpmaException {@link RpmaError#PROVIDER} with errno {@code ETIMEDOUT} (110) or {@code ENETUNREACH} (101) where
     *     the address cannot be reached, and with the provider tcp {@code EPROTONOSUPPORT} (93) where the listener does not greet
     *     as that provider does; {@link RpmaError#INVALID} if an argument is not valid
     */
    ConnectionRequest newConnectionRequest(InetSocketAddress remote, ConnectionConfig config) throws RpmaException;

    /** Returns whether {@link #tryNewConnectionRequest} can ever return a request: with librpma it cannot. */
    default boolean mayRequestAtOnce() {
        return false;
    }

    /**
     * Prepares a connection as {@link #newConnectionRequest} does, but never blocks: for event loops. The address may still have
     * to answer after {@link ConnectionRequest#connect}. In that case {@link Connection#nextEvent} sends the request when it has
     * answered. If it cannot be reached, the connection gets the event {@link ConnectionEvent#UNREACHABLE} or {@link
     * ConnectionEvent#REJECTED}, and {@link Connection#failure} returns what {@code newConnectionRequest} would have thrown.
     *
     * @param remote a resolved address
     * @param config the queue sizes, {@code null} for librpma's defaults; it may be changed or closed afterwards
     * @return the request; {@code null} if only {@link #newConnectionRequest} can determine whether the address can be reached
     * @throws RpmaException {@link RpmaError#INVALID} if an argument is not valid; {@link RpmaError#PROVIDER} if it is known
     *     already that the address cannot be reached
     */
    default ConnectionRequest tryNewConnectionRequest(InetSocketAddress remote, ConnectionConfig config) throws RpmaException {
        return null;
    }

    /**
     * Creates a shared receive queue ({@code rpma_srq_new}).
     *
     * @param config the sizes, {@code null} for librpma's defaults; it may be changed or closed afterwards
     * @return the queue, to be closed after every connection that uses it
     * @throws RpmaException {@link RpmaError#PROVIDER} or {@link RpmaError#NO_MEMORY}
     */
    SharedReceiveQueue newSharedReceiveQueue(SharedReceiveQueueConfig config) throws RpmaException;

    /**
     * Registers memory ({@code rpma_mr_reg}): pins its pages and allows the device to access them. May take milliseconds.
     *
     * @param memory off-heap memory that outlives the region; with the software provider, access is fastest to memory from
     *     {@link RpmaProvider#reserve}, but any other is possible
     * @param usages what the region is for, at least one
     * @return the region
     * @throws RpmaException {@link RpmaError#PROVIDER} with errno {@code ENOMEM} (12) when the limit of locked memory
     *     ({@code ulimit -l}) is too small, and with {@code EFAULT} (14) if a usage requires write access to read-only memory;
     *     {@link RpmaError#INVALID} if an argument is not valid
     */
    LocalMemoryRegion register(MemorySegment memory, Set<MemoryUsage> usages) throws RpmaException;

    /**
     * Closes the protection domain ({@code rpma_peer_delete}). Closing again does nothing.
     *
     * @throws RpmaException {@link RpmaError#PROVIDER} while something made from this peer is still open
     */
    @Override
    void close() throws RpmaException;
}
