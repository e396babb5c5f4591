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
package io.rpma.tcp;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** Tests when a message has held a receive for too long. */
class MessageDeadlineTest {
    private static final long NANOS = 1_000;
    private static final long INTERVAL = 100;
    // System.nanoTime() may return any value.
    private static final long START = Long.MAX_VALUE - 5 * NANOS;

    private final MessageDeadline deadline = new MessageDeadline();

    /** Checks a message, which does not arrive any further, until its time has passed. Returns how long that took. */
    private long timeOf(long message, long bytesLeft, long begin) {
        long now = begin;
        while (!deadline.hasPassed(message, bytesLeft, now, NANOS)) {
            now += INTERVAL;
        }
        return now - begin;
    }

    @Test
    void eachMessageHasTheWholeTimeFromItsFirstCheckOn() {
        assertEquals(NANOS, timeOf(1, 5, START));
        assertEquals(NANOS, timeOf(2, 5, START + NANOS + INTERVAL));
    }

    @Test
    void onlyProgressProlongsTheTime() {
        long left = 10 * MessageDeadline.LEAST_BYTES;
        assertFalse(deadline.hasPassed(1, left, START, NANOS));
        assertFalse(deadline.hasPassed(1, left - 1, START + INTERVAL, NANOS));
        assertFalse(deadline.hasPassed(1, left - MessageDeadline.LEAST_BYTES, START + 2 * INTERVAL, NANOS));
        assertEquals(NANOS - INTERVAL, timeOf(1, left - MessageDeadline.LEAST_BYTES - 1, START + 3 * INTERVAL));
    }

    /** Between two shortages of receives, nobody waits for the receive of a message. */
    @Test
    void aLaterShortageGivesAMessageTheWholeTimeAgain() {
        assertFalse(deadline.hasPassed(1, 5, START, NANOS));
        assertFalse(deadline.hasPassed(1, 5, START + INTERVAL, NANOS));
        assertEquals(NANOS, timeOf(1, 5, START + 3 * NANOS));
    }
}
