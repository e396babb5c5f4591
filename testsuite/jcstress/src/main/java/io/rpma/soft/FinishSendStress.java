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
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Row M5, the fences in {@code Completer.finish} and {@code CompletionChannel.consume}: a thread completes a work request while
 * the polling thread of the same end arms its queue and looks for completions once more. Both ends are those of soft.
 *
 * <p>On x86-64, with {@code run.sh --one-jvm --without-fence Completer:1 'FinishSendStress$'}: 658 of 2,824,337 results were
 * forbidden; with the fence none of 1,429,137. The fence in {@code CompletionChannel.consume} follows a volatile store, so that
 * x86-64 does not show it; with a release store there, and without the fence, 406 of 1,089,297 results were forbidden.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "The completion is not found, and the queue does not fire.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The completion is found, or the queue fires.")
@State
public class FinishSendStress {
    private static final int SKEW = 40;
    private static final Turns<Pair> PAIRS = new Turns<>(Pair::new);

    private final Pair pair = PAIRS.next();

    /** Leaves no completion, and a queue that has fired. */
    public FinishSendStress() {
        pair.settle();
        Pair.fire(pair.client);
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

    /**
     * The same two words without the fence of the executing thread. On x86-64, {@code run.sh --one-jvm WithoutFence}
     * showed 1,058 of 527,633 results that the fence prevents.
     */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE_INTERESTING, desc = "What the fence prevents.")
    @Outcome(expect = Expect.ACCEPTABLE, desc = "One side observes the other.")
    @State
    public static class WithoutFence {
        private static final VarHandle TAIL = tail();

        private final long armed = Words.next();
        private long tail;

        private static VarHandle tail() {
            try {
                return MethodHandles.lookup().findVarHandle(WithoutFence.class, "tail", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        /** The executing thread. */
        @Actor
        public void write(II_Result r) {
            TAIL.setRelease(this, 1L);
            r.r2 = Memory.getInt(armed);
        }

        /** The polling thread. */
        @Actor
        public void poll(II_Result r) {
            Memory.putIntVolatile(armed, 1);
            Memory.fullFence();
            r.r1 = (int) (long) TAIL.getAcquire(this);
        }
    }
}
