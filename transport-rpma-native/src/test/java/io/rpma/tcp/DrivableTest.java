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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the mark by which a driving thread leaves work to the adapter's thread. */
@Timeout(120)
class DrivableTest {
    private static final int MARKS = 1_000_000;
    private static final long TIME = TimeUnit.SECONDS.toNanos(3);
    private static final long LONG = TimeUnit.SECONDS.toNanos(30);

    private volatile int taken;
    private volatile boolean done;

    /** A queue pair that does nothing. */
    private static final class Idle extends Drivable {
        @Override
        void run(int todo) {
        }
    }

    /** The holder may set the mark at any moment while the adapter looks for it. */
    @Test
    void noMarkIsLost() throws Exception {
        Idle pair = new Idle();
        Thread adapter = Thread.ofPlatform().start(() -> {
            while (!done) {
                if (pair.takeHurry()) {
                    taken++;
                }
            }
        });
        try {
            long start = System.nanoTime();
            for (int i = 0; i < MARKS && System.nanoTime() - start < TIME; i++) {
                pair.hurried = true;
                long since = System.nanoTime();
                while (taken == i) {
                    assertTrue(System.nanoTime() - since < LONG, "mark " + i + " was lost");
                    Thread.onSpinWait();
                }
            }
        } finally {
            done = true;
            adapter.join();
        }
    }
}
