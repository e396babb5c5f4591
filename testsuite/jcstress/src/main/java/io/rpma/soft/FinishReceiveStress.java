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

/**
 * Row M6, the fences in {@code Completer.finish} and {@code CompletionChannel.consume}: a peer publishes the completion of a
 * receive while the polling thread arms its queue and looks at the ring once more. Both ends are
 * those of soft.
 *
 * <p>On x86-64, with {@code run.sh --one-jvm --without-fence Completer:1 'FinishReceiveStress$'}: 164 of 843,345 results were
 * forbidden; with the fence none of 1,157,073. The fence in {@code CompletionChannel.consume} follows a volatile store, so that
 * x86-64 does not show it.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "The completion is not found, and the queue does not fire.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The completion is found, or the queue fires.")
@State
public class FinishReceiveStress {
    private static final int SKEW = 40;
    private static final Turns<Pair> PAIRS = new Turns<>(Pair::new);

    private final Pair pair = PAIRS.next();

    /** Leaves one receive, and queues that have fired. */
    public FinishReceiveStress() {
        pair.write();
        pair.settle();
        Pair.fire(pair.client);
        Pair.fire(pair.server);
        pair.receive();
    }

    /** The end that sends. */
    @Actor
    public void send() {
        Words.skew(SKEW);
        pair.sendSilently();
    }

    /** The polling thread of the end that receives. */
    @Actor
    public void poll(II_Result r) {
        pair.serverQueue.consume(null);
        r.r1 = pair.server.responder().ready(1);
    }

    /** Checks whether the queue has fired since it was armed. */
    @Arbiter
    public void hasFired(II_Result r) {
        r.r2 = pair.serverQueue.hasFired() ? 1 : 0;
    }

    /**
     * The same two words without the fence of the end that sends. On x86-64, {@code run.sh --one-jvm
     * WithoutFence} showed 52,152 of 7,110,417 results that the fence prevents.
     */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE_INTERESTING, desc = "What the fence prevents.")
    @Outcome(expect = Expect.ACCEPTABLE, desc = "One side observes the other.")
    @State
    public static class WithoutFence {
        private final long entry = Words.next();
        private final long armed = entry + Words.SECOND;

        /** The end that sends. */
        @Actor
        public void send(II_Result r) {
            Memory.putLongRelease(entry, 1);
            r.r2 = Memory.getInt(armed);
        }

        /** The polling thread of the end that receives. */
        @Actor
        public void poll(II_Result r) {
            Memory.putIntVolatile(armed, 1);
            Memory.fullFence();
            r.r1 = (int) Memory.getLongAcquire(entry);
        }
    }
}
