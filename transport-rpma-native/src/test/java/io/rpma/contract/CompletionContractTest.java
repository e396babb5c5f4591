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

import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.rpma.CompletionFlag.ALWAYS;
import static io.rpma.RpmaError.INVALID;
import static io.rpma.RpmaError.NOT_SHARED_CHANNEL;
import static io.rpma.RpmaError.PROVIDER;
import static io.rpma.RpmaError.SHARED_CHANNEL;
import static io.rpma.contract.Contract.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests completion queues: polling, events, and separate and shared completion channels. */
class CompletionContractTest extends ContractCase {
    /**
     * Executes work requests of the client with the contexts 0 to count - 1, and waits for an answer that the server sent after
     * the acknowledgements, so that the completions are available. The client has a separate queue for receives.
     */
    private static void complete(Pair pair, int count) throws RpmaException {
        pair.server.receive(null, 0, 0, -1);
        pair.client.receive(null, 0, 0, -2);
        for (int i = 0; i < count - 1; i++) {
            pair.client.write(null, 0, null, 0, 0, ALWAYS, i);
        }
        pair.client.send(null, 0, 0, ALWAYS, count - 1);
        Wait.success(pair.server.completionQueue());
        pair.server.send(null, 0, 0, ALWAYS, -3);
        assertEquals(-2, Wait.success(pair.client.receiveCompletionQueue()).context());
    }

    /** rpma_cq_get_wc(3): returns the first num_entries, or all available completions if there are fewer. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 16, 64})
    void batchTakesWhatItHoldsAndNotMore(int capacity) throws Exception {
        Pair pair = pair(Pair.with().client(config -> config.receiveCompletionQueueSize(16)));
        complete(pair, 10);
        CompletionQueue queue = pair.client.completionQueue();
        WorkCompletions batch = new WorkCompletions(capacity);
        List<Long> contexts = new ArrayList<>();
        while (contexts.size() < 10) {
            int got = queue.poll(batch);
            assertTrue(got <= capacity);
            if (got == 0) {
                assertTrue(Poll.readable(queue.fd(), Contract.DEADLINE));
                queue.consumeEvent();
            }
            for (int i = 0; i < got; i++) {
                assertEquals(0, batch.statusCode(i));
                contexts.add(batch.context(i));
            }
        }
        assertEquals(List.of(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L), contexts);
        assertEquals(0, queue.poll(batch));
    }

    /** rpma_cq_get_wc(3): RPMA_E_NO_COMPLETION - no completions available. */
    @Test
    void emptyQueueGivesNothing() throws Exception {
        Pair pair = pair();
        WorkCompletions batch = new WorkCompletions(4);
        for (int i = 0; i < 3; i++) {
            assertEquals(0, pair.client.completionQueue().poll(batch));
            assertEquals(0, pair.server.completionQueue().poll(batch));
        }
    }

    /** rpma_cq_get_wc(3): RPMA_E_INVAL - wc is NULL. */
    @Test
    void noBatchIsRefused() throws Exception {
        Pair pair = pair();
        refused(INVALID, () -> pair.client.completionQueue().poll(null));
    }

    /** Completions stay in the queue until they are polled. Each is returned only once. */
    @Test
    void completionsStayUntilPolled() throws Exception {
        Pair pair = pair();
        CompletionQueue queue = pair.client.completionQueue();
        pair.client.write(null, 0, null, 0, 0, ALWAYS, 1);
        Wait.consumed(queue);
        assertFalse(Poll.readable(queue.fd(), Contract.ABSENCE));
        List<Completion> taken = Wait.available(queue, 8);
        assertEquals(1, taken.size());
        assertEquals(1, taken.getFirst().context());
        assertTrue(Wait.available(queue, 8).isEmpty());
    }

    /** facts 2.3: creation arms the queue. */
    @Test
    void newQueueIsArmed() throws Exception {
        Pair pair = pair();
        assertFalse(Poll.readable(pair.client.completionQueue().fd()));
        assertFalse(Poll.readable(pair.server.completionQueue().fd()));
        pair.server.receive(null, 0, 0, 1);
        pair.client.send(null, 0, 0, ALWAYS, 2);
        assertTrue(Poll.readable(pair.client.completionQueue().fd(), Contract.DEADLINE));
        assertTrue(Poll.readable(pair.server.completionQueue().fd(), Contract.DEADLINE));
    }

