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

import java.util.EnumSet;
import java.util.Set;

/** What a memory region may be used for ({@code RPMA_MR_USAGE_*}). */
public enum MemoryUsage {
    /** {@code RPMA_MR_USAGE_READ_SRC}: the peer may read it. */
    READ_SRC(1),
    /** {@code RPMA_MR_USAGE_READ_DST}: reads of this side may store data in it. */
    READ_DST(1 << 1),
    /** {@code RPMA_MR_USAGE_WRITE_SRC}: writes of this side may take their data from it. */
    WRITE_SRC(1 << 2),
    /** {@code RPMA_MR_USAGE_WRITE_DST}: the peer may write it. */
    WRITE_DST(1 << 3),
    /** {@code RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY}: the peer may flush it to visibility. */
    FLUSH_VISIBILITY(1 << 4),
    /** {@code RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT}: the peer may flush it to persistence. */
    FLUSH_PERSISTENT(1 << 5),
    /** {@code RPMA_MR_USAGE_SEND}: messages may be sent from it. */
    SEND(1 << 6),
    /** {@code RPMA_MR_USAGE_RECV}: messages may be received into it. */
    RECV(1 << 7);

    /** All the bits that librpma 1.x defines. */
    public static final int ALL_BITS = 0xff;

    private final int bit;

    MemoryUsage(int bit) {
        this.bit = bit;
    }

    /** Returns the bit of the C interface. */
    public int bit() {
        return bit;
    }

    /**
     * Returns the bits of a set of usages.
     *
     * @param usages any usages
     * @return their bits, combined by a bitwise OR
     */
    public static int bits(Set<MemoryUsage> usages) {
        int bits = 0;
        for (MemoryUsage usage : usages) {
            bits |= usage.bit;
        }
        return bits;
    }

    /**
     * Returns the usages that bits of the C interface stand for.
     *
     * @param bits any number; bits that librpma 1.x does not define are ignored
     * @return the usages
     */
    public static Set<MemoryUsage> of(int bits) {
        EnumSet<MemoryUsage> usages = EnumSet.noneOf(MemoryUsage.class);
        for (MemoryUsage usage : values()) {
            if ((bits & usage.bit) != 0) {
                usages.add(usage);
            }
        }
        return usages;
    }
}
