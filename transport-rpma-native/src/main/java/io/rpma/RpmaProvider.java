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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * An implementation of librpma's interface: the library itself, or software RDMA. Thread-safe. {@link Rpma#provider()} returns
 * the one that this process uses.
 */
public interface RpmaProvider {
    /** Returns {@code librpma}, {@code soft} or {@code tcp}. */
    String name();

    /** Returns the implementation and its version, as text for a user. */
    String description();

    /**
     * Returns the usable devices of this host, best first.
     *
     * @throws RpmaException if they cannot be listed
     */
    List<Device> devices() throws RpmaException;

    /**
     * Returns the device behind an address of this host ({@code rpma_utils_get_ibv_context} with
     * {@code RPMA_UTIL_IBV_CONTEXT_LOCAL}). The loopback and wildcard addresses stand for any device of this host.
     *
     * @param local a resolved address
     * @throws RpmaException {@link RpmaError#PROVIDER} if the address is not this host's, or no device has it
     */
    Device localDevice(InetAddress local) throws RpmaException;

    /**
     * Returns the device by which a remote address is reached ({@code rpma_utils_get_ibv_context} with
     * {@code RPMA_UTIL_IBV_CONTEXT_REMOTE}). <b>Blocks</b> up to a second.
     *
     * @param remote a resolved address
     * @throws RpmaException {@link RpmaError#PROVIDER} if it cannot be reached
     */
    Device remoteDevice(InetAddress remote) throws RpmaException;

    /**
     * Returns whether this provider may be able to connect to an address, as far as that is known without network traffic: the
     * provider {@code soft} reaches only the addresses of this host.
     *
     * @param remote a resolved address
     */
    boolean mayReach(InetAddress remote);

    /**
     * Returns whether a connection is known to be refused because there is no listener, as far as that can be determined without
     * waiting. An event loop then need not start a request on another thread. The provider {@code tcp} determines it for
     * addresses of this host; if there is a listener, it accepts a connection that ends immediately.
     *
     * @param remote a resolved address
     * @return {@code false} if only a request can determine it
     */
    default boolean isRefused(InetSocketAddress remote) {
        return false;
    }

    /**
     * Returns an address of a device in place of one that only means "this host": with librpma a loopback or wildcard address
     * becomes the address of a usable device (RDMA has no loopback interface); with the software provider it is returned
     * unchanged, as is any other address.
     *
     * @param address a resolved address
     * @throws RpmaException {@link RpmaError#PROVIDER} if there is no usable device
     */
    InetAddress reachable(InetAddress address) throws RpmaException;

    /** Creates a configuration with librpma's defaults ({@code rpma_conn_cfg_new}); to be closed. */
    ConnectionConfig newConnectionConfig() throws RpmaException;

    /** Creates a configuration with librpma's defaults ({@code rpma_srq_cfg_new}); to be closed. */
    SharedReceiveQueueConfig newSharedReceiveQueueConfig() throws RpmaException;

    /** Creates a peer configuration with librpma's defaults ({@code rpma_peer_cfg_new}); to be closed. */
    PeerConfig newPeerConfig() throws RpmaException;

    /**
     * Opens a peer configuration of the other side ({@code rpma_peer_cfg_from_descriptor}); to be closed.
     *
     * @param descriptor its remaining bytes; the position does not move
     * @throws RpmaException {@link RpmaError#INVALID} if they are too few
     */
    PeerConfig peerConfigFromDescriptor(ByteBuffer descriptor) throws RpmaException;

    /**
     * Opens a memory region of the other side ({@code rpma_mr_remote_from_descriptor}); to be closed.
     *
     * @param descriptor its remaining bytes, as {@link LocalMemoryRegion#descriptor} wrote them; the position does not move
     * @throws RpmaException {@link RpmaError#INVALID} if they are too few, too many or no descriptor
     */
    RemoteMemoryRegion openRemoteRegion(ByteBuffer descriptor) throws RpmaException;

    /**
     * Reserves a range of addresses, without memory behind it, in which {@link AddressRange#commit} then places memory of the
     * kind that this provider reaches fastest.
     *
     * @param bytes the size of the range, at least 1; rounded up to whole pages
     * @throws RpmaException {@link RpmaError#NO_MEMORY} if the addresses cannot be reserved; {@link RpmaError#INVALID} if the
     *     size is not valid
     */
    AddressRange reserve(long bytes) throws RpmaException;

    /** Returns the library's log. */
    RpmaLog log();

    /** Returns the library's text for an error ({@code rpma_err_2str}). */
    String describe(RpmaError error);

    /** Returns the library's text for an event ({@code rpma_utils_conn_event_2str}). */
    String describe(ConnectionEvent event);
}
