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
package io.rpma.benchmark;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32C;

/** Content that is generated from a seed, so that both ends can compute it. */
final class Pattern {
    private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;

    private Pattern() {
    }

    /** Fills memory. Its size must be a multiple of eight. */
    static void fill(MemorySegment memory, long seed) {
        for (long i = 0; i < memory.byteSize() / Long.BYTES; i++) {
            memory.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i, at(seed, i));
        }
    }

    /** Returns the index of the first byte that differs from the content that {@link #fill} writes, or -1. */
    static long firstDifference(MemorySegment memory, long seed) {
        for (long i = 0; i < memory.byteSize() / Long.BYTES; i++) {
            if (memory.getAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i) != at(seed, i)) {
                return i * Long.BYTES;
            }
        }
        return -1;
    }

    /** Returns the checksum of a memory segment. */
    static int checksum(MemorySegment memory) {
        CRC32C checksum = new CRC32C();
        checksum.update(memory.asByteBuffer());
        return (int) checksum.getValue();
    }

    private static long at(long seed, long index) {
        return Long.rotateLeft((seed + index) * MULTIPLIER, 29) * MULTIPLIER;
    }
}
