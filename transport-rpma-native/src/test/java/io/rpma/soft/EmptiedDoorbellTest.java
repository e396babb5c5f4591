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
import io.rpma.CompletionStatus;
import io.rpma.ConnectionConfig;
import io.rpma.WorkCompletions;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.soft.host.Libc;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A process that shares a receive queue reopens the pipe that wakes its owner, and takes the signals of the other processes
 * before the owner has seen them. The owner must hear of their completions nevertheless.
 */
@Timeout(120)
class EmptiedDoorbellTest {
    private static final int SLOTS = 4;

    private Station station;
    private SoftSharedReceiveQueue shared;
    private CompletionQueue queue;
    private ConnectionConfig config;
    private Ends ends;
    /** The end of the pipe that the owner sends to a process. */
    private int sent;
    private int reopened;
    private boolean serverIsClosed;

    @BeforeEach
    void open() throws Exception {
        station = new Station();
        shared = (SoftSharedReceiveQueue) station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
            .receiveQueueSize(SLOTS).receiveCompletionQueueSize(2 * SLOTS));
        queue = shared.receiveCompletionQueue();
        config = station.provider.newConnectionConfig().sharedReceiveQueue(shared);
        ends = new Ends(station, null, config);
        for (int i = 0; i < SLOTS; i++) {
            shared.receive(station.region, i * 64L, 64, i);
        }
        sent = shared.event().openForPeer();
        reopened = Libc.reopen(sent, Libc.O_RDWR);
        assertTrue(reopened >= 0);
    }

    @AfterEach
    void close() throws Exception {
        Posix.close(sent);
        Posix.close(reopened);
        ends.client.close();
        if (!serverIsClosed) {
            ends.server.close();
        }
        ends.endpoint.close();
        config.close();
        shared.close();
        station.close();
    }

    private void empty() {
        assertTrue(Libc.read(reopened, Scratch.get().messageAddress(), Scratch.MESSAGE_CAPACITY) > 0);
        assertFalse(Station.isReadable(queue.fd()));
    }

    private void send() throws Exception {
        ends.client.send(station.region, 4096, 8, CompletionFlag.ALWAYS, 1);
        Station.expect(ends.client.completionQueue(), 1, 0);
    }

    private void awaitAndPoll(CompletionStatus expected) throws Exception {
        Station.awaitReadable(queue.fd(), "signal");
        assertTrue(queue.consumeEvent());
        WorkCompletions one = new WorkCompletions(1);
        assertEquals(1, queue.poll(one));
        assertEquals(expected, one.status(0));
    }

    @Test
    void theSignalOfAMessageIsRepeated() throws Exception {
        for (int round = 0; round < SLOTS; round++) {
            send();
            for (int i = 0; i < 3; i++) {
                empty();
                Station.awaitReadable(queue.fd(), "signal");
            }
            awaitAndPoll(CompletionStatus.SUCCESS);
        }
    }

    /** The owner is signalled when a connection ends that has left a completion. */
    @Test
    void theSignalOfAnEndedConnectionIsRepeated() throws Exception {
        send();
        awaitAndPoll(CompletionStatus.SUCCESS);
        send();
        // The owner takes the signal of this message and does not poll, so the connection leaves a completion.
        Station.awaitReadable(queue.fd(), "signal");
        assertTrue(queue.consumeEvent());
        ends.server.close();
        serverIsClosed = true;
        Station.awaitReadable(queue.fd(), "signal");
        empty();
        awaitAndPollOrphan();
    }

    private void awaitAndPollOrphan() throws Exception {
        Station.awaitReadable(queue.fd(), "signal");
        WorkCompletions one = new WorkCompletions(1);
        assertEquals(1, queue.poll(one));
        assertEquals(CompletionStatus.SUCCESS, one.status(0));
    }

    /** An owner that is awake, or does not look, keeps its signal: nothing is written to the pipe again. */
    @Test
    void aSignalThatIsStillThereIsNotRepeated() throws Exception {
        send();
        // Longer than several intervals.
        Thread.sleep(400);
        assertEquals(1, shared.event().read());
        // The test has emptied the pipe without telling the sender, which therefore signals once more.
        awaitAndPoll(CompletionStatus.SUCCESS);
    }
}
