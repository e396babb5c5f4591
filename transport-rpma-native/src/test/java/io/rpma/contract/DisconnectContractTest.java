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
package io.rpma.contract;

import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.LocalMemoryRegion;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.rpma.CompletionFlag.ALWAYS;
import static io.rpma.CompletionFlag.ON_ERROR;
import static io.rpma.CompletionStatus.WR_FLUSH_ERR;
import static io.rpma.ConnectionEvent.CLOSED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the end of a connection: which side is notified, and what happens to the work requests. */
class DisconnectContractTest extends ContractCase {
    private static Set<Long> flushed(Connection connection, int count) throws Exception {
        Set<Long> contexts = new HashSet<>();
        for (Completion completion : Wait.completions(connection.completionQueue(), count)) {
            assertEquals(WR_FLUSH_ERR, completion.status());
            assertEquals(connection.queuePairNumber(), completion.queuePairNumber());
            contexts.add(completion.context());
        }
        return contexts;
    }

    /** rpma_conn_disconnect(3): the other side is notified by RPMA_CONN_CLOSED. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void otherSideSeesClosed(boolean byClient) throws Exception {
        Pair pair = pair();
        (byClient ? pair.client : pair.server).disconnect();
        Wait.event(CLOSED, byClient ? pair.server : pair.client);
    }

    /** facts 2.4: the initiator's queue pair goes to the error state at once: its own posted receives are flushed. */
    @Test
    void receivesOfTheInitiatorAreFlushed() throws Exception {
        Pair pair = pair();
        for (int i = 0; i < 3; i++) {
            pair.client.receive(pair.clientMemory, i * 64L, 64, -i);
        }
        pair.client.disconnect();
        assertEquals(Set.of(0L, -1L, -2L), flushed(pair.client, 3));
    }

