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
package io.rpma.soft.process;

import io.rpma.posix.Memory;
import io.rpma.soft.Words;
import io.rpma.soft.shared.RegionTable;
import io.rpma.soft.shared.RemoteRegion;
import io.rpma.soft.shared.SharedMemory;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Row M38, the fence in {@code RegionCache.removeIn}: a thread that is about to unmap memory of a peer removes its regions and
 * checks whether another thread of the process is busy. The other thread marks itself as busy and looks the region up. The cache
 * is that of soft. The word and the fence of the executing thread are part of this case, and are the same as in {@code
 * Requester.enter}.
 *
 * <p>On x86-64, with {@code run.sh --one-jvm --without-fence RegionCache:1 'UnmapStress$'}: 12,574 of 12,186,833 results were
 * forbidden; with the fence none.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "The region is used, and is unmapped without waiting for its user.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The region is not found, or the thread that unmaps waits for its user.")
@State
public class UnmapStress {
    private static final int KEY = 1 << 16;
    private static final SharedMemory MEMORY = memory();

    private final RegionCache cache = new RegionCache();
    private final long busy = Words.next();

    /** Adds the region. */
    public UnmapStress() {
        long stamp = busy + Words.SECOND;
        Memory.putLong(stamp, KEY);
        cache.add(new RemoteRegion(KEY, new RegionTable.Entry(KEY, 0, MEMORY.address(), MEMORY.size(), 1, 0, 0),
            MEMORY.address(), stamp));
    }

    private static SharedMemory memory() {
        try {
            return SharedMemory.create("jcstress-range", 1);
        } catch (Exception e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The thread that executes an operation. */
    @Actor
    public void execute(II_Result r) {
        Memory.putIntRelease(busy, 1);
        Memory.fullFence();
        r.r1 = cache.known(KEY) != null ? 1 : 0;
    }

    /** The thread that unmaps. */
    @Actor
    public void unmap(II_Result r) {
        cache.removeIn(MEMORY);
        r.r2 = Memory.getIntVolatile(busy);
    }

    /**
     * The same two words without the fence of the thread that unmaps. On x86-64, {@code run.sh --one-jvm
     * WithoutFence} showed 79 of 28,817 results that the fence prevents.
     */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE_INTERESTING, desc = "What the fence prevents.")
    @Outcome(expect = Expect.ACCEPTABLE, desc = "One side observes the other.")
    @State
    public static class WithoutFence {
        private static final RemoteRegion REGION =
            new RemoteRegion(KEY, new RegionTable.Entry(KEY, 0, 1, 1, 1, 0, 0), 1, Words.next());

        private final long busy = Words.next();
        private RemoteRegion region = REGION;

        /** The thread that executes an operation. */
        @Actor
        public void execute(II_Result r) {
            Memory.putIntRelease(busy, 1);
            Memory.fullFence();
            r.r1 = region != null ? 1 : 0;
        }

        /** The thread that unmaps. */
        @Actor
        public void unmap(II_Result r) {
            region = null;
            r.r2 = Memory.getIntVolatile(busy);
        }
    }
}
