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

import io.rpma.RpmaException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the posted receives of a shared receive queue. */
@Timeout(60)
class ReceiveStackTest {
    private static final int SIZE = 8;
    private static final int THREADS = 4;
    private static final int TURNS = 200_000;

    private final ReceiveStack receives = new ReceiveStack(SIZE);

    @Test
    void theLastOneIsTakenFirst() throws Exception {
        Receives.Taken taken = new Receives.Taken();
        assertTrue(receives.isEmpty());
        assertFalse(receives.take(taken));
        for (int round = 0; round < 3; round++) {
            for (int i = 1; i <= SIZE; i++) {
                receives.post(null, i, 2 * i, 3 * i);
            }
            RpmaException full = assertThrows(RpmaException.class, () -> receives.post(null, 0, 0, 0));
            assertTrue(full.getMessage().contains(SIZE + " of " + SIZE + " slots are posted"), full.getMessage());
            for (int i = SIZE; i > 0; i--) {
                assertFalse(receives.isEmpty());
                assertTrue(receives.take(taken));
                assertEquals(List.of((long) i, 2L * i, 3L * i), List.of(taken.offset, taken.length, taken.context));
            }
            assertFalse(receives.take(taken));
        }
        assertTrue(receives.giveBack(taken));
        assertTrue(receives.take(taken));
        assertEquals(3, taken.context);
    }

    /** Several threads take receives and post them again. No two threads have one at the same time, and none is lost. */
    @Test
    void noReceiveIsTakenTwiceOrLost() throws Exception {
        AtomicIntegerArray users = new AtomicIntegerArray(SIZE);
        for (int i = 0; i < SIZE; i++) {
            receives.post(null, i, i, i);
        }
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                // Three receives at a time for each of the threads are more than there are.
                running.add(threads.submit(() -> {
                    Receives.Taken[] taken = {new Receives.Taken(), new Receives.Taken(), new Receives.Taken()};
                    for (int turn = 0; turn < TURNS; turn++) {
                        int count = 0;
                        while (count < taken.length && receives.take(taken[count])) {
                            int number = (int) taken[count].context;
                            assertEquals(1, users.incrementAndGet(number));
                            assertEquals(number, taken[count].offset);
                            assertEquals(number, taken[count].length);
                            count++;
                        }
                        while (count > 0) {
                            count--;
                            users.decrementAndGet((int) taken[count].context);
                            assertTrue(receives.giveBack(taken[count]));
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> each : running) {
                each.get(50, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
        Receives.Taken taken = new Receives.Taken();
        long seen = 0;
        while (receives.take(taken)) {
            seen |= 1L << taken.context;
        }
        assertEquals((1L << SIZE) - 1, seen);
    }
}
