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

/**
 * The free buffers of one thread: a magazine for each size class up to 64 KiB. If a magazine is empty it is refilled from the
 * shared magazines, several buffers at a time; if it is full, buffers are moved there. Not thread-safe.
 */
final class Magazines {
    /** The largest size class, as a power of two. */
    static final int MAX_SHIFT = 16;
    /** The number of size classes. */
    static final int CLASSES = MAX_SHIFT - BuddyArena.MIN_SHIFT + 1;

    private final Magazine[] magazines = new Magazine[CLASSES];

    /** Takes a free buffer, or returns {@code null} if neither this thread nor the shared magazines have one. */
    RpmaByteBuf pop(int shift) {
        Magazine magazine = magazine(shift);
        RpmaByteBuf buf = magazine.pop();
        if (buf == null && RegisteredMemory.shared().refill(magazine, shift)) {
            buf = magazine.pop();
        }
        return buf;
    }

    /** Keeps a free buffer. */
    void push(RpmaByteBuf buf, int shift) {
        Magazine magazine = magazine(shift);
        if (magazine.size() == magazine.capacity()) {
            RegisteredMemory.shared().takeHalf(magazine, shift);
        }
        magazine.push(buf);
    }

    private Magazine magazine(int shift) {
        Magazine magazine = magazines[shift - BuddyArena.MIN_SHIFT];
        if (magazine == null) {
            magazine = new Magazine(shift);
            magazines[shift - BuddyArena.MIN_SHIFT] = magazine;
        }
        return magazine;
    }

    /** Returns all buffers to the arena, because the thread ends. */
    void flush() {
        for (Magazine magazine : magazines) {
            if (magazine != null) {
                RegisteredMemory.shared().end(magazine);
            }
        }
    }
}
