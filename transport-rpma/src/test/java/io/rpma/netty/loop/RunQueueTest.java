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

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests whether a loop notices that other threads want its processor. */
class RunQueueTest {
    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private long waited;
    private int asked;

    private long waitedNanos() {
        asked++;
        return waited;
    }

    @Test
    void aLoopThatWaitsForMoreThanAnEighthOfTheTimeIsCrowded() {
        RunQueue queue = new RunQueue(this::waitedNanos);
        assertFalse(queue.isCrowded(0));
        waited = MILLI;
        assertFalse(queue.isCrowded(10 * MILLI));
        waited += 2 * MILLI;
        assertTrue(queue.isCrowded(20 * MILLI));
        assertFalse(queue.isCrowded(30 * MILLI));
    }

    @Test
    void theKernelIsNotAskedAgainAndAgain() {
        RunQueue queue = new RunQueue(this::waitedNanos);
        assertFalse(queue.isCrowded(0));
        waited = 5 * MILLI;
        assertTrue(queue.isCrowded(10 * MILLI));
        waited = 50 * MILLI;
        for (long now = 10 * MILLI; now < 12 * MILLI; now += MILLI / 10) {
            assertTrue(queue.isCrowded(now));
        }
        assertTrue(asked == 2);
    }

    @Test
    void withoutTheKernelsWordThereIsNoCrowd() {
        RunQueue queue = new RunQueue(() -> -1);
        for (long now = 0; now < 100 * MILLI; now += 10 * MILLI) {
            assertFalse(queue.isCrowded(now));
        }
    }

    @Test
    void theKernelTells() throws InterruptedException {
        RunQueue queue = RunQueue.ofThisThread();
        // The result depends on the machine. The method may be called any number of times, and after the end of the loop as well.
        for (int i = 0; i < 100; i++) {
            queue.isCrowded(i * 10 * MILLI);
        }
        queue.close();
        assertFalse(queue.isCrowded(2_000 * MILLI));
        assertFalse(queue.isCrowded(3_000 * MILLI));
    }
}
