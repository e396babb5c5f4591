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

package io.rpma.netty.pair;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests results against a list of requests, for events in any order. */
class OutcomesTest {
    private enum Step { POST, REFUSE, SUCCEED, FAIL, TAKE }

    /** A request, with its result once that is known. */
    private static final class Request {
        private boolean decided;
        private Throwable cause;

        private void decide(Throwable result) {
            assertFalse(decided);
            decided = true;
            cause = result;
        }
    }

    private final List<Request> underWay = new ArrayList<>();

    @Property(tries = 200)
    void resultsComeOutInTheOrderOfTheRequestsAndEachOnce(@ForAll @IntRange(min = 1, max = 20) int most,
            @ForAll @Size(max = 200) List<Step> steps) {
        underWay.clear();
        Outcomes outcomes = new Outcomes(most);
        for (Step step : steps) {
            act(outcomes, step);
            assertEquals(!underWay.isEmpty() && underWay.getFirst().decided, outcomes.hasNext());
            assertTrue(!outcomes.isFull() || underWay.size() >= most);
        }
        // The end of the connection decides the remaining requests, so that no result is missing.
        while (oldestUndecided() != null) {
            act(outcomes, Step.FAIL);
        }
        while (outcomes.hasNext()) {
            act(outcomes, Step.TAKE);
        }
        assertEquals(0, underWay.size());
    }

    private void act(Outcomes outcomes, Step step) {
        Request undecided = oldestUndecided();
        switch (step) {
            case POST -> {
                if (!outcomes.isFull()) {
                    outcomes.post();
                    underWay.add(new Request());
                }
            }
            case REFUSE -> {
                if (!outcomes.isFull()) {
                    Request refused = new Request();
                    refused.decide(new Throwable("refused"));
                    outcomes.refuse(refused.cause);
                    underWay.add(refused);
                }
            }
            case SUCCEED, FAIL -> {
                if (undecided != null) {
                    undecided.decide(step == Step.FAIL ? new Throwable("failed") : null);
                    outcomes.end(undecided.cause);
                }
            }
            case TAKE -> {
                if (outcomes.hasNext()) {
                    assertSame(underWay.removeFirst().cause, outcomes.next());
                }
            }
        }
    }

    private Request oldestUndecided() {
        return underWay.stream().filter(request -> !request.decided).findFirst().orElse(null);
    }
}
