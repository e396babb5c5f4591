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
import io.rpma.soft.shared.CompletionRing;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Row M19: a peer copies a message and publishes its completion, which the owner polls. The ring is that of soft. No fence is
 * involved. x86-64 executes stores in order and loads in order, so a weaker mode can only show on aarch64, unless the compiler
 * reorders the accesses.
 */
@JCStressTest
@Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "The completion is not there yet.")
@Outcome(id = "1, 5, 7", expect = Expect.ACCEPTABLE, desc = "The completion, its length and the message.")
@Outcome(expect = Expect.FORBIDDEN, desc = "The completion without its length or without the message.")
@State
public class CompletionRingStress {
    private final long ring = Words.next();
    private final long message = ring + Words.SECOND;

    /** The peer. */
    @Actor
    public void publish() {
        Memory.putLong(message, 7);
        CompletionRing.publish(ring, 0, 0, 0, 5, 0, 0, 0);
    }

    /** The owner. */
    @Actor
    public void poll(III_Result r) {
        if (CompletionRing.control(ring, 0, 0) != 0) {
            r.r1 = 1;
            r.r2 = (int) CompletionRing.data(ring, 0, 0);
            r.r3 = (int) Memory.getLong(message);
        }
    }
}
