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
import java.util.List;

/**
 * An RDMA device ({@code struct ibv_context}). It lives as long as the process and is never closed; librdmacm owns it.
 * Thread-safe.
 */
public interface Device {
    /** Returns the device's name, such as {@code mlx5_0} or {@code rxe0}; {@code soft} for the software provider. */
    String name();

    /** Returns the provider of the device. */
    RpmaProvider provider();

    /** Returns the limits of the device. */
    DeviceLimits limits();

    /** Returns the addresses of this host that lead to the device, in the order of preference; may be empty. */
    List<InetAddress> addresses();

    /**
     * Returns whether memory need not be pinned ({@code rpma_utils_ibv_context_is_odp_capable}).
     *
     * @throws RpmaException if the device cannot be asked
     */
    boolean isOnDemandPagingCapable() throws RpmaException;

    /**
     * Returns whether the device uses iWARP, which is RDMA over TCP ({@code ibv_device.transport_type}). Such a device has no
     * send with immediate data; a message that finds no posted receive ends the connection; and the completion of a send says
     * only that the bytes have been given to TCP, not that they have arrived.
     */
    boolean isIwarp();

    /**
     * Returns whether sends and writes can carry immediate data ({@code rpma_send_with_imm}, {@code rpma_write_with_imm}): on
     * every device that does not use iWARP, whose messages have no field for it.
     */
    default boolean hasImmediateData() {
        return !isIwarp();
    }

    /**
     * Opens a protection domain on the device ({@code rpma_peer_new}).
     *
     * @return a new peer, to be closed by the caller after everything that was made from it
     * @throws RpmaException {@link RpmaError#PROVIDER} or {@link RpmaError#NO_MEMORY}
     */
    Peer newPeer() throws RpmaException;
}
