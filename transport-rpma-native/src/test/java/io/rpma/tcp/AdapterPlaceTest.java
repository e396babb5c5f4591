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

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests who adds a connection to the list of the adapter's thread. */
@Timeout(60)
class AdapterPlaceTest {
    private static final int ROUNDS = 200_000;
    private static final int END = Integer.MAX_VALUE;
    private static final long TIME = TimeUnit.SECONDS.toNanos(3);

    private final AdapterPlace place = new AdapterPlace(null);
    private final AtomicInteger round = new AtomicInteger();
    private final AtomicInteger added = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();

    @Test
    void aConnectionThatIsListedIsNotAddedAgain() {
        assertTrue(place.enter());
        assertTrue(place.isListed());
        assertFalse(place.enter());
        place.leave();
        assertFalse(place.isListed());
        assertTrue(place.enter());
    }

    /** The data that arrives on an idle connection wakes its owner and the adapter's thread, and both add it to the list. */
    @Test
    void oneOfTwoThreadsAddsAConnection() throws Exception {
        Thread other = Thread.ofPlatform().daemon().start(this::follow);
        long start = System.nanoTime();
        for (int i = 1; i <= ROUNDS && System.nanoTime() - start < TIME; i++) {
            round.set(i);
            enter();
            while (done.get() < 2 * i) {
                Thread.onSpinWait();
            }
            assertEquals(i, added.get());
            place.leave();
        }
        round.set(END);
        other.join();
    }

    /** Enters the connection in each round. */
    private void follow() {
        for (int i = 1; true; i++) {
            int now = round.get();
            while (now < i) {
                Thread.onSpinWait();
                now = round.get();
            }
            if (now == END) {
                return;
            }
            enter();
        }
    }

    private void enter() {
        if (place.enter()) {
            added.incrementAndGet();
        }
        done.incrementAndGet();
    }
}
