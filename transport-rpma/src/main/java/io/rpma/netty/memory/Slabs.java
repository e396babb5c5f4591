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

package io.rpma.netty.memory;

import io.rpma.AddressRange;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * All slabs of the process, in one contiguous reserved range of addresses. The slab of an address is found by one subtraction,
 * one shift and one load, for any kind of view of a buffer.
 */
public final class Slabs {
    static final int SLAB_SHIFT = 22;
    public static final int SLAB_SIZE = 1 << SLAB_SHIFT;
    /** The largest amount of memory that slabs can have. */
    public static final long MAX_BYTES = 1L << SLAB_SHIFT + 20;

    private final AtomicReferenceArray<Slab> slabs;
    private AddressRange range;
    // Until there is a slab, no address has an index below their number. Whoever has the address of a slab also sees its base.
    private long base = Long.MIN_VALUE;
    private int count;

    /**
     * Creates the slabs. The addresses are reserved when the first slab is added: this needs a provider, and there may be none
     * until later, for example because the folder of soft does not exist yet.
     *
     * @param maxBytes the largest amount of memory that may be added, at least {@link #SLAB_SIZE} and at most {@link #MAX_BYTES};
     *     a part that is smaller than a slab is not used
     */
    Slabs(long maxBytes) {
        slabs = new AtomicReferenceArray<>((int) (maxBytes >>> SLAB_SHIFT));
    }

    private void reserve() {
        try {
            range = Rpma.providers().getFirst().reserve(maxBytes());
        } catch (RpmaException e) {
            throw new IllegalStateException("the addresses for " + maxBytes() + " bytes of registered memory cannot be"
                + " reserved: " + e.getMessage() + " (-Dio.rpma.netty.maxRegisteredBytes sets the size)", e);
        }
        base = range.address();
    }

    /**
     * Adds a slab.
     *
     * @return the slab, or {@code null} if the limit is reached
     */
    synchronized Slab add() throws RpmaException {
        if (count == slabs.length()) {
            return null;
        }
        if (range == null) {
            reserve();
        }
        long offset = (long) count << SLAB_SHIFT;
        Slab slab = new Slab(range.commit(offset, SLAB_SIZE), range.buffer(offset, SLAB_SIZE));
        slabs.set(count, slab);
        count++;
        return slab;
    }

    /** Returns the slab that contains an address, or {@code null} if the address is outside of all slabs. */
    Slab of(long address) {
        long index = address - base >>> SLAB_SHIFT;
        return index < slabs.length() ? slabs.get((int) index) : null;
    }

    /** Returns the number of bytes of memory added so far. */
    synchronized long bytes() {
        return (long) count << SLAB_SHIFT;
    }

    long maxBytes() {
        return (long) slabs.length() << SLAB_SHIFT;
    }
}
