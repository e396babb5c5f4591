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

import io.rpma.soft.shared.PostedReceives;
import io.rpma.soft.shared.RegionTable;
import io.rpma.soft.shared.SharedMemory;
import io.rpma.soft.shared.SharedReceives;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Row M28: two initiators take the only receive of a shared receive queue. No fence is involved. The case fails on every
 * processor if the take word is not changed by a compare-and-set.
 *
 * <p>On x86-64, with a store in place of the compare-and-set in {@code SharedReceives.take}, 480,873 of 23,175,825 results were
 * forbidden; with it none.
 */
@JCStressTest
@Outcome(id = {"1, 0", "0, 1"}, expect = Expect.ACCEPTABLE, desc = "One of them takes the receive.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Both take it, or neither does.")
@State
public class TakeStress {
    private static final int CAPACITY = 2;
    private static final Turns<Queue> QUEUES = new Turns<>(Queue::new);

    private final SharedReceives view = QUEUES.next().withOneReceive();

    /** The memory of a shared receive queue. */
    private static final class Queue {
        private final SharedMemory posted = SharedMemory.create("jcstress-posted", SharedReceives.postedSize(CAPACITY));
        private final SharedMemory shared = SharedMemory.create("jcstress-shared", SharedReceives.size(CAPACITY));
        private final ReceiveWaiters waiters = new ReceiveWaiters(shared.address(), new AttachmentTable(shared.address()));
        private final SharedReceives view = new SharedReceives(1, posted, shared, CAPACITY, null);

        private Queue() throws Exception {
        }

        private SharedReceives withOneReceive() {
            new PostedReceives(1, CAPACITY, posted.address(), shared.address(), 0, waiters::wake, () -> { })
                .post(1, RegionTable.NO_REGION, 0, 0);
            return view;
        }
    }

    private int take(int index) {
        long found = view.find();
        return found != 0 && view.take(found, index) ? 1 : 0;
    }

    /** An initiator. */
    @Actor
    public void first(II_Result r) {
        r.r1 = take(0);
    }

    /** Another initiator. */
    @Actor
    public void second(II_Result r) {
        r.r2 = take(1);
    }
}
