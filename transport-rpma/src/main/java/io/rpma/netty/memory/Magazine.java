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

/** Free buffers of one size class, at most 1 MiB of them and at most 256. Not thread-safe. */
final class Magazine {
    private static final int MAX_BYTES = 1 << 20;
    private static final int MAX_BUFFERS = 256;

    private final RpmaByteBuf[] free;
    private int size;

    /** Creates an empty magazine for the size class of this power of two. */
    Magazine(int shift) {
        free = new RpmaByteBuf[Math.min(MAX_BUFFERS, MAX_BYTES >>> shift)];
    }

    int size() {
        return size;
    }

    /** Returns how many buffers it can hold. */
    int capacity() {
        return free.length;
    }

    /** Takes the buffer that was put in last, or returns {@code null} if there is none. */
    RpmaByteBuf pop() {
        if (size == 0) {
            return null;
        }
        RpmaByteBuf buf = free[--size];
        free[size] = null;
        return buf;
    }

    /** Puts a buffer in; there must be room. */
    void push(RpmaByteBuf buf) {
        free[size++] = buf;
    }

    /** Moves this many buffers to another magazine, or as many as there are and as that one has room for. */
    void move(Magazine to, int count) {
        int n = Math.min(count, Math.min(size, to.free.length - to.size));
        size -= n;
        System.arraycopy(free, size, to.free, to.size, n);
        java.util.Arrays.fill(free, size, size + n, null);
        to.size += n;
    }

    /** Frees buffers to the arena until this many are left. */
    void flush(BuddyArena arena, int remaining) {
        if (size > remaining) {
            arena.free(free, remaining, size);
            java.util.Arrays.fill(free, remaining, size, null);
            size = remaining;
        }
    }
}
