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
package io.rpma.benchmark;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ProcessorDistanceTest {
    @Test
    @Timeout(120)
    void measuresTheProcessorsOfThisMachine() throws Exception {
        double nanos = new ProcessorDistance().nanos();
        if (Runtime.getRuntime().availableProcessors() == 1) {
            assertEquals(0, nanos);
        } else {
            // No cache line goes anywhere in less than a few cycles. There is no upper bound on a busy machine.
            assertTrue(nanos > 5, () -> nanos + " ns");
        }
    }

    @Test
    void aRunBelongsToADistanceOnlyIfTheProcessorsStayed() {
        assertEquals(Distance.NEAR, Distance.of(90, 120));
        assertEquals(Distance.FAR, Distance.of(600, 680));
        assertEquals(Distance.CHANGING, Distance.of(90, 640));
        assertEquals(Distance.CHANGING, Distance.of(640, 90));
        assertEquals(Distance.CHANGING, Distance.of(40, 90));
        assertEquals(Distance.CHANGING, Distance.of(240, 260));
        assertEquals(Distance.NONE, Distance.of(0, 0));
    }
}
