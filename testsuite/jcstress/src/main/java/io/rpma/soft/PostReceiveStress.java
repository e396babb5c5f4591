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
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Row M3, the first fence in {@code Responder.post} and that in {@code Requester.announce}: an end posts a receive while its peer
 * sends, finds none and announces that it waits. Both ends are those of soft.
 *
 * <p>On x86-64, with {@code run.sh --one-jvm --without-fence Responder:1 'PostReceiveStress$'}: 8,197 of 6,725,329 results were
 * forbidden; with the fence none of 2,638,481. Row M44 too: 18 of 5,278,545 results were forbidden when the holder of
 * {@code WaitingRequests.executing} stored it in release mode. x86-64 does not show the fence in {@code Requester.announce}: the
 * store before it is volatile, and {@code Requester.enter} executes another fence before the next search.
 */
@JCStressTest
@Outcome(id = "0", expect = Expect.FORBIDDEN, desc = "The send waits forever: it has found no receive, and is not woken.")
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "The message arrives.")
@State
public class PostReceiveStress {
    private static final Turns<Pair> PAIRS = new Turns<>(Pair::new);

    private final Pair pair = PAIRS.next();

    /** Leaves no receive and no send. */
    public PostReceiveStress() {
        pair.settle();
    }

    /** The end that receives. */
    @Actor
    public void post() {
        pair.receive();
    }

    /** The end that sends. */
    @Actor
    public void send() {
        pair.send();
    }

    /** Checks whether the receive has completed. */
    @Arbiter
    public void hasArrived(I_Result r) {
        r.r1 = pair.server.responder().ready(1);
    }

    /**
     * The same two words without the fence of the end that receives. On x86-64, {@code run.sh --one-jvm WithoutFence}
     * showed 11,048 of 1,326,417 results that the fence prevents.
     */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE_INTERESTING, desc = "What the fence prevents.")
    @Outcome(expect = Expect.ACCEPTABLE, desc = "One side observes the other.")
    @State
    public static class WithoutFence {
        private final long entry = Words.next();
        private final long stalled = entry + Words.SECOND;

        /** The end that receives. */
        @Actor
        public void post(II_Result r) {
            Memory.putLongRelease(entry, 1);
            r.r2 = Memory.getInt(stalled);
        }

        /** The end that sends. */
        @Actor
        public void announce(II_Result r) {
            Memory.putIntVolatile(stalled, 1);
            Memory.fullFence();
            r.r1 = (int) Memory.getLongAcquire(entry);
        }
    }
}
