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
 * The free buffers of all threads without magazines of their own, and the exchange between the magazines of the other threads.
 * There is one magazine for each size class, with a lock of its own; the size does not depend on the number of threads.
 * Thread-safe.
 */
final class SharedMagazines {
    /** How many buffers move to a thread's magazine at a time. */
    private static final int REFILL = 16;

    private final BuddyArena arena;
    private final Magazine[] magazines = new Magazine[Magazines.CLASSES];

    SharedMagazines(BuddyArena arena) {
        this.arena = arena;
        for (int i = 0; i < magazines.length; i++) {
            magazines[i] = new Magazine(BuddyArena.MIN_SHIFT + i);
        }
    }

    private Magazine magazine(int shift) {
        return magazines[shift - BuddyArena.MIN_SHIFT];
    }

    /** Takes a free buffer, or returns {@code null} if there is none. */
    RpmaByteBuf pop(int shift) {
        Magazine magazine = magazine(shift);
        synchronized (magazine) {
            return magazine.pop();
        }
    }

    /** Adds a free buffer. If there is no room for it, half of the buffers are returned to the arena. */
    void push(RpmaByteBuf buf, int shift) {
        Magazine magazine = magazine(shift);
        synchronized (magazine) {
            if (magazine.size() == magazine.capacity()) {
                magazine.flush(arena, magazine.size() >>> 1);
            }
            magazine.push(buf);
        }
    }

    /** Moves some buffers to the empty magazine of a thread. Returns whether there were any. */
    boolean refill(Magazine to, int shift) {
        Magazine magazine = magazine(shift);
        synchronized (magazine) {
            magazine.move(to, Math.min(REFILL, to.capacity() >>> 1));
        }
        return to.size() > 0;
    }

    /** Takes half of the buffers of a thread's full magazine. Buffers for which there is no room are returned to the arena. */
    void takeHalf(Magazine from, int shift) {
        int half = from.size() >>> 1;
        Magazine magazine = magazine(shift);
        synchronized (magazine) {
            from.move(magazine, from.size() - half);
        }
        from.flush(arena, half);
    }

    /** Returns the buffers of a thread's magazine to the arena. */
    void end(Magazine of) {
        of.flush(arena, 0);
    }

    /** Returns the size of all free buffers, in bytes. */
    long bytes() {
        long bytes = 0;
        for (int i = 0; i < magazines.length; i++) {
            synchronized (magazines[i]) {
                bytes += (long) magazines[i].size() << BuddyArena.MIN_SHIFT + i;
            }
        }
        return bytes;
    }

    /** Returns all buffers to the arena, where they can be joined or split into buffers of other sizes. */
    void flush() {
        for (Magazine magazine : magazines) {
            synchronized (magazine) {
                magazine.flush(arena, 0);
            }
        }
    }
}
