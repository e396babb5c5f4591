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

import io.rpma.WorkCompletions;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Row M47: one thread adds completions to a send queue, whose ring grows twice meanwhile, and another one polls them.
 */
@JCStressTest
@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "All completions were polled in their order, with their contents.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A completion was lost, repeated or changed.")
@State
public class SendQueueStress {
    private static final int COMPLETIONS = 12;

    private final SendQueue queue = new SendQueue(COMPLETIONS);
    private final WorkCompletions batch = new WorkCompletions(COMPLETIONS);
    private int polled;
    private int wrong;

    /** The executing thread. */
    @Actor
    public void complete() {
        for (int i = 1; i <= COMPLETIONS; i++) {
            queue.complete(i, -i, 0, i, 2 * i);
        }
    }

    /** The polling thread. */
    @Actor
    public void poll() {
        for (int i = 0; i < COMPLETIONS; i++) {
            check();
        }
    }

    private void check() {
        int count = queue.poll(batch, 0, 1);
        for (int i = 0; i < count; i++) {
            int number = ++polled;
            if (batch.context(i) != -number || batch.opcodeCode(i) != number || batch.byteLength(i) != 2 * number) {
                wrong++;
            }
        }
    }

    /** Polls what is left, and counts what is wrong. */
    @Arbiter
    public void count(I_Result r) {
        check();
        r.r1 = wrong + Math.abs(COMPLETIONS - polled);
    }
}
