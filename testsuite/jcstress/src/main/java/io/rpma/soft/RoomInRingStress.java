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
import io.rpma.posix.Memory;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Row M4, the fences in {@code SharedReceiveAttachment.advance} and {@code Requester.announce}: the owner of a ring that is full
 * polls a completion, while its peer sends, finds no room and announces that it waits. Both ends are those of soft.
 *
 * <p>x86-64 cannot show the owner's fence: between the store and the fence, a compare-and-set adds the slot of the completion to
 * the list of free slots. Without the fence, 0 of 5,158,225 results were forbidden.
 */
@JCStressTest
@Outcome(id = "0", expect = Expect.FORBIDDEN, desc = "The send waits forever: it has found no room, and is not woken.")
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "The message is sent.")
@State
public class RoomInRingStress {
    // The ring of completions has at most 256 entries.
    private static final int SLOTS = 512;
    private static final Turns<SharedPair> PAIRS = new Turns<>(() -> SharedPair.connect(SLOTS, 0));

    private final SharedPair pair = PAIRS.next();
    private final WorkCompletions one = new WorkCompletions(1);

    /** Leaves a full ring, and a receive for another message. */
    public RoomInRingStress() {
        Memory.fullFence();
        pair.server.wakePeer();
        int room = pair.server.ringCapacity() - pair.server.responder().ready(pair.server.ringCapacity());
        while (room > 0) {
            pair.receiveShared();
            pair.send();
            room--;
        }
        // Only sends are polled, because the completions must stay in the ring.
        int count = 1;
        while (count > 0) {
            count = pair.client.sends().poll(pair.batch, 0, 1);
        }
        pair.receiveShared();
    }

    /** The owner. */
    @Actor
    public void poll() {
        pair.server.responder().poll(one, 0);
    }

    /** The peer. */
    @Actor
    public void send() {
        pair.send();
    }

    /** Checks whether the send has completed. */
    @Arbiter
    public void isSent(I_Result r) {
        r.r1 = pair.client.sends().ready();
    }
}
