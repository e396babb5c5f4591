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
import io.rpma.posix.Sockets;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Row M26, the fence in {@code SharedReceiveCompletionQueue.consume}: the owner of a shared receive queue arms its completion
 * queue and looks at the ring, while an initiator publishes a completion and rings. Both ends are those of soft. (On x86-64, the
 * initiator's fence in {@code Completer.finish} is not needed to order the accesses, because the one in {@code
 * Requester.markDelivered} lies between them as well.)
 *
 * <p>On x86-64, with {@code run.sh --one-jvm --without-fence SharedReceiveCompletionQueue:1 'SharedArmingStress$'}: 5 of 505,617
 * results were forbidden; with the fence none.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "The completion is not found, and the initiator does not signal.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The completion is found, or the initiator signals.")
@State
public class SharedArmingStress {
    private static final int SLOTS = 4;
    private static final int SKEW = 40;
    private static final Turns<SharedPair> PAIRS = new Turns<>(() -> SharedPair.connect(SLOTS, 4 * SLOTS));

    private final SharedPair pair = PAIRS.next();
    private final SharedReceiveCompletionQueue queue = pair.shared.completions();

    /** Leaves one receive, an empty ring that is polled, and a queue that has fired. */
    public SharedArmingStress() {
        pair.write();
        pair.settleShared();
        pair.setReady();
        pair.receiveShared();
        pair.client.remote().receiveDoorbell().ring();
        if (!isReadable()) {
            queue.channel().event().signal();
        }
    }

    private boolean isReadable() {
        return Sockets.poll(queue.fd(), (short) Sockets.EPOLLIN, 0) > 0;
    }

    /** The initiator. */
    @Actor
    public void send() {
        Words.skew(SKEW);
        pair.sendSilently();
    }

    /** The owner. */
    @Actor
    public void arm(II_Result r) {
        queue.consume();
        r.r1 = pair.attachment.isEmpty() ? 0 : 1;
    }

    /** Checks whether the descriptor is readable. The owner has read everything that was there before. */
    @Arbiter
    public void isSignalled(II_Result r) {
        r.r2 = isReadable() ? 1 : 0;
    }

    /**
     * The same two words without the fence of the owner. On x86-64, {@code run.sh --one-jvm WithoutFence} showed 495
     * of 402,897 results that the fence prevents.
     */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE_INTERESTING, desc = "What the fence prevents.")
    @Outcome(expect = Expect.ACCEPTABLE, desc = "One side observes the other.")
    @State
    public static class WithoutFence {
        private final long entry = Words.next();
        private final long arming = entry + Words.SECOND;

        /** The initiator. */
        @Actor
        public void send(II_Result r) {
            Memory.putLongRelease(entry, 1);
            Memory.fullFence();
            r.r2 = (int) Memory.getLong(arming);
        }

        /** The owner. */
        @Actor
        public void arm(II_Result r) {
            Memory.putLongRelease(arming, 1);
            r.r1 = (int) Memory.getLongAcquire(entry);
        }
    }
}