    /** rpma_cq_wait(3): RPMA_E_NO_COMPLETION - on a non-blocking descriptor: no event. */
    @Test
    void thereIsNoEventWithoutACompletion() throws Exception {
        Pair pair = pair();
        CompletionQueue queue = pair.client.completionQueue();
        assertFalse(queue.consumeEvent());
        assertFalse(queue.consumeEvent());
        pair.client.write(null, 0, null, 0, 0, ALWAYS, 1);
        Wait.consumed(queue);
        assertFalse(queue.consumeEvent());
        assertEquals(1, Wait.available(queue, 1).size());
    }

    /** The descriptor stays readable until the event is consumed. */
    @Test
    void descriptorIsReadableUntilTheEventIsConsumed() throws Exception {
        Pair pair = pair();
        CompletionQueue queue = pair.client.completionQueue();
        pair.client.write(null, 0, null, 0, 0, ALWAYS, 1);
        for (int i = 0; i < 3; i++) {
            assertTrue(Poll.readable(queue.fd(), Contract.DEADLINE));
        }
        Wait.consumed(queue);
        assertFalse(Poll.readable(queue.fd()));
    }

    /** facts 2.3: polling without consuming leaves a stale event: readable, consumed with true, and nothing there. */
    @Test
    void pollingLeavesAStaleEvent() throws Exception {
        Pair pair = pair();
        CompletionQueue queue = pair.client.completionQueue();
        pair.client.write(null, 0, null, 0, 0, ALWAYS, 1);
        List<Completion> taken = List.of();
        while (taken.isEmpty()) {
            assertTrue(Poll.readable(queue.fd(), Contract.DEADLINE));
            taken = Wait.available(queue, 4);
        }
        assertEquals(1, taken.size());
        // The event is still pending.
        Wait.consumed(queue);
        assertTrue(Wait.available(queue, 4).isEmpty());
        assertFalse(Poll.readable(queue.fd()));
    }

    /** facts 2.3: there is at most one unconsumed event; further completions do not cause a second one. */
    @Test
    void thereIsOneEventForManyCompletions() throws Exception {
        Pair pair = pair();
        CompletionQueue queue = pair.client.completionQueue();
        for (int i = 0; i < 5; i++) {
            pair.client.write(null, 0, null, 0, 0, ALWAYS, i);
        }
        // Polling without consuming returns all completions under one event.
        List<Completion> taken = new ArrayList<>();
        while (taken.size() < 5) {
            assertTrue(Poll.readable(queue.fd(), Contract.DEADLINE));
            taken.addAll(Wait.available(queue, 5));
        }
        Wait.consumed(queue);
        assertFalse(Poll.readable(queue.fd(), Contract.ABSENCE));
        assertFalse(queue.consumeEvent());
    }

    /** facts 2.3: there is no event for completions that are left in the queue when polling stops too early. */
    @Test
    void thereIsNoEventForWhatIsLeft() throws Exception {
        Pair pair = pair(Pair.with().client(config -> config.receiveCompletionQueueSize(16)));
        complete(pair, 4);
        CompletionQueue queue = pair.client.completionQueue();
        List<Completion> taken = new ArrayList<>();
        while (taken.isEmpty()) {
            assertTrue(Poll.readable(queue.fd(), Contract.DEADLINE));
            queue.consumeEvent();
            taken.addAll(Wait.available(queue, 1));
        }
        // All four completions were in the queue before the event was consumed, or have caused one more event by now.
        while (Poll.readable(queue.fd(), Contract.ABSENCE)) {
            Wait.consumed(queue);
        }
        assertEquals(3, Wait.available(queue, 8).size(), "left without an event");
    }

    /** rpma_cq_wait(3) arms the queue again: the next completion causes the next event. */
    @Test
    void consumingArmsAgain() throws Exception {
        Pair pair = pair();
        CompletionQueue queue = pair.client.completionQueue();
        for (int i = 0; i < 20; i++) {
            pair.client.write(null, 0, null, 0, 0, ALWAYS, i);
            Wait.consumed(queue);
            assertEquals(i, Wait.available(queue, 4).getFirst().context());
            assertFalse(Poll.readable(queue.fd()));
        }
    }

