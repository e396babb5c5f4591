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
package io.rpma.soft;

import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.ConnectionConfig;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import io.rpma.soft.shared.SharedReceives;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests a thread that sleeps between the messages of one of many connections: it does not check all rings for each message. */
@Timeout(120)
class PostponedLooksTest {
    private static final int CONNECTIONS = 80;
    private static final int SLOTS = 8;
    private static final int ROUNDS = 1000;
    /** The least time between two checks of all rings, in milliseconds. */
    private static final int INTERVAL_MILLIS = 25;

    private final Ends[] all = new Ends[CONNECTIONS];
    private final WorkCompletions batch = new WorkCompletions(SLOTS);
    private final WorkCompletions one = new WorkCompletions(1);
    private Station station;
    private SharedReceiveQueue shared;
    private CompletionQueue queue;
    private ConnectionConfig member;

    @BeforeEach
    void connect() throws RpmaException {
        station = new Station();
        shared = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig().receiveQueueSize(SLOTS)
            .receiveCompletionQueueSize(SLOTS));
        queue = shared.receiveCompletionQueue();
        member = station.provider.newConnectionConfig().sharedReceiveQueue(shared);
        for (int i = 0; i < CONNECTIONS; i++) {
            all[i] = new Ends(station, null, member);
        }
        for (int i = 0; i < SLOTS; i++) {
            post(i);
        }
        queue.consumeEvent();
        assertEquals(0, queue.poll(batch));
    }

    @AfterEach
    void close() throws RpmaException {
        for (Ends ends : all) {
            ends.closeConnections();
        }
        shared.close();
        member.close();
        station.close();
    }

    private void post(int slot) throws RpmaException {
        shared.receive(station.region, slot * 64L, 64, slot);
    }

    private void send(int connection) throws RpmaException {
        all[connection].client.send(station.region, 8192, 8, CompletionFlag.ALWAYS, connection);
        assertEquals(1, all[connection].client.completionQueue().poll(one));
        assertEquals(0, one.statusCode(0));
    }

    /** Sleeps until the queue is signalled, and polls until it is empty. Returns the number of completions. */
    private int sleepAndPoll() throws RpmaException {
        Station.awaitReadable(queue.fd(), "signal");
        assertTrue(queue.consumeEvent());
        int total = 0;
        for (int count = queue.poll(batch); count > 0; count = queue.poll(batch)) {
            for (int i = 0; i < count; i++) {
                post((int) batch.context(i));
            }
            total += count;
        }
        return total;
    }

    private void talk(int rounds) throws RpmaException {
        for (int i = 0; i < rounds; i++) {
            send(0);
            while (sleepAndPoll() == 0) {
                // The signal for an earlier message was repeated.
            }
        }
    }

    @Test
    void aSignalForACompletionDoesNotCheckAllRings() throws Exception {
        SharedReceiveCompletionQueue completions = (SharedReceiveCompletionQueue) queue;
        long before = completions.looks();
        long start = System.nanoTime();
        talk(ROUNDS);
        long intervals = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) / INTERVAL_MILLIS;
        long looks = completions.looks() - before;
        // One for each interval, one for each signal that was repeated because the owner was slow, and one for the first message.
        assertTrue(looks <= 2 * (intervals + 1) + 1,
            () -> looks + " checks for " + ROUNDS + " messages within " + intervals + " intervals");
    }

    /** The ready bit of a connection has been set by another process, so that its message is not announced. */
    @Test
    void aRingWhoseBitIsWrongIsFoundAlthoughOthersExplainTheSignal() throws Exception {
        long bits = ((SoftSharedReceiveQueue) shared).memory().address() + SharedReceives.READY;
        for (int victim = 1; victim < CONNECTIONS; victim += 13) {
            talk(2);
            Memory.getAndBitwiseOrLong(bits + (victim >>> 6) * 8L, 1L << victim);
            send(0);
            send(victim);
            int count = sleepAndPoll();
            while (count < 2) {
                count += sleepAndPoll();
            }
            assertEquals(2, count);
        }
    }
}
