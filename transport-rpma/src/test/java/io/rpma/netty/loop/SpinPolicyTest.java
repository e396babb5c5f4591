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

package io.rpma.netty.loop;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests when a loop polls: in single cases, and for any mixture of waits against a count of the failures in a row. */
class SpinPolicyTest {
    private static final long POLL_NANOS = 50_000;
    private static final long WAKE_UP_NANOS = 60_000;
    private static final int LONGEST_PAUSE = 256;

    @Test
    void pollingGoesOnWhileItPays() {
        SpinPolicy policy = new SpinPolicy(POLL_NANOS);
        for (int i = 0; i < 100; i++) {
            assertTrue(policy.pays());
            policy.paid();
        }
    }

    @Test
    void eachFailureInARowCostsTwiceAsManyBlockedWaits() {
        SpinPolicy policy = new SpinPolicy(POLL_NANOS);
        int expected = 1;
        for (int failure = 0; failure < 12; failure++) {
            assertTrue(policy.pays());
            policy.failed();
            int blocked = 0;
            while (!policy.pays()) {
                policy.blocked(20_000);
                blocked++;
            }
            assertEquals(expected, blocked);
            expected = Math.min(256, 2 * expected);
        }
        policy.paid();
        policy.failed();
        policy.blocked(20_000);
        assertTrue(policy.pays(), "polling pays again, so the failures are forgotten");
    }

    @Test
    void waitsThatPollingCouldNotHaveEndedDoNotCount() {
        SpinPolicy policy = new SpinPolicy(POLL_NANOS);
        policy.failed();
        for (int i = 0; i < 1000; i++) {
            policy.blocked(1_000_000);
            assertFalse(policy.pays());
        }
    }

    @Test
    void aLongYieldEndsYieldingForSixtyFourTimesAsLong() {
        SpinPolicy policy = new SpinPolicy(POLL_NANOS);
        long now = System.nanoTime();
        policy.yielded(now, 50_000);
        assertFalse(policy.isContended(now), "other loops with short tasks do not count");
        policy.yielded(now, 3_000_000);
        assertTrue(policy.isContended(now));
        assertTrue(policy.isContended(now + 64 * 3_000_000 - 1));
        assertFalse(policy.isContended(now + 64 * 3_000_000));
    }

    private enum Outcome { POLLED_WITH_SUCCESS, POLLED_IN_VAIN, BLOCKED }

    private record Turn(Outcome outcome, long nanos, int times) {
    }

    @Provide
    static Arbitrary<List<Turn>> turns() {
        return Combinators.combine(
                Arbitraries.frequency(Tuple.of(1, Outcome.POLLED_WITH_SUCCESS), Tuple.of(12, Outcome.POLLED_IN_VAIN),
                    Tuple.of(12, Outcome.BLOCKED)),
                Arbitraries.longs().between(0, 400_000), Arbitraries.integers().between(1, 300))
            .as(Turn::new).withoutEdgeCases().list().ofMaxSize(100);
    }

    @Property(tries = 200)
    void pollingIsTriedAgainAfterAsManyPromisingWaitsAsItFailedFor(@ForAll @LongRange(min = 1, max = 200_000) long maxNanos,
            @ForAll("turns") List<Turn> turns) {
        SpinPolicy policy = new SpinPolicy(maxNanos);
        int failures = 0;
        int waits = 0;
        for (Turn turn : turns) {
            assertEquals(waits == 0, policy.pays());
            // A loop polls if that pays, and blocks otherwise.
            if (waits > 0) {
                for (int i = 0; i < turn.times && waits > 0; i++) {
                    policy.blocked(turn.nanos);
                    waits -= turn.nanos <= maxNanos + WAKE_UP_NANOS ? 1 : 0;
                }
            } else if (turn.outcome == Outcome.POLLED_WITH_SUCCESS) {
                policy.paid();
                failures = 0;
            } else if (turn.outcome == Outcome.POLLED_IN_VAIN) {
                policy.failed();
                waits = failures < 8 ? 1 << failures : LONGEST_PAUSE;
                failures++;
            } else {
                policy.blocked(turn.nanos);
            }
        }
        for (int i = 0; i < LONGEST_PAUSE; i++) {
            policy.blocked(0);
        }
        assertTrue(policy.pays(), "after the longest pause");
    }
}
