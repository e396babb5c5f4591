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

import io.rpma.RpmaException;
import java.util.ArrayList;
import java.util.List;

/**
 * Divides slabs into blocks whose sizes are powers of two, and joins neighbouring blocks when both are free. The magazines use
 * it when they are empty or full. One lock protects all slabs.
 */
public final class BuddyArena {
    static final int MIN_SHIFT = 8;
    static final int MAX_SHIFT = Slabs.SLAB_SHIFT;
    private static final int DEPTH = MAX_SHIFT - MIN_SHIFT;

    private final Slabs slabs;
    private final List<Tree> trees = new ArrayList<>();
    private long usedBytes;

    BuddyArena(Slabs slabs) {
        this.slabs = slabs;
    }

    /** Returns the size class of a capacity: the exponent of the smallest power of two that is large enough. */
    public static int shift(int capacity) {
        return capacity <= 1 << MIN_SHIFT ? MIN_SHIFT : 32 - Integer.numberOfLeadingZeros(capacity - 1);
    }

    /**
     * Allocates a block.
     *
     * @param shift the exponent of its size
     * @return the block, or {@code null} if the limit of registered memory is reached
     */
    synchronized Block allocate(int shift) throws RpmaException {
        // Try the oldest slab first, so that younger slabs may become empty and remain unused.
        for (int i = 0; i < trees.size(); i++) {
            Block block = trees.get(i).allocate(shift);
            if (block != null) {
                usedBytes += 1L << shift;
                return block;
            }
        }
        Slab slab = slabs.add();
        if (slab == null) {
            return null;
        }
        Tree tree = new Tree(slab);
        trees.add(tree);
        usedBytes += 1L << shift;
        return tree.allocate(shift);
    }

    synchronized void free(Block block) {
        block.tree.free(block.offset, block.shift);
        usedBytes -= 1L << block.shift;
    }

    /** Frees the blocks of the buffers in a range of indices, {@code to} excluded. */
    synchronized void free(RpmaByteBuf[] buffers, int from, int to) {
        for (int i = from; i < to; i++) {
            free(buffers[i].block());
        }
    }

    synchronized long usedBytes() {
        return usedBytes;
    }

    /** A part of a slab. */
    public static final class Block {
        final Slab slab;
        public final int offset;
        final int shift;
        private final Tree tree;

        Block(Tree tree, int offset, int shift) {
            this.tree = tree;
            slab = tree.slab;
            this.offset = offset;
            this.shift = shift;
        }

        /** Returns the size of the block in bytes. */
        public int bytes() {
            return 1 << shift;
        }
    }

    /** The binary tree of one slab. A node holds the shift of the largest free block below it, 0 if there is none. */
    private static final class Tree {
        final Slab slab;
        private final byte[] largest = new byte[2 << DEPTH];

        Tree(Slab slab) {
            this.slab = slab;
            for (int level = 0; level <= DEPTH; level++) {
                java.util.Arrays.fill(largest, 1 << level, 2 << level, (byte) (MAX_SHIFT - level));
            }
        }

        Block allocate(int shift) {
            if (largest[1] < shift) {
                return null;
            }
            int node = 1;
            int level = MAX_SHIFT;
            while (level > shift) {
                // Prefer the child with the smaller sufficient block, so that large blocks are not divided.
                int left = node << 1;
                int right = left + 1;
                node = largest[left] < shift || largest[right] >= shift && largest[right] < largest[left] ? right : left;
                level--;
            }
            largest[node] = 0;
            int offset = node - (1 << MAX_SHIFT - shift) << shift;
            update(node);
            return new Block(this, offset, shift);
        }

        void free(int offset, int shift) {
            int node = (1 << MAX_SHIFT - shift) + (offset >>> shift);
            if (largest[node] != 0) {
                throw new IllegalStateException("block at " + offset + " of " + (1 << shift) + " bytes is free already");
            }
            largest[node] = (byte) shift;
            update(node);
        }

        private void update(int node) {
            int shift = MAX_SHIFT - (31 - Integer.numberOfLeadingZeros(node));
            while (node > 1) {
                node >>>= 1;
                shift++;
                byte left = largest[node << 1];
                byte right = largest[(node << 1) + 1];
                largest[node] = left == shift - 1 && right == shift - 1 ? (byte) shift : (byte) Math.max(left, right);
            }
        }
    }
}
