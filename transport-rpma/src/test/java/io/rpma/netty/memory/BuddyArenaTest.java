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
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the division of slabs into blocks. */
@Timeout(60)
class BuddyArenaTest {
    @Test
    void freeingABlockTwiceIsDetected() throws Exception {
        BuddyArena arena = new BuddyArena(new Slabs(Slabs.SLAB_SIZE));
        BuddyArena.Block block = arena.allocate(12);
        arena.free(block);
        assertThrows(IllegalStateException.class, () -> arena.free(block));
    }

    @Test
    void theArenaJoinsNeighboursAgain() throws Exception {
        BuddyArena arena = new BuddyArena(new Slabs(Slabs.SLAB_SIZE));
        List<BuddyArena.Block> blocks = new ArrayList<>();
        for (BuddyArena.Block block = arena.allocate(BuddyArena.MIN_SHIFT); block != null;
                block = arena.allocate(BuddyArena.MIN_SHIFT)) {
            blocks.add(block);
        }
        assertEquals(Slabs.SLAB_SIZE >>> BuddyArena.MIN_SHIFT, blocks.size());
        assertEquals(blocks.size(), blocks.stream().mapToInt(block -> block.offset).distinct().count());
        assertFalse(arena.allocate(BuddyArena.MIN_SHIFT) != null);
        java.util.Collections.shuffle(blocks, new Random(9));
        blocks.forEach(arena::free);
        assertEquals(0, arena.usedBytes());
        assertNotNull(arena.allocate(BuddyArena.MAX_SHIFT));
    }
}