    /** facts 2.4: outstanding work of the initiator is flushed, including unsignalled work requests. */
    @Test
    void stalledSendsOfTheInitiatorAreFlushed() throws Exception {
        Pair pair = pair();
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 1);
        pair.client.send(pair.clientMemory, 0, 64, ON_ERROR, 2);
        pair.client.write(pair.atServer, 0, pair.clientMemory, 0, 64, ON_ERROR, 3);
        Wait.noCompletion(pair.client.completionQueue());
        pair.client.disconnect();
        List<Completion> done = Wait.completions(pair.client.completionQueue(), 3);
        for (int i = 0; i < 3; i++) {
            assertEquals(WR_FLUSH_ERR, done.get(i).status());
            assertEquals(i + 1, done.get(i).context());
        }
    }

    /** facts 0.3: the initiator gets CLOSED only after the application of the other side has acted. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void initiatorSeesClosedWhenTheOtherSideActs(boolean byDisconnect) throws Exception {
        Pair pair = pair();
        pair.client.disconnect();
        Wait.event(CLOSED, pair.server);
        Wait.noEvent(pair.client);
        if (byDisconnect) {
            pair.server.disconnect();
        } else {
            pair.server.close();
        }
        Wait.event(CLOSED, pair.client);
    }

    /** facts 2.4: the passive side's receives are not flushed until it disconnects itself. */
    @Test
    void receivesOfTheOtherSideAreFlushedByItsOwnDisconnect() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 1);
        pair.server.receive(pair.serverMemory, 64, 64, 2);
        pair.client.disconnect();
        Wait.event(CLOSED, pair.server);
        Wait.noCompletion(pair.server.completionQueue());
        pair.server.disconnect();
        assertEquals(Set.of(1L, 2L), flushed(pair.server, 2));
    }

    /** facts 2.4: messages that were received before CLOSED are in the queue, and must be polled before disconnecting. */
    @Test
    void whatWasReceivedBeforeClosedIsStillThere() throws Exception {
        Pair pair = pair();
        for (int i = 0; i < 4; i++) {
            pair.server.receive(pair.serverMemory, i * 64L, 64, i);
        }
        for (int i = 0; i < 2; i++) {
            Memory.fill(pair.clientMemory, i * 64L, 64, i);
            pair.client.send(pair.clientMemory, i * 64L, 64, ALWAYS, i);
        }
        Wait.successes(pair.client.completionQueue(), 2);
        pair.client.disconnect();
        Wait.event(CLOSED, pair.server);
        Set<Long> left = new HashSet<>(Set.of(0L, 1L, 2L, 3L));
        int message = 0;
        for (Completion received : Wait.successes(pair.server.completionQueue(), 2)) {
            Memory.assertFilled(pair.serverMemory, received.context() * 64, 64, message++);
            left.remove(received.context());
        }
        pair.server.disconnect();
        assertEquals(left, flushed(pair.server, 2));
    }

    /** facts 2.4: the same applies if the sender closes instead of disconnecting. */
    @Test
    void whatWasReceivedBeforeTheOtherSideClosedIsStillThere() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 1);
        Memory.fill(pair.clientMemory, 0, 64, 3);
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 2);
        Wait.success(pair.client.completionQueue());
        pair.client.close();
        Wait.event(CLOSED, pair.server);
        assertEquals(1, Wait.success(pair.server.completionQueue()).context());
        Memory.assertFilled(pair.serverMemory, 0, 64, 3);
    }

    /** A received message is also kept when the receiver itself disconnects. */
    @Test
    void whatWasReceivedSurvivesTheOwnDisconnect() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 1);
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 2);
        Wait.success(pair.client.completionQueue());
        pair.server.disconnect();
        assertEquals(1, Wait.success(pair.server.completionQueue()).context());
    }

    /** rpma_conn_delete(3) alone is sufficient to notify the other side. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void closingTellsTheOtherSide(boolean byClient) throws Exception {
        Pair pair = pair();
        (byClient ? pair.client : pair.server).close();
        Wait.event(CLOSED, byClient ? pair.server : pair.client);
    }

    /** Closing with outstanding work in every queue releases everything; the descriptors are counted. */
    @Test
    void closingDropsWhatIsPosted() throws Exception {
        Pair pair = pair();
        LocalMemoryRegion region = pair.memory.region(pair.peer, 4096, Memory.ALL);
        pair.client.receive(region, 0, 64, 1);
        pair.client.send(region, 0, 64, ALWAYS, 2);
        pair.client.write(pair.atServer, 0, region, 0, 64, ALWAYS, 3);
        pair.server.receive(pair.serverMemory, 0, 64, 4);
        pair.client.close();
        region.close();
        Wait.event(CLOSED, pair.server);
    }

    /** facts 2.4: disconnect twice, or after CLOSED: returns 0. */
    @Test
    void disconnectingAgainDoesNothing() throws Exception {
        Pair pair = pair();
        pair.client.disconnect();
        pair.client.disconnect();
        Wait.event(CLOSED, pair.server);
        pair.client.disconnect();
        pair.server.disconnect();
        Wait.event(CLOSED, pair.client);
        pair.server.disconnect();
        pair.client.disconnect();
    }

    /** facts 2.4: if both sides disconnect at the same time, both get CLOSED. */
    @Test
    void bothMayDisconnectAtOnce() throws Exception {
        Pair pair = pair();
        pair.client.receive(pair.clientMemory, 0, 64, 1);
        pair.server.receive(pair.serverMemory, 0, 64, 2);
        pair.client.disconnect();
        pair.server.disconnect();
        Wait.event(CLOSED, pair.client);
        Wait.event(CLOSED, pair.server);
        assertEquals(Set.of(1L), flushed(pair.client, 1));
        assertEquals(Set.of(2L), flushed(pair.server, 1));
    }

    /** A work request posted after the disconnect is flushed. */
    @Test
    void sendsAfterDisconnectAreFlushed() throws Exception {
        Pair pair = pair();
        pair.client.disconnect();
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 1);
        pair.client.write(pair.atServer, 0, pair.clientMemory, 0, 64, ON_ERROR, 2);
        List<Completion> done = Wait.completions(pair.client.completionQueue(), 2);
        assertEquals(List.of(WR_FLUSH_ERR, WR_FLUSH_ERR), done.stream().map(Completion::status).toList());
        assertEquals(List.of(1L, 2L), done.stream().map(Completion::context).toList());
        Memory.assertUntouched(pair.serverMemory, 0, 64);
    }

    /** The same applies to receives; measured: rxe flushes them only together with the next work request. */
    @Test
    void receivesAfterDisconnectAreFlushed() throws Exception {
        Pair pair = pair();
        pair.client.disconnect();
        pair.client.receive(pair.clientMemory, 0, 64, 1);
        pair.client.send(null, 0, 0, ALWAYS, 2);
        assertEquals(Set.of(1L, 2L), flushed(pair.client, 2));
    }

    /** facts 2.4: the passive side's queue pair does not change until that side acts, but nobody answers any more. */
    @Test
    void sendOfThePassiveSideAfterClosedDoesNotSucceed() throws Exception {
        Pair pair = pair();
        pair.client.receive(pair.clientMemory, 0, 64, 1);
        pair.client.disconnect();
        assertEquals(Set.of(1L), flushed(pair.client, 1));
        Wait.event(CLOSED, pair.server);
        pair.server.send(pair.serverMemory, 0, 64, ALWAYS, 2);
        pair.server.disconnect();
        Completion sent = Wait.completion(pair.server.completionQueue());
        assertEquals(2, sent.context());
        assertFalse(sent.success());
        assertTrue(Wait.available(pair.client.completionQueue(), 4).isEmpty());
    }

    /** facts 0.4: CLOSED may be repeated about two seconds later; no other event follows the first one. */
    @Test
    void onlyClosedFollowsClosed() throws Exception {
        Pair pair = pair();
        pair.client.disconnect();
        Wait.event(CLOSED, pair.server);
        pair.server.disconnect();
        Wait.event(CLOSED, pair.client);
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(3000);
        int again = 0;
        while (true) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            int index = left <= 0 ? -1 : Poll.any(left, pair.client.eventFd(), pair.server.eventFd());
            if (index < 0) {
                break;
            }
            ConnectionEvent event = (index == 0 ? pair.client : pair.server).nextEvent();
            if (event != null) {
                assertEquals(CLOSED, event);
                again++;
            }
        }
        assertTrue(again <= 2, "CLOSED came " + again + " more times");
        assertNull(pair.client.nextEvent());
        assertNull(pair.server.nextEvent());
    }

    /** The event occurs once: the descriptor is readable until the event is consumed, and not again. */
    @Test
    void closedIsTakenOnce() throws Exception {
        Pair pair = pair();
        pair.client.disconnect();
        assertTrue(Poll.readable(pair.server.eventFd(), Contract.DEADLINE));
        assertTrue(Poll.readable(pair.server.eventFd()));
        assertEquals(CLOSED, pair.server.nextEvent());
        assertNull(pair.server.nextEvent());
        assertFalse(Poll.readable(pair.server.eventFd()));
    }

    /** A disconnected side keeps its completions until they are polled. */
    @Test
    void completionsOutliveTheDisconnect() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 1);
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 2);
        assertTrue(Poll.readable(pair.client.completionQueue().fd(), Contract.DEADLINE));
        pair.client.disconnect();
        Wait.event(CLOSED, pair.server);
        pair.server.disconnect();
        Wait.event(CLOSED, pair.client);
        Completion sent = Wait.completion(pair.client.completionQueue());
        assertEquals(2, sent.context());
        assertEquals(CompletionStatus.SUCCESS, sent.status());
    }

    /**
     * If the receiver disconnects while the sender of the other direction is stalled, the send fails or is flushed by the
     * sender's own disconnect.
     */
    @Test
    void stalledSendEndsWithTheConnection() throws Exception {
        Pair pair = pair();
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 1);
        Wait.noCompletion(pair.client.completionQueue());
        pair.server.close();
        Wait.event(CLOSED, pair.client);
        pair.client.disconnect();
        Completion sent = Wait.completion(pair.client.completionQueue());
        assertEquals(1, sent.context());
        assertFalse(sent.success());
    }

    /** After an error of the queue pair, the connection still exists and can be disconnected like any other. */
    @Test
    void connectionInErrorCanBeDisconnected() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 8, 1);
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 2);
        Wait.failure(pair.client.completionQueue());
        Wait.failure(pair.server.completionQueue());
        pair.client.disconnect();
        Wait.event(CLOSED, pair.server);
        pair.server.disconnect();
        Wait.event(CLOSED, pair.client);
    }

    /** If one of many connections ends, the others are not affected. */
    @Test
    void otherConnectionsGoOn() throws Exception {
        Pair one = pair(Pair.with());
        Pair two = pair(Pair.with());
        one.client.disconnect();
        Wait.event(CLOSED, one.server);
        two.exchange();
        one.close();
        two.exchange();
        Wait.noEvent(two.client);
        Wait.noEvent(two.server);
    }
}
