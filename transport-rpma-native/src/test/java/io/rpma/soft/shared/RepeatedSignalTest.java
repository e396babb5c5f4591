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
package io.rpma.soft.shared;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests when a signal is given again, and when not. */
@Timeout(120)
class RepeatedSignalTest {
    private EventPipe event;

    @BeforeEach
    void open() throws Exception {
        event = EventPipe.create();
    }

    @AfterEach
    void close() {
        event.release();
    }

    /** The check runs after the owner has emptied the descriptor, and before the owner has changed the condition. */
    @Test
    void ownerInTheMiddleOfItsReactionIsNotSignalledAgain() throws Exception {
        AtomicInteger evaluations = new AtomicInteger();
        CountDownLatch ended = new CountDownLatch(1);
        RepeatedSignal signal = new RepeatedSignal(event, () -> {
            if (evaluations.incrementAndGet() == 1) {
                event.read();
                return true;
            }
            if (evaluations.get() == 3) {
                ended.countDown();
            }
            return false;
        });
        signal.signal();
        assertTrue(ended.await(60, TimeUnit.SECONDS), "the condition is not checked");
        assertTrue(event.isEmpty(), "the owner is signalled although it has reacted");
    }

    @Test
    void ownerThatMissedTheSignalIsSignalledAgain() throws Exception {
        RepeatedSignal signal = new RepeatedSignal(event, () -> true);
        signal.signal();
        for (int round = 0; round < 3; round++) {
            assertTrue(event.read() > 0);
            while (event.isEmpty()) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
    }

    /** An owner that is stopped finds one signal when it continues. */
    @Test
    void signalsDoNotAccumulate() throws Exception {
        CountDownLatch checked = new CountDownLatch(6);
        RepeatedSignal signal = new RepeatedSignal(event, () -> {
            checked.countDown();
            return checked.getCount() > 0;
        });
        signal.signal();
        assertTrue(checked.await(60, TimeUnit.SECONDS), "the condition is not checked");
        assertEquals(1, event.read());
        assertTrue(event.isEmpty());
    }
}
