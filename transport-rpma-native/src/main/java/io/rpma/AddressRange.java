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

/**
 * A reserved range of addresses in which memory is committed piece by piece, so that the piece of an address can be found by one
 * subtraction and one shift. It exists until it is closed or the process ends. Thread-safe for pieces that do not overlap.
 */
public interface AddressRange extends AutoCloseable {
    /** Returns the first address, a multiple of the page size. */
    long address();

    /** Returns the size in bytes. */
    long size();

    /**
     * Commits zeroed memory to a part of the range. With the software provider a peer can map this memory.
     *
     * @param offset from the start of the range, a multiple of the page size
     * @param length in bytes, a multiple of the page size, greater than 0
     * @return the memory, valid until {@link #decommit} or {@link #close()}
     * @throws RpmaException {@link RpmaError#NO_MEMORY} if there is not enough memory; {@link RpmaError#INVALID} if the part lies
     *     outside the range, does not consist of whole pages, or has memory already
     */
    MemorySegment commit(long offset, long length) throws RpmaException;

    /**
     * Releases the memory of a part that was committed by one call. No region may be registered in it any more.
     *
     * @param offset as given to {@link #commit}
     * @param length as given to {@link #commit}
     * @throws RpmaException {@link RpmaError#INVALID} if no such part was committed, if another thread is using the memory
     *     through its segment, or, with the provider soft, if a region is registered in it; {@link RpmaError#NO_MEMORY} if the
     *     system does not release the memory, which stays committed; {@link RpmaError#PROVIDER} with the provider soft as long as
     *     {@link LocalMemoryRegion#isQuiescent} returns {@code false} for a region that was registered in it
     */
    void decommit(long offset, long length) throws RpmaException;

    /**
     * Returns a buffer, in native byte order, over committed memory. The caller must not use the buffer after {@link #decommit},
     * which is not checked.
     *
     * @param offset from the start of the range, in bytes
     * @param length in bytes
     * @throws IllegalArgumentException or {@link IndexOutOfBoundsException}, depending on the provider, if a part of this memory
     *     is not committed
     */
    ByteBuffer buffer(long offset, int length);

    /**
     * Releases the range and all its memory. Closing again does nothing.
     *
     * @throws IllegalStateException if another thread is using the memory through its segment, or, with the provider soft, if a
     *     region is registered in it; the range can then be closed later
     */
    @Override
    void close();
}
