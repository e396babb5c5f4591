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
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Row M5, the fence in {@code WaitingRequests.complete}: a thread flushes a work request of a queue pair that has failed, while
 * the polling thread arms its queue and looks for completions once more. The end is that of soft. The words are those of
 * {@link FinishSendStress.WithoutFence}.
 *
 * <p>On x86-64, with {@code run.sh --one-jvm --without-fence WaitingRequests:1 'FlushStress$'}: 899 of 3,472,465 results were
 * forbidden; with the fence none of 911,441.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "The completion is not found, and the queue does not fire.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The completion is found, or the queue fires.")
@State
public class FlushStress {
    private static final int SKEW = 40;
    private static final Turns<Pair> PAIRS = new Turns<>(FlushStress::failed);

    private final Pair pair = PAIRS.next();

    /** Leaves no completion, and a queue that has fired. */
    public FlushStress() {
        pair.settle();
        Pair.fire(pair.client);
    }

    private static Pair failed() throws Exception {
        Pair pair = new Pair();
        pair.client.fail();
        return pair;
    }

    /** The executing thread. */
    @Actor
    public void write() {
        Words.skew(SKEW);
        pair.write();
    }

    /** The polling thread. */
    @Actor
    public void poll(II_Result r) {
        pair.clientQueue.consume(null);
        r.r1 = pair.client.sends().ready();
    }

    /** Checks whether the queue has fired since it was armed. */
    @Arbiter
    public void hasFired(II_Result r) {
        r.r2 = pair.clientQueue.hasFired() ? 1 : 0;
    }
}
