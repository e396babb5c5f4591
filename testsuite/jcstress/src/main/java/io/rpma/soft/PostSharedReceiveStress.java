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
import io.rpma.soft.shared.PostedReceives;
import io.rpma.soft.shared.RegionTable;
import io.rpma.soft.shared.SharedMemory;
import io.rpma.soft.shared.SharedReceives;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Row M24, the fence in {@code PostedReceives.post}: an owner posts a receive to a shared receive queue while an initiator that
 * has found none announces that it waits, and searches once more. The class of the owner and the search are those of soft. The
 * fence of the initiator is part of this case, and is the same as in {@code Requester.announce}.
 *
 * <p>On x86-64, with {@code run.sh --one-jvm --without-fence PostedReceives:1 'PostSharedReceiveStress$'}: 2,334 of 5,445,521
 * results were forbidden; with the fence none of 21,201 in the same time on a busier machine.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "The receive is not found, and no initiator is woken.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The initiator finds the receive, or the owner finds that an initiator waits.")
@State
public class PostSharedReceiveStress {
    private static final int CAPACITY = 2;
    private static final Turns<Queue> QUEUES = new Turns<>(Queue::new);

    private final Queue queue = QUEUES.next();
    private final PostedReceives receives = queue.receives();

    /** The memory of a shared receive queue. */
    private static final class Queue {
        private final SharedMemory posted = SharedMemory.create("jcstress-posted", SharedReceives.postedSize(CAPACITY));
        private final SharedMemory shared = SharedMemory.create("jcstress-shared", SharedReceives.size(CAPACITY));
        private final ReceiveWaiters waiters = new ReceiveWaiters(shared.address(), new AttachmentTable(shared.address()));
        private final SharedReceives view = new SharedReceives(1, posted, shared, CAPACITY, null);

        private Queue() throws Exception {
        }

        /** Returns the owner's side of an empty queue, for which no initiator waits. */
        private PostedReceives receives() {
            Memory.putInt(shared.address() + SharedReceives.WAITING, 0);
            return new PostedReceives(1, CAPACITY, posted.address(), shared.address(), 0, waiters::wake, () -> { });
        }
    }

    /** The owner. */
    @Actor
    public void post() {
        receives.post(1, RegionTable.NO_REGION, 0, 0);
    }

    /** The initiator. */
    @Actor
    public void announce(II_Result r) {
        queue.view.announceWaiting(0);
        Memory.fullFence();
        r.r1 = queue.view.findOrSearch() != 0 ? 1 : 0;
    }

    /** The owner resets the word if it finds that an initiator waits. */
    @Arbiter
    public void isWoken(II_Result r) {
        r.r2 = Memory.getInt(queue.shared.address() + SharedReceives.WAITING) == 0 ? 1 : 0;
    }

    /**
     * The same two words without the owner's fence. On x86-64, {@code run.sh --one-jvm WithoutFence} showed
     * 4,514 of 543,185 results that the fence prevents.
     */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE_INTERESTING, desc = "What the fence prevents.")
    @Outcome(expect = Expect.ACCEPTABLE, desc = "One side observes the other.")
    @State
    public static class WithoutFence {
        private final long entry = Words.next();
        private final long waiting = entry + Words.SECOND;

        /** The owner. */
        @Actor
        public void post(II_Result r) {
            Memory.putLongRelease(entry, 1);
            r.r2 = Memory.getInt(waiting);
        }

        /** The initiator. */
        @Actor
        public void announce(II_Result r) {
            Memory.putIntVolatile(waiting, 1);
            Memory.fullFence();
            r.r1 = (int) Memory.getLongAcquire(entry);
        }
    }
}
