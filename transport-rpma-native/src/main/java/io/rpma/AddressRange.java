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
 * A reserved range of addresses in which memory is placed piece by piece, so that from an address the piece is found by one
 * subtraction and one shift. Lives as long as the process unless closed. Thread-safe for pieces that do not overlap.
 */
public interface AddressRange extends AutoCloseable {
    /** Returns the first address, a multiple of the page size. */
    long address();

    /** Returns the size in bytes. */
    long size();

    /**
     * Puts zeroed memory behind a part of the range. The software provider makes it memory that a peer can map.
     *
     * @param offset from the start of the range, a multiple of the page size
     * @param length in bytes, a multiple of the page size, greater than 0
     * @return the memory, valid until {@link #decommit} or {@link #close()}
     * @throws RpmaException {@link RpmaError#NO_MEMORY} if it cannot be had; {@link RpmaError#INVALID} if the part lies outside
     *     the range, is not whole pages, or has memory already
     */
    MemorySegment commit(long offset, long length) throws RpmaException;

    /**
     * Gives the memory of a part back, exactly as it was committed. No region may be registered in it any more.
     *
     * @param offset as given to {@link #commit}
     * @param length as given to {@link #commit}
     * @throws RpmaException {@link RpmaError#INVALID} if no such part was committed
     */
    void decommit(long offset, long length) throws RpmaException;

    /**
     * Returns a buffer, in native byte order, over committed memory. It is not checked against {@link #decommit}: the caller
     * keeps the memory as long as the buffer.
     *
     * @param offset from the start of the range, in bytes
     * @param length in bytes
     */
    ByteBuffer buffer(long offset, int length);

    /** Gives the range back with all its memory. Closing again does nothing. */
    @Override
    void close();
}
