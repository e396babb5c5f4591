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

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the decision whether a loop pauses while it receives large amounts of data. The clock is simulated. */
class ReceiveModerationTest {
    private static final int PART = 64 << 10;
    private static final long PHASE = ReceiveModeration.PHASE * ReceiveModeration.WINDOW_BYTES;

    private long now = -5;
    private final ReceiveModeration moderation = new ReceiveModeration(now);

    /** Receives this amount of data, and returns in how many of 100 parts of it the loop paused. */
    private int percentPaused(long bytes, double pollingRate, double pausingRate) {
        int paused = 0;
        int parts = (int) (bytes / PART);
        for (int i = 0; i < parts; i++) {
            boolean pauses = moderation.isPauseDue(now);
            paused += pauses ? 1 : 0;
            now += (long) (PART / (pauses ? pausingRate : pollingRate));
            moderation.received(PART);
        }
        return 100 * paused / parts;
    }

    @Test
    void fastDataIsModerated() {
        percentPaused(3 * PHASE, 2, 2);
        int paused = percentPaused(200 * PHASE, 2, 2);
        assertTrue(paused >= 95 && paused < 100, () -> paused + " %");
    }

    @Test
    void pausesEndIfTheyDelayTheData() {
        percentPaused(3 * PHASE, 2, 1.6);
        int paused = percentPaused(200 * PHASE, 2, 1.6);
        assertTrue(paused > 0 && paused <= 5, () -> paused + " %");
        // The flow changes, for example because another peer sends now.
        percentPaused(200 * PHASE, 2, 2);
        assertTrue(percentPaused(63 * PHASE, 2, 2) > 90);
    }

    /** Another thread that uses the processor during some windows does not make the loop change its mind. */
    @Test
    void slowWindowsDoNotCount() {
        percentPaused(3 * PHASE, 2, 2);
        int paused = 0;
        for (int i = 0; i < 200; i++) {
            paused += percentPaused(PHASE - ReceiveModeration.WINDOW_BYTES, 2, 2);
            percentPaused(ReceiveModeration.WINDOW_BYTES, 1, 1);
        }
        int percent = paused / 200;
        assertTrue(percent > 90, () -> percent + " %");
    }

    @Test
    void slowDataIsNotModerated() {
        assertEquals(0, percentPaused(20 * PHASE, 0.4, 0.4));
    }

    @Test
    void theFirstDataAfterAnIdleTimeIsNotModerated() {
        percentPaused(3 * PHASE, 2, 2);
        assertTrue(moderation.isPauseDue(now));
        now += 10 * ReceiveModeration.WINDOW_NANOS;
        assertFalse(moderation.isPauseDue(now));
        assertEquals(0, percentPaused(PHASE, 2, 2));
    }

    @Test
    void aLoopThatIsNeverIdleIsMeasuredWhenItIsIdleAgain() {
        for (int i = 0; i < ReceiveModeration.PHASE; i++) {
            assertFalse(moderation.isPauseDue(now));
            moderation.received(10 * ReceiveModeration.WINDOW_BYTES);
            now += 5 * ReceiveModeration.WINDOW_NANOS;
        }
        assertTrue(moderation.isPauseDue(now));
    }
}
