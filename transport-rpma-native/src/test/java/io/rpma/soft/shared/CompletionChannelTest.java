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

import io.rpma.posix.Memory;
import io.rpma.posix.Sockets;
import io.rpma.soft.Station;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests that a queue which has fired, and was not armed again, keeps the descriptor readable. Otherwise its owner would sleep
 * forever.
 */
@Timeout(120)
class CompletionChannelTest {
    private static final int ROUNDS = Station.affordable(20_000);
    /** The time limit of a test. Each round needs both threads at the same time, which may take long on a busy machine. */
    private static final long MOST_NANOS = 3_000_000_000L;
    /**
     * The maximum number of spins between the write of the first firing and the second firing. The owner reads the count
     * somewhere in between.
     */
    private static final int MOST_SPINS = 400;
    private static final int DEADLINE_MILLIS = 30_000;

    private Arena arena;
    private long first;
    private long second;
    private CompletionChannel channel;
    /** Whether the ringing thread waits for the owner before it writes. */
    private volatile boolean late;

    @BeforeEach
    void open() throws Exception {
        arena = Arena.ofShared();
        first = arena.allocate(2 * Memory.APART, Memory.APART).address();
        second = first + Memory.APART;
        Memory.putInt(first, Doorbell.ARMED);
        Memory.putInt(second, Doorbell.ARMED);
        channel = new CompletionChannel();
    }

    @AfterEach
    void close() {
        channel.close();
        arena.close();
    }

    private boolean isReadable(int millis) {
        return Sockets.poll(channel.fd(), (short) Sockets.EPOLLIN, millis) > 0;
    }

    /**
     * The write of a firing is late: the owner has already seen that the queue fired, and has armed it again. While the owner
     * then reads the late count, a queue fires once more, and the owner reads both counts at once.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFiringThatIsReadAlongIsNotForgotten(boolean two) throws Exception {
        long again = two ? second : first;
        long other = two ? second : 0;
        Thread ringer = new Thread(() -> ring(again));
        ringer.start();
        try {
            while (ringer.isAlive()) {
                consume(first, other);
                if (two) {
                    consume(second, first);
                }
            }
        } finally {
            ringer.interrupt();
            ringer.join();
        }
        // At most one event of each queue is left. After these calls there is none, and the descriptor is not readable.
        channel.consume(first, other);
        if (two) {
            channel.consume(second, first);
            channel.consume(first, second);
        }
        assertFalse(isReadable(0));
    }

    private void consume(long armed, long other) {
        channel.consume(armed, other);
        if ((CompletionChannel.hasFired(armed) || other != 0 && CompletionChannel.hasFired(other)) && !late) {
            assertTrue(isReadable(DEADLINE_MILLIS), "a queue has fired, and its owner is not notified");
        }
    }

    private void ring(long again) {
        long end = System.nanoTime() + MOST_NANOS;
        for (int round = 0; round < ROUNDS && System.nanoTime() - end < 0 && !Thread.interrupted(); round++) {
            late = true;
            Memory.casInt(first, Doorbell.ARMED, Doorbell.FIRED);
            while (CompletionChannel.hasFired(first) && !Thread.currentThread().isInterrupted()) {
                Station.pause();
            }
            channel.event().signal();
            late = false;
            for (int spin = round % MOST_SPINS; spin > 0; spin--) {
                Thread.onSpinWait();
            }
            new Doorbell(again, channel.event()).ring();
            while (CompletionChannel.hasFired(again) && !Thread.currentThread().isInterrupted()) {
                Station.pause();
            }
        }
    }

    /** Counts that a peer writes without firing are discarded, and counts that it writes later are still read. */
    @Test
    void countsThatNobodyFiredForAreDropped() throws Exception {
        Doorbell doorbell = new Doorbell(first, channel.event());
        doorbell.ring();
        for (int i = 0; i < 5; i++) {
            channel.event().signal();
        }
        assertTrue(channel.consume(first, 0));
        assertFalse(isReadable(0));
        for (int i = 0; i < 3; i++) {
            // The queue has fired, and the peer writes the count only after the owner has consumed the event.
            assertTrue(Memory.casInt(first, Doorbell.ARMED, Doorbell.FIRED));
            assertTrue(channel.consume(first, 0));
            channel.event().signal();
            assertTrue(isReadable(0));
            assertFalse(channel.consume(first, 0));
            assertFalse(isReadable(0));
            assertEquals(Doorbell.ARMED, Memory.getInt(first));
        }
    }
}
