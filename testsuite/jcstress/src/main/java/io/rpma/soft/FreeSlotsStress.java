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

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Row M46: a thread pops a slot while another one pops two and pushes the first of them again (ABA). No fence is concerned: on
 * x86-64 the case fails if the count in the upper half of the head is left out.
 */
@JCStressTest
@Outcome(id = "7", expect = Expect.ACCEPTABLE, desc = "Each slot is in one place.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A slot is in two places, or in none.")
@State
public class FreeSlotsStress {
    private static final int SLOTS = 3;

    private final FreeSlots free = new FreeSlots(SLOTS);
    private int first;
    private int second;

    /** Pops a slot. */
    @Actor
    public void pop() {
        first = free.pop();
    }

    /** Pops two slots and pushes one. */
    @Actor
    public void popAndPush() {
        int top = free.pop();
        second = free.pop();
        free.push(top);
    }

    /** Pops what is left. The result is the sum of a bit for each slot, or more if one comes twice. */
    @Arbiter
    public void popAll(I_Result r) {
        r.r1 = (1 << first) + (1 << second);
        int slot = free.pop();
        for (int i = 0; i < SLOTS && slot != FreeSlots.NONE; i++) {
            r.r1 += 1 << slot;
            slot = free.pop();
        }
    }
}
