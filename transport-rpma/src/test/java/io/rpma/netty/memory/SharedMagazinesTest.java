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

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Tests the accounting of free buffers that are kept ready. */
class SharedMagazinesTest {
    private static final int SHIFT = 16;

    @Test
    void freeBuffersThatAreKeptReadyCountAsUsedAndAreReported() throws Exception {
        BuddyArena arena = new BuddyArena(new Slabs(Slabs.SLAB_SIZE));
        SharedMagazines magazines = new SharedMagazines(arena);
        for (int i = 1; i <= 3; i++) {
            magazines.push(new RpmaByteBuf(arena.allocate(SHIFT), null), SHIFT);
            assertEquals((long) i << SHIFT, magazines.bytes());
            assertEquals((long) i << SHIFT, arena.usedBytes());
        }
        magazines.pop(SHIFT);
        assertEquals(2L << SHIFT, magazines.bytes());
        magazines.flush();
        assertEquals(0, magazines.bytes());
        assertEquals(1L << SHIFT, arena.usedBytes());
    }
}
