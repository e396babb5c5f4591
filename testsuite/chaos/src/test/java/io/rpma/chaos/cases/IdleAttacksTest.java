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

package io.rpma.chaos.cases;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests that a case fails if its hostile processes do not attack. */
class IdleAttacksTest {
    private final List<String> failures = new ArrayList<>();
    private final IdleAttacks idle = new IdleAttacks("scribble", failures::add);

    private void ended(long... actions) {
        for (long each : actions) {
            idle.ended(each);
        }
    }

    @Test
    void severalInARowAreAFailure() {
        ended(0, 0, 0);
        assertEquals(1, failures.size());
        assertTrue(failures.getFirst().contains("\"scribble\""));
    }

    @Test
    void aFewBetweenOthersAreNone() {
        ended(0, 0, 100, 0, 0, 1, 0);
        assertTrue(failures.isEmpty());
    }

    @Test
    void eachSeriesIsReported() {
        ended(0, 0, 0, 0, 0, 0);
        assertEquals(2, failures.size());
    }
}
