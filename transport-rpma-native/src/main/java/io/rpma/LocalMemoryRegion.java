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
import java.nio.ByteBuffer;
import java.util.Set;

/** Registered memory of this side ({@code struct rpma_mr_local}). Thread-safe, except {@link #close()}. */
public interface LocalMemoryRegion extends AutoCloseable {
    /** Returns the peer that the region belongs to. */
    Peer peer();

    /** Returns the memory ({@code rpma_mr_get_ptr}, {@code rpma_mr_get_size}). */
    MemorySegment memory();

    /** Returns the address of the first byte ({@code rpma_mr_get_ptr}). */
    long address();

    /** Returns the size in bytes ({@code rpma_mr_get_size}). */
    long size();

    /** Returns what the region is for. */
    Set<MemoryUsage> usages();

    /** Returns the number of bytes that {@link #descriptor} writes ({@code rpma_mr_get_descriptor_size}). */
    int descriptorSize();

    /**
     * Writes the descriptor that the peer opens with {@link RpmaProvider#openRemoteRegion}
     * ({@code rpma_mr_get_descriptor}).
     *
     * @param target receives {@link #descriptorSize()} bytes at its position, which moves behind them
     * @throws RpmaException {@link RpmaError#INVALID} if the target has less room
     */
    void descriptor(ByteBuffer target) throws RpmaException;

    /**
     * Advises the device on the use of a part of the region ({@code rpma_mr_advise}; {@code ibv_advise_mr(3)}).
     *
     * @param offset from the start of the region, in bytes
     * @param length in bytes
     * @param advice {@code IBV_ADVISE_MR_ADVICE_PREFETCH} (0), {@code _PREFETCH_WRITE} (1) or {@code _PREFETCH_NO_FAULT} (2)
     * @param flags {@code IBV_ADVISE_MR_FLAG_FLUSH} (1) or 0
     * @throws RpmaException {@link RpmaError#NOT_SUPPORTED} if the device has no on-demand paging;
     *     {@link RpmaError#INVALID} if an argument is not valid
     */
    void advise(long offset, long length, int advice, int flags) throws RpmaException;

    /**
     * Deregisters the memory ({@code rpma_mr_dereg}); the memory itself is not freed. No work request may still use the region: a
     * receive posted in it breaks its queue pair later. This method never waits for an operation of a peer: {@link #isQuiescent}
     * returns whether the memory can be reused or freed. Closing again does nothing.
     *
     * @throws RpmaException {@link RpmaError#PROVIDER} if the device refuses
     */
    @Override
    void close() throws RpmaException;

    /**
     * Returns whether the region is closed and no peer can access its memory any more. With librpma that is the case as soon as
     * the region is closed. With the software provider an operation that a peer's process was executing in the region when it was
     * closed continues until it is complete or that process ends; see {@link Connection#isQuiescent}. Any thread may call it.
     */
    boolean isQuiescent();
}