    /** Polling does not arm a queue, but the one pending event is kept. */
    @Test
    void pollingAloneDoesNotArm() throws Exception {
        Pair pair = pair();
        CompletionQueue queue = pair.client.completionQueue();
        for (int i = 0; i < 3; i++) {
            pair.client.write(null, 0, null, 0, 0, ALWAYS, i);
            List<Completion> taken = List.of();
            while (taken.isEmpty()) {
                assertTrue(Poll.readable(queue.fd(), Contract.DEADLINE));
                taken = Wait.available(queue, 1);
            }
        }
        Wait.consumed(queue);
        assertFalse(queue.consumeEvent());
        assertFalse(Poll.readable(queue.fd()));
    }

    /** After pollWithoutEvent, consumeEvent arms the queue: the next completion causes an event. */
    @Test
    void aQueueIsArmedAfterPollingWithoutEvents() throws Exception {
        Pair pair = pair();
        CompletionQueue queue = pair.client.completionQueue();
        WorkCompletions batch = new WorkCompletions(4);
        for (int i = 0; i < 20; i++) {
            pair.client.write(null, 0, null, 0, 0, ALWAYS, i);
            // Half of the completions are found by polling alone, the others because of their event.
            for (boolean waits = i % 2 == 1; queue.pollWithoutEvent(batch) == 0;) {
                if (waits) {
                    queue.consumeEvent();
                    if (queue.pollWithoutEvent(batch) > 0) {
                        break;
                    }
                    assertTrue(Poll.readable(queue.fd(), Contract.DEADLINE));
                }
            }
            assertEquals(i, batch.context(0));
            queue.consumeEvent();
            assertEquals(0, queue.pollWithoutEvent(batch));
        }
    }

    /** rpma_conn_get_rcq(3): when the receive CQ does not exist it is NULL. */
    @Test
    void receivesCompleteInTheOneQueueByDefault() throws Exception {
        Pair pair = pair();
        assertNull(pair.client.receiveCompletionQueue());
        assertNull(pair.server.receiveCompletionQueue());
        assertSame(pair.client.completionQueue(), pair.client.completionQueue());
    }

    /** rpma_conn_get_rcq(3): separates the processing of receives from all other completions. */
    @Test
    void receivesCompleteInTheirOwnQueue() throws Exception {
        Pair pair = pair(Pair.with().both(config -> config.receiveCompletionQueueSize(16)));
        CompletionQueue sends = pair.client.completionQueue();
        CompletionQueue receives = pair.client.receiveCompletionQueue();
        assertNotEquals(sends.fd(), receives.fd());
        pair.client.receive(pair.clientMemory, 0, 64, 1);
        pair.client.receive(pair.clientMemory, 64, 64, 2);
        pair.server.receive(pair.serverMemory, 0, 64, 3);
        pair.server.send(pair.serverMemory, 4096, 8, ALWAYS, 4);
        pair.server.writeWithImmediate(pair.atClient, 4096, pair.serverMemory, 4096, 8, ALWAYS, 9, 5);
        pair.client.send(pair.clientMemory, 128, 8, ALWAYS, 6);
        assertEquals(List.of(1L, 2L),
            Wait.successes(receives, 2).stream().map(Completion::context).sorted().toList());
        assertEquals(6, Wait.success(sends).context());
        assertEquals(List.of(4L, 5L),
            Wait.successes(pair.server.completionQueue(), 2).stream().map(Completion::context).toList());
        assertEquals(3, Wait.success(pair.server.receiveCompletionQueue()).context());
        assertTrue(Wait.available(sends, 8).isEmpty());
        assertTrue(Wait.available(receives, 8).isEmpty());
        pair.exchange();
    }

