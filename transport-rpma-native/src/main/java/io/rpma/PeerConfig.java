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

import java.nio.ByteBuffer;

/** Properties of a peer that it sends to the other side ({@code struct rpma_peer_cfg}). Thread-safe, except {@link #close()}. */
public interface PeerConfig extends AutoCloseable {
    /** Returns whether writes may go straight to persistent memory ({@code rpma_peer_cfg_get_direct_write_to_pmem}). */
    boolean isDirectWriteToPmem() throws RpmaException;

    /**
     * Sets whether writes may go straight to persistent memory ({@code rpma_peer_cfg_set_direct_write_to_pmem}).
     *
     * @param supported {@code true} only where the platform keeps writes of the device out of volatile caches
     * @return this object
     */
    PeerConfig directWriteToPmem(boolean supported) throws RpmaException;

    /** Returns the number of bytes that {@link #descriptor} writes ({@code rpma_peer_cfg_get_descriptor_size}). */
    int descriptorSize() throws RpmaException;

    /**
     * Writes the descriptor that the other side opens with {@link RpmaProvider#peerConfigFromDescriptor}
     * ({@code rpma_peer_cfg_get_descriptor}).
     *
     * @param target receives {@link #descriptorSize()} bytes at its position, which moves behind them
     */
    void descriptor(ByteBuffer target) throws RpmaException;

    /** Frees the configuration ({@code rpma_peer_cfg_delete}). Closing again does nothing. */
    @Override
    void close() throws RpmaException;
}
