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

/** Zeroed memory for a state, in which two words do not share a cache line. It lasts as long as the process. */
public final class Words {
    /** The offset of the second word. */
    public static final int SECOND = Memory.APART;
    /** Bytes of the memory of one state. */
    static final int SIZE = 2 * Memory.APART;

    private static final int COUNT = 1 << 16;
    private static final long FIRST = Arena.global().allocate((long) COUNT * SIZE, Memory.APART).address();
    private static final AtomicInteger NEXT = new AtomicInteger();

    private Words() {
    }

    /** Returns the address of zeroed memory. After many more states the same memory is returned again. */
    public static long next() {
        long address = FIRST + (long) (NEXT.getAndIncrement() & COUNT - 1) * SIZE;
        Memory.zero(address, SIZE);
        return address;
    }

    /**
     * Lets a random time pass, of at most this number of pauses of the processor. The two actors of a case need different times
     * before they come to the accesses that the case is about; without the delay they would hardly ever get there together.
     */
    public static void skew(int most) {
        for (int i = ThreadLocalRandom.current().nextInt(most + 1); i > 0; i--) {
            Thread.onSpinWait();
        }
    }
}