    /** Flushed work requests complete in the queue in which they would have completed otherwise. */
    @Test
    void flushesComeInTheQueueOfTheirKind() throws Exception {
        Pair pair = pair(Pair.with().both(config -> config.receiveCompletionQueueSize(16)));
        pair.client.receive(pair.clientMemory, 0, 64, 1);
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 2);
        pair.client.disconnect();
        assertEquals(1, Wait.failure(pair.client.receiveCompletionQueue()).context());
        assertEquals(2, Wait.failure(pair.client.completionQueue()).context());
    }

    /** rpma_conn_get_compl_fd(3), rpma_conn_wait(3): RPMA_E_NOT_SHARED_CHNL. */
    @ParameterizedTest
    @ValueSource(ints = {0, 16})
    void connectionHasNoSharedChannelByDefault(int receiveQueue) throws Exception {
        Pair pair = pair(Pair.with().both(config -> config.receiveCompletionQueueSize(receiveQueue)));
        refused(NOT_SHARED_CHANNEL, pair.client::completionFd);
        refused(NOT_SHARED_CHANNEL, pair.client::consumeCompletionEvent);
        pair.exchange();
    }

    /** rpma_cq_wait(3): RPMA_E_SHARED_CHANNEL; facts 2.3: all three descriptors are the same. */
    @Test
    void sharedChannelIsOneDescriptor() throws Exception {
        Pair pair = pair(Pair.with().both(config -> config.receiveCompletionQueueSize(16).sharedCompletionChannel(true)));
        int fd = pair.client.completionFd();
        assertEquals(fd, pair.client.completionQueue().fd());
        assertEquals(fd, pair.client.receiveCompletionQueue().fd());
        refused(SHARED_CHANNEL, () -> pair.client.completionQueue().consumeEvent());
        refused(SHARED_CHANNEL, () -> pair.client.receiveCompletionQueue().consumeEvent());
        assertNull(pair.client.consumeCompletionEvent());
        assertFalse(Poll.readable(fd));
    }

    /** rpma_conn_wait(3): returns the CQ that caused the event. */
    @Test
    void sharedChannelTellsWhichQueue() throws Exception {
        Pair pair = pair(Pair.with().client(config -> config.receiveCompletionQueueSize(16).sharedCompletionChannel(true)));
        Connection client = pair.client;
        client.write(null, 0, null, 0, 0, ALWAYS, 1);
        assertSame(client.completionQueue(), Wait.consumed(client));
        assertNull(client.consumeCompletionEvent());
        assertEquals(1, Wait.available(client.completionQueue(), 4).getFirst().context());
        client.receive(null, 0, 0, 2);
        pair.server.send(null, 0, 0, ALWAYS, 3);
        assertSame(client.receiveCompletionQueue(), Wait.consumed(client));
        assertNull(client.consumeCompletionEvent());
        assertEquals(2, Wait.available(client.receiveCompletionQueue(), 4).getFirst().context());
    }

    /** facts 2.3: repeat until there is no event; the call may return both queues in turn, each once. */
    @Test
    void sharedChannelHoldsOneEventOfEachQueue() throws Exception {
        Pair pair = pair(Pair.with().client(config -> config.receiveCompletionQueueSize(16).sharedCompletionChannel(true)));
        Connection client = pair.client;
        for (int round = 0; round < 5; round++) {
            client.receive(null, 0, 0, 1);
            client.write(null, 0, null, 0, 0, ALWAYS, 2);
            client.write(null, 0, null, 0, 0, ALWAYS, 3);
            pair.server.send(null, 0, 0, ALWAYS, 4);
            Wait.success(pair.server.completionQueue());
            List<CompletionQueue> queues = new ArrayList<>();
            int taken = 0;
            while (taken < 3) {
                CompletionQueue queue = Wait.consumed(client);
                queues.add(queue);
                taken += Wait.available(queue, 8).size();
            }
            assertTrue(queues.contains(client.completionQueue()));
            assertTrue(queues.contains(client.receiveCompletionQueue()));
            // There may be a stale event because of the polling; after it, there is none.
            while (Poll.readable(client.completionFd(), Contract.ABSENCE)) {
                Wait.consumed(client);
                assertTrue(Wait.available(client.completionQueue(), 8).isEmpty());
            }
        }
    }

    /** facts 2.3: a channel may be shared even if there is only one queue. */
    @Test
    void sharedChannelWorksWithOneQueue() throws Exception {
        Pair pair = pair(Pair.with().client(config -> config.sharedCompletionChannel(true)));
        assertNull(pair.client.receiveCompletionQueue());
        pair.client.receive(null, 0, 0, 1);
        pair.server.send(null, 0, 0, ALWAYS, 2);
        assertEquals(pair.client.completionFd(), pair.client.completionQueue().fd());
        assertSame(pair.client.completionQueue(), Wait.consumed(pair.client));
        assertEquals(1, Wait.available(pair.client.completionQueue(), 4).getFirst().context());
        refused(SHARED_CHANNEL, () -> pair.client.completionQueue().consumeEvent());
    }

    /** The configuration of one side does not affect the other side. */
    @Test
    void sidesMayDiffer() throws Exception {
        Pair pair = pair(Pair.with()
            .client(config -> config.receiveCompletionQueueSize(16).sharedCompletionChannel(true))
            .server(config -> config.sendQueueSize(2).receiveQueueSize(30).completionQueueSize(40)));
        pair.server.receive(pair.serverMemory, 0, 64, 1);
        pair.client.send(pair.clientMemory, 0, 8, ALWAYS, 2);
        assertEquals(1, Wait.success(pair.server.completionQueue()).context());
        assertEquals(2, Wait.sharedCompletions(pair.client, pair.client.completionQueue(), 1).getFirst().context());
        pair.client.receive(pair.clientMemory, 0, 64, 3);
        pair.server.send(pair.serverMemory, 0, 8, ALWAYS, 4);
        assertEquals(3, Wait.sharedCompletions(pair.client, pair.client.receiveCompletionQueue(), 1).getFirst().context());
    }

    /** With a shared channel, both queues signal an event when the connection is torn down. */
    @Test
    void sharedChannelTellsOfFlushes() throws Exception {
        Pair pair = pair(Pair.with().client(config -> config.receiveCompletionQueueSize(16).sharedCompletionChannel(true)));
        pair.client.receive(null, 0, 0, 1);
        pair.client.send(null, 0, 0, ALWAYS, 2);
        pair.client.disconnect();
        assertFalse(Wait.sharedCompletions(pair.client, pair.client.receiveCompletionQueue(), 1).getFirst().success());
        assertFalse(Wait.sharedCompletions(pair.client, pair.client.completionQueue(), 1).getFirst().success());
    }

    /**
     * facts 0.7: a queue that overflows loses completions, on a real device without any report. The remaining completions are in
     * order, none is returned twice, and the connection can still be closed.
     */
    @Test
    void overflowLosesCompletionsAndNothingElse() throws Exception {
        Pair other = pair();
        Pair pair = pair(Pair.with().client(config -> config.completionQueueSize(4).sendQueueSize(64)));
        for (int i = 0; i < 40; i++) {
            pair.client.write(null, 0, null, 0, 0, ALWAYS, i);
        }
        assertTrue(Poll.readable(pair.client.completionQueue().fd(), Contract.DEADLINE));
        assertFalse(Poll.readable(pair.client.eventFd(), Contract.ABSENCE));
        try {
            List<Completion> taken = Wait.available(pair.client.completionQueue(), 64);
            assertTrue(taken.size() < 40, "a queue of 4 held " + taken.size());
            for (int i = 1; i < taken.size(); i++) {
                assertTrue(taken.get(i - 1).context() < taken.get(i).context());
            }
        } catch (RpmaException e) {
            assertEquals(PROVIDER, e.error());
        }
        pair.client.disconnect();
        Wait.event(ConnectionEvent.CLOSED, pair.server);
        other.exchange();
    }

    /** A batch belongs to the caller, and its previous content does not matter. */
    @Test
    void batchIsReusable() throws Exception {
        Pair pair = pair();
        WorkCompletions batch = new WorkCompletions(2);
        for (int i = 0; i < 50; i++) {
            pair.client.write(null, 0, null, 0, 0, ALWAYS, i);
            while (pair.client.completionQueue().poll(batch) == 0) {
                assertTrue(Poll.readable(pair.client.completionQueue().fd(), Contract.DEADLINE));
                pair.client.completionQueue().consumeEvent();
            }
            assertEquals(i, batch.context(0));
        }
    }

    /** Two batches can be used with two queues. */
    @Test
    void queuesAreIndependent() throws Exception {
        Pair one = pair();
        Pair two = pair();
        one.client.write(null, 0, null, 0, 0, ALWAYS, 1);
        assertTrue(Poll.readable(one.client.completionQueue().fd(), Contract.DEADLINE));
        assertFalse(Poll.readable(two.client.completionQueue().fd()));
        assertFalse(Poll.readable(one.server.completionQueue().fd()));
        assertTrue(Wait.available(two.client.completionQueue(), 1).isEmpty());
        assertEquals(1, Wait.available(one.client.completionQueue(), 1).size());
    }
}
