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
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Shows why x86-64 cannot show some of the fences. HotSpot compiles a volatile store to a store that is followed by a locked
 * instruction, and a read-modify-write is a locked instruction itself. Either orders the store before a later load, as the fence
 * behind it does. The later load is a plain one, for which only the fence guarantees this order. On another processor, or with
 * another compiler, the order is not implied.
 */
public final class ImpliedFenceStress {
    private ImpliedFenceStress() {
    }

    /** Rows M1, M2, M7 and M9, without their fences. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE_INTERESTING, desc = "What the fence prevents.")
    @Outcome(expect = Expect.ACCEPTABLE, desc = "One side observes the other.")
    @State
    public static class VolatileStoreWithoutFence {
        private final long first = Words.next();
        private final long second = first + Words.SECOND;

        /** One side. */
        @Actor
        public void one(II_Result r) {
            Memory.putIntVolatile(first, 1);
            r.r1 = Memory.getInt(second);
        }

        /** The other side. */
        @Actor
        public void other(II_Result r) {
            Memory.putIntVolatile(second, 1);
            r.r2 = Memory.getInt(first);
        }
    }

    /** Rows M2, M7, M8 and M12, without their fences. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE_INTERESTING, desc = "What the fence prevents.")
    @Outcome(expect = Expect.ACCEPTABLE, desc = "One side observes the other.")
    @State
    public static class ReadModifyWriteWithoutFence {
        private final long first = Words.next();
        private final long second = first + Words.SECOND;

        /** One side. */
        @Actor
        public void one(II_Result r) {
            Memory.getAndSetInt(first, 1);
            r.r1 = Memory.getInt(second);
        }

        /** The other side. */
        @Actor
        public void other(II_Result r) {
            Memory.getAndSetInt(second, 1);
            r.r2 = Memory.getInt(first);
        }
    }
}
