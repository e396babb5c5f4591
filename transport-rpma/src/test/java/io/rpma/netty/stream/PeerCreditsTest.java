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

package io.rpma.netty.stream;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the credits of a peer against three counters, whose sum never changes. */
class PeerCreditsTest {
    private enum Step { MESSAGE, POST_AGAIN, RETURN }

    private record Call(Step step, int receives) {
    }

    @Provide
    static Arbitrary<List<Call>> calls() {
        return Combinators.combine(Arbitraries.of(Step.MESSAGE, Step.MESSAGE, Step.POST_AGAIN, Step.RETURN),
            Arbitraries.integers().between(1, 4)).as(Call::new).withoutEdgeCases().list().ofMaxSize(200);
    }

    @Property(tries = 200)
    void noCreditIsLostAndNoneIsSpentTwice(@ForAll @IntRange(min = 1, max = 20) int total, @ForAll("calls") List<Call> calls) {
        PeerCredits credits = new PeerCredits(total);
        int held = total;
        int read = 0;
        int returnable = 0;
        for (Call call : calls) {
            switch (call.step) {
                case MESSAGE -> {
                    if (held == 0) {
                        assertFalse(credits.spend(), "the peer has no credit left");
                        return;
                    }
                    assertTrue(credits.spend());
                    held--;
                    read++;
                }
                case POST_AGAIN -> {
                    int receives = Math.min(call.receives, read);
                    credits.add(receives);
                    read -= receives;
                    returnable += receives;
                }
                case RETURN -> {
                    assertEquals(returnable, credits.take());
                    held += returnable;
                    returnable = 0;
                }
            }
            assertEquals(2 * returnable >= total, credits.areDue());
        }
        assertEquals(returnable, credits.take());
        for (held += returnable; held > 0; held--) {
            assertTrue(credits.spend());
        }
        assertFalse(credits.spend());
    }

    /** If no credits were due in this state, both ends would wait for each other forever. */
    @Property(tries = 200)
    void creditsAreDueToAPeerWithoutAnyOnceAllReceivesArePosted(@ForAll @IntRange(min = 1, max = Immediate.MAX_CREDITS) int total,
            @ForAll @IntRange(max = Immediate.MAX_CREDITS) int early) {
        PeerCredits credits = new PeerCredits(total);
        int returned = Math.min(early, total);
        for (int i = 0; i < returned; i++) {
            assertTrue(credits.spend());
            credits.add(1);
        }
        assertEquals(returned, credits.take());
        for (int i = 0; i < total; i++) {
            assertTrue(credits.spend());
        }
        assertFalse(credits.areDue());
        credits.add(total);
        assertTrue(credits.areDue());
        assertEquals(total, credits.take());
    }
}
