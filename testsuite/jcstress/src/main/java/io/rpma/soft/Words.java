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
package io.rpma.soft;

import io.rpma.posix.Memory;
import java.lang.foreign.Arena;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** Zeroed memory for a state, in which the two words are in different cache lines. It is never freed. */
public final class Words {
    /** The offset of the second word. */
    public static final int SECOND = Memory.APART;
    /** The size of the memory of one state in bytes. */
    static final int SIZE = 2 * Memory.APART;

    private static final int COUNT = 1 << 16;
    private static final long FIRST = Arena.global().allocate((long) COUNT * SIZE, Memory.APART).address();
    private static final AtomicInteger NEXT = new AtomicInteger();

    private Words() {
    }

    /** Returns the address of zeroed memory. The same memory is returned again after many more states. */
    public static long next() {
        long address = FIRST + (long) (NEXT.getAndIncrement() & COUNT - 1) * SIZE;
        Memory.zero(address, SIZE);
        return address;
    }

    /**
     * Waits for a random time, of at most this number of pauses of the processor. The two actors of a case need different times
     * until they reach the accesses in question. Without the delay, they would hardly ever reach them at the same time.
     */
    public static void skew(int most) {
        for (int i = ThreadLocalRandom.current().nextInt(most + 1); i > 0; i--) {
            Thread.onSpinWait();
        }
    }
}
