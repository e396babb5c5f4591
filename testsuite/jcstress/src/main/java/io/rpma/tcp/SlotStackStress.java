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
package io.rpma.tcp;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * One thread takes a receive of the provider tcp while another one takes two and posts the first of them again. The first thread
 * may have looked at this receive before, and at the one below it, which is gone by then. No fence is involved.
 */
@JCStressTest
@Outcome(id = "3, 3", expect = Expect.ACCEPTABLE, desc = "Each of the three receives is somewhere, and none is there twice.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A receive is lost, or has been taken twice.")
@State
public class SlotStackStress {
    private static final int SLOTS = 3;

    private final SlotStack stack = new SlotStack(new int[SLOTS + 1]);
    private int ofFirst;
    private int ofSecond;

    public SlotStackStress() {
        for (int slot = SLOTS; slot > 0; slot--) {
            stack.push(slot);
        }
    }

    /** Takes one. */
    @Actor
    public void first() {
        ofFirst = stack.pop();
    }

    /** Takes two and posts the first one again. */
    @Actor
    public void second() {
        int posted = stack.pop();
        ofSecond = stack.pop();
        stack.push(posted);
    }

    /** Counts the receives, and the different ones among them. */
    @Arbiter
    public void count(II_Result r) {
        r.r1 = 2;
        int seen = 1 << ofFirst | 1 << ofSecond;
        // A stack that is damaged may have no end.
        for (int slot = stack.pop(); slot != 0 && r.r1 <= SLOTS; slot = stack.pop()) {
            r.r1++;
            seen |= 1 << slot;
        }
        r.r2 = Integer.bitCount(seen);
    }
}
