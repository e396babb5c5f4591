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

import io.rpma.soft.shared.Half;
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
 * Row M11, the first fence in {@code Responder.post}: a thread posts a receive while another one fails the queue pair and looks
 * for receives to flush. The thread that posts and the queue are those of soft. The store of the state is part of this case,
 * because a queue pair stays in the error state; it is the same as in {@code QueuePair.fail}. The words are like those of {@link
 * PostReceiveStress.WithoutFence}.
 *
 * <p>On x86-64, with {@code run.sh --one-jvm --without-fence Responder:1 'PostInErrorStress$'}: 2,484 of 1,797,457 results were
 * forbidden; with the fence none of 3,982,545.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "The receive is not flushed, and no thread is woken to flush it.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The receive is flushed, or the queue fires.")
@State
public class PostInErrorStress {
    private static final VarHandle STATE = state();
    private static final Turns<Pair> PAIRS = new Turns<>(Pair::new);

    private final Pair pair = PAIRS.next();

    /** Leaves no receive, and a queue pair that is ready and armed. */
    public PostInErrorStress() {
        STATE.setVolatile(pair.server, Half.READY);
        if (pair.server.responder().receives().outstanding() > 0) {
            pair.send();
        }
        pair.settle();
        pair.serverQueue.consume(null);
    }

    private static VarHandle state() {
        try {
            return MethodHandles.privateLookupIn(LocalEnd.class, MethodHandles.lookup())
                .findVarHandle(LocalEnd.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The thread that posts. */
    @Actor
    public void post() {
        pair.receive();
    }

    /** The thread that fails the queue pair, and then polls. */
    @Actor
    public void fail(II_Result r) {
        STATE.compareAndSet(pair.server, Half.READY, Half.ERROR);
        r.r1 = pair.server.responder().receives().outstanding();
    }

    /** Checks whether the queue has fired. */
    @Arbiter
    public void hasFired(II_Result r) {
        r.r2 = pair.serverQueue.hasFired() ? 1 : 0;
    }
}
