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

import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.DeviceLimits;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.TestPatience;
import io.rpma.WorkCompletions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

import static io.rpma.CompletionFlag.ALWAYS;
import static io.rpma.RpmaError.INVALID;
import static io.rpma.RpmaError.PROVIDER;
import static io.rpma.contract.Contract.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests receive queues that several connections share. */
class SharedReceiveQueueContractTest extends ContractCase {
    private static final int SLOT = 256;

    private SharedReceiveQueue queue(int slots, int completions) throws RpmaException {
        try (SharedReceiveQueueConfig config = Contract.PROVIDER.newSharedReceiveQueueConfig()) {
            return scope.own(peer().newSharedReceiveQueue(
                config.receiveQueueSize(slots).receiveCompletionQueueSize(completions)));
        }
    }

    private Pair member(SharedReceiveQueue queue) throws RpmaException {
        return pair(Pair.with().server(config -> config.sharedReceiveQueue(queue)));
    }

    /** rpma_srq_new(3): if cfg is NULL, then the default values are used; the default rcq_size creates a receive CQ. */
    @Test
    void defaultQueueHasACompletionQueue() throws Exception {
        SharedReceiveQueue queue = scope.own(peer().newSharedReceiveQueue(null));
        assertNotNull(queue.receiveCompletionQueue());
        assertFalse(Poll.readable(queue.receiveCompletionQueue().fd()));
        LocalMemoryRegion region = region(SLOT * 20);
        for (int i = 0; i < 20; i++) {
            queue.receive(region, i * SLOT, SLOT, i);
        }
    }

    /** rpma_srq_new(3): does not create the shared receive CQ if its size in cfg equals 0. */
    @Test
    void queueMayHaveNoCompletionQueue() throws Exception {
        assertNull(queue(10, 0).receiveCompletionQueue());
    }

    /** rpma_srq_new(3): RPMA_E_PROVIDER - ibv_create_srq(3) or ibv_create_cq(3) failed. */
    @Test
    void sizesThatTheDeviceCannotGiveAreRefused() {
        DeviceLimits limits = Contract.DEVICE.limits();
        refused(PROVIDER, () -> queue(limits.maxSharedReceiveQueueWorkRequests() + 1, 16));
        refused(PROVIDER, () -> queue(16, limits.maxCompletionQueueSize() + 1));
        refused(PROVIDER, () -> queue(0, 16));
    }

    /**
     * rpma_srq_recv(3): the messages of all connections use one set of receives; qp_num identifies the connection of a message.
     */
    @Test
    void connectionsShareTheReceives() throws Exception {
        SharedReceiveQueue queue = queue(16, 32);
        LocalMemoryRegion region = region(SLOT * 16);
        for (int i = 0; i < 12; i++) {
            queue.receive(region, i * SLOT, SLOT, i);
        }
        List<Pair> members = List.of(member(queue), member(queue), member(queue));
        Map<Integer, Integer> indices = new HashMap<>();
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 3; i++) {
                Pair member = members.get(i);
                indices.put(member.server.queuePairNumber(), i);
                Memory.fill(member.clientMemory, 0, 100, i);
                member.client.send(member.clientMemory, 0, 100 + round, ALWAYS, round);
                Wait.success(member.client.completionQueue());
            }
        }
        Set<Long> buffers = new HashSet<>();
        int[] messages = new int[3];
        for (Completion received : Wait.successes(queue.receiveCompletionQueue(), 12)) {
            assertTrue(buffers.add(received.context()));
            int member = indices.get(received.queuePairNumber());
            assertEquals(100 + messages[member]++, received.byteLength(), "messages of one connection keep their order");
            Memory.assertFilled(region, received.context() * SLOT, 100, member);
        }
        for (Pair member : members) {
            assertTrue(Wait.available(member.server.completionQueue(), 8).isEmpty());
        }
    }

    /** src/conn_req.c: the connection has no receive CQ of its own if the queue has one. */
    @Test
    void memberHasNoReceiveCompletionQueueOfItsOwn() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        Pair member = pair(Pair.with().server(config -> config.sharedReceiveQueue(queue).receiveCompletionQueueSize(16)));
        assertNull(member.server.receiveCompletionQueue());
        queue.receive(null, 0, 0, 5);
        member.client.send(null, 0, 0, ALWAYS, 1);
        assertEquals(5, Wait.success(queue.receiveCompletionQueue()).context());
    }

    /** rpma_cq_get_fd(3): the queue in which the connection's own work requests complete has its own descriptor. */
    @Test
    void memberSignalsItsOwnQueue() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        Pair pair = pair(Pair.with().client(config -> config.sharedReceiveQueue(queue)));
        CompletionQueue sends = pair.client.completionQueue();
        int fd = sends.fd();
        assertFalse(Poll.readable(fd));
        for (int i = 0; i < 3; i++) {
            pair.server.receive(pair.serverMemory, 0, SLOT, i);
            pair.client.send(pair.clientMemory, 0, SLOT, ALWAYS, i);
            do {
                assertTrue(Poll.readable(fd, 10_000L * TestPatience.FACTOR));
            } while (!sends.consumeEvent());
            assertEquals(i, Wait.success(sends).context());
            assertEquals(i, Wait.success(pair.server.completionQueue()).context());
        }
    }

    /** A thread that polls only the receives, without events: the queue of the work requests is signalled nevertheless. */
    @Test
    void memberIsSignalledWhileTheReceivesArePolledWithoutEvents() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        Pair pair = pair(Pair.with().client(config -> config.sharedReceiveQueue(queue)));
        CompletionQueue receives = queue.receiveCompletionQueue();
        CompletionQueue sends = pair.client.completionQueue();
        WorkCompletions batch = new WorkCompletions(4);
        int fd = sends.fd();
        for (int i = 0; i < 20; i++) {
            pair.server.receive(pair.serverMemory, 0, SLOT, i);
            pair.client.send(pair.clientMemory, 0, SLOT, ALWAYS, i);
            assertEquals(i, Wait.success(pair.server.completionQueue()).context());
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10L * TestPatience.FACTOR);
            boolean signalled = false;
            while (!signalled) {
                assertTrue(System.nanoTime() - deadline < 0, "no event");
                assertEquals(0, receives.pollWithoutEvent(batch));
                receives.consumeEvent();
                signalled = Poll.readable(fd) && sends.consumeEvent();
            }
            assertEquals(i, Wait.success(sends).context());
        }
    }

    /** rpma_cq_get_fd(3): the descriptor is readable if a completion arrived before it was requested. */
    @Test
    void descriptorOfAMemberMayBeRequestedLater() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        Pair pair = pair(Pair.with().client(config -> config.sharedReceiveQueue(queue)));
        pair.server.receive(pair.serverMemory, 0, SLOT, 1);
        pair.client.send(pair.clientMemory, 0, SLOT, ALWAYS, 2);
        assertEquals(1, Wait.success(pair.server.completionQueue()).context());
        CompletionQueue sends = pair.client.completionQueue();
        assertTrue(Poll.readable(sends.fd(), 10_000L * TestPatience.FACTOR));
        assertEquals(2, Wait.success(sends).context());
    }

    /** rpma_srq_cfg_set_rcq_size(3): without a receive CQ, receives complete in the connection's queue. */
    @Test
    void receivesCompleteAtTheConnectionThatTheyCameBy() throws Exception {
        SharedReceiveQueue queue = queue(16, 0);
        Pair one = member(queue);
        Pair two = pair(Pair.with()
            .server(config -> config.sharedReceiveQueue(queue).receiveCompletionQueueSize(16)));
        LocalMemoryRegion region = region(SLOT * 4);
        for (int i = 0; i < 4; i++) {
            queue.receive(region, i * SLOT, SLOT, i);
        }
        one.client.send(null, 0, 0, ALWAYS, 1);
        two.client.send(null, 0, 0, ALWAYS, 2);
        Completion first = Wait.success(one.server.completionQueue());
        Completion second = Wait.success(two.server.receiveCompletionQueue());
        assertEquals(one.server.queuePairNumber(), first.queuePairNumber());
        assertEquals(two.server.queuePairNumber(), second.queuePairNumber());
        assertTrue(first.context() != second.context());
    }

    /** facts 2.3: the channel can be shared if the shared queue has no completion queue of its own. */
    @Test
    void sharedChannelNeedsAQueueWithoutCompletionQueue() throws Exception {
        SharedReceiveQueue without = queue(16, 0);
        Pair member = pair(Pair.with().server(config -> config.sharedReceiveQueue(without).receiveCompletionQueueSize(16)
            .sharedCompletionChannel(true)));
        without.receive(null, 0, 0, 1);
        member.client.send(null, 0, 0, ALWAYS, 2);
        assertEquals(1, Wait.sharedCompletions(member.server, member.server.receiveCompletionQueue(), 1).getFirst().context());
        SharedReceiveQueue with = queue(16, 16);
        Endpoint endpoint = endpoint();
        conflicts(refused(INVALID, () -> peer().newConnectionRequest(endpoint.localAddress(),
            config().sharedReceiveQueue(with).sharedCompletionChannel(true))));
        scope.own(scope.own(peer().newConnectionRequest(endpoint.localAddress(), null)).connect(null));
        conflicts(refused(INVALID,
            () -> Wait.request(endpoint, config().sharedReceiveQueue(with).sharedCompletionChannel(true))));
    }

    /** The system's error number has no meaning here, and the message names the setting. */
    private static void conflicts(RpmaException refusal) {
        assertEquals(0, refusal.errno(), refusal::getMessage);
        assertTrue(refusal.getMessage().contains("sharedCompletionChannel: receives complete in the shared receive queue's own"),
            refusal::getMessage);
    }

    /** A client can also share its receives. */
    @Test
    void clientsMayShareToo() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        Pair one = pair(Pair.with().client(config -> config.sharedReceiveQueue(queue)));
        Pair two = pair(Pair.with().client(config -> config.sharedReceiveQueue(queue)));
        queue.receive(null, 0, 0, 1);
        queue.receive(null, 0, 0, 2);
        one.server.send(null, 0, 0, ALWAYS, 3);
        Completion first = Wait.success(queue.receiveCompletionQueue());
        assertEquals(one.client.queuePairNumber(), first.queuePairNumber());
        two.server.send(null, 0, 0, ALWAYS, 4);
        Completion second = Wait.success(queue.receiveCompletionQueue());
        assertEquals(two.client.queuePairNumber(), second.queuePairNumber());
        assertEquals(Set.of(1L, 2L), Set.of(first.context(), second.context()));
    }

    /** rpma_recv(3) on such a connection: ibv_post_recv(3) fails, because there is no queue to post to. */
    @Test
    void memberTakesNoReceivesOfItsOwn() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        Pair member = member(queue);
        refused(PROVIDER, () -> member.server.receive(member.serverMemory, 0, 64, 1));
        Endpoint endpoint = endpoint();
        ConnectionRequest request = scope.own(peer().newConnectionRequest(endpoint.localAddress(),
            config().sharedReceiveQueue(queue)));
        refused(PROVIDER, () -> request.receive(member.serverMemory, 0, 64, 1));
    }

    /** rpma_srq_recv(3): RPMA_E_INVAL - dst == NULL and (offset != 0 or len != 0). */
    @Test
    void noMemoryMeansNoOffsetAndNoLength() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        refused(INVALID, () -> queue.receive(null, 1, 0, 1));
        refused(INVALID, () -> queue.receive(null, 0, 1, 1));
        LocalMemoryRegion region = region(4096);
        refused(INVALID, () -> queue.receive(region, -1, 8, 1));
        refused(INVALID, () -> queue.receive(region, 0, -1, 1));
    }

    /** rpma_srq_recv(3): RPMA_E_PROVIDER - ibv_post_srq_recv(3) failed. Devices may give more slots than were asked for. */
    @Test
    void queueFillsUpAndLosesNothing() throws Exception {
        SharedReceiveQueue queue = queue(4, 512);
        Pair member = member(queue);
        int posted = 0;
        RpmaException full = null;
        while (full == null && posted < 4096) {
            try {
                queue.receive(member.serverMemory, 64L * (posted % 512), 64, posted);
                posted++;
            } catch (RpmaException e) {
                full = e;
            }
        }
        assertNotNull(full, "a queue of 4 accepted " + posted);
        assertEquals(PROVIDER, full.error());
        assertTrue(posted >= 4, posted + " slots");
        Set<Long> buffers = new HashSet<>();
        for (int i = 0; i < posted; i++) {
            member.client.send(null, 0, 0, ALWAYS, i);
            Wait.success(member.client.completionQueue());
            assertTrue(buffers.add(Wait.success(queue.receiveCompletionQueue()).context()));
        }
        queue.receive(null, 0, 0, -1);
        member.client.send(null, 0, 0, ALWAYS, -2);
        assertEquals(-1, Wait.success(queue.receiveCompletionQueue()).context());
    }

    /** Each sender waits while the shared queue is empty, and continues when receives have been posted. */
    @Test
    void emptyQueueStallsAllMembers() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        Pair one = member(queue);
        Pair two = member(queue);
        one.client.send(null, 0, 0, ALWAYS, 1);
        two.client.send(null, 0, 0, ALWAYS, 2);
        Wait.noCompletion(one.client.completionQueue());
        Wait.noCompletion(two.client.completionQueue());
        queue.receive(null, 0, 0, 3);
        queue.receive(null, 0, 0, 4);
        assertEquals(1, Wait.success(one.client.completionQueue()).context());
        assertEquals(2, Wait.success(two.client.completionQueue()).context());
        Set<Integer> from = new HashSet<>();
        for (Completion received : Wait.successes(queue.receiveCompletionQueue(), 2)) {
            from.add(received.queuePairNumber());
        }
        assertEquals(Set.of(one.server.queuePairNumber(), two.server.queuePairNumber()), from);
    }

    /** Receives in a shared queue do not belong to a connection, so the end of a connection flushes none of them. */
    @Test
    void endOfAMemberFlushesNothing() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        Pair one = member(queue);
        Pair two = member(queue);
        for (int i = 0; i < 4; i++) {
            queue.receive(null, 0, 0, i);
        }
        one.server.disconnect();
        Wait.event(ConnectionEvent.CLOSED, one.client);
        one.close();
        Wait.noCompletion(queue.receiveCompletionQueue());
        for (int i = 0; i < 4; i++) {
            two.client.send(null, 0, 0, ALWAYS, i);
            Wait.success(two.client.completionQueue());
            Wait.success(queue.receiveCompletionQueue());
        }
    }

    /** A receive that a connection has used, and that was then posted again, does not belong to that connection any more. */
    @Test
    void endOfAMemberFlushesNothingThatItTookBefore() throws Exception {
        SharedReceiveQueue queue = queue(4, 16);
        Pair one = member(queue);
        Pair two = member(queue);
        for (int i = 0; i < 4; i++) {
            queue.receive(null, 0, 0, i);
        }
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 3; i++) {
                one.client.send(null, 0, 0, ALWAYS, i);
            }
            Wait.successes(one.client.completionQueue(), 3);
            for (Completion received : Wait.successes(queue.receiveCompletionQueue(), 3)) {
                queue.receive(null, 0, 0, received.context());
            }
        }
        one.close();
        Wait.noCompletion(queue.receiveCompletionQueue());
        for (int i = 0; i < 8; i++) {
            two.client.send(null, 0, 0, ALWAYS, i);
            Wait.success(two.client.completionQueue());
            queue.receive(null, 0, 0, Wait.success(queue.receiveCompletionQueue()).context());
        }
    }

    /** A message that is too long for its buffer consumes one receive and ends only its own connection. */
    @Test
    void errorOfAMemberIsItsOwn() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        Pair one = member(queue);
        Pair two = member(queue);
        LocalMemoryRegion region = region(4096);
        queue.receive(region, 0, 64, 1);
        queue.receive(region, 64, 64, 2);
        one.client.send(one.clientMemory, 0, 65, ALWAYS, 3);
        assertFalse(Wait.completion(one.client.completionQueue()).success());
        Completion failed = Wait.failure(queue.receiveCompletionQueue());
        assertEquals(one.server.queuePairNumber(), failed.queuePairNumber());
        two.client.send(two.clientMemory, 0, 64, ALWAYS, 4);
        Completion received = Wait.success(queue.receiveCompletionQueue());
        assertEquals(two.server.queuePairNumber(), received.queuePairNumber());
        assertTrue(received.context() != failed.context());
        assertEquals(4, Wait.success(two.client.completionQueue()).context());
    }

    /** Messages of a connection that has ended stay in the queue, with the number of its queue pair. */
    @Test
    void whatWasReceivedOutlivesTheMember() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        LocalMemoryRegion region = region(4096);
        queue.receive(region, 0, 64, 1);
        Pair member = member(queue);
        int number = member.server.queuePairNumber();
        Memory.fill(member.clientMemory, 0, 64, 8);
        member.client.send(member.clientMemory, 0, 64, ALWAYS, 2);
        Wait.success(member.client.completionQueue());
        member.client.close();
        Wait.event(ConnectionEvent.CLOSED, member.server);
        Completion received = Wait.success(queue.receiveCompletionQueue());
        assertEquals(number, received.queuePairNumber());
        Memory.assertFilled(region, 0, 64, 8);
    }

    /** rpma_write_with_imm(3) also consumes receives of the shared queue. */
    @Test
    void writeWithImmediateTakesFromTheSharedQueue() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        Pair member = member(queue);
        queue.receive(null, 0, 0, 1);
        Memory.fill(member.clientMemory, 0, 64, 1);
        member.client.writeWithImmediate(member.atServer, 0, member.clientMemory, 0, 64, ALWAYS, 99, 2);
        Completion received = Wait.success(queue.receiveCompletionQueue());
        assertEquals(1, received.context());
        assertEquals(99, received.immediate());
        assertEquals(64, received.byteLength());
        Memory.assertFilled(member.serverMemory, 0, 64, 1);
    }

    /** The completion queue of a shared queue follows the rules for events, regardless of the connection of a message. */
    @Test
    void completionQueueOfASharedQueueGivesEvents() throws Exception {
        SharedReceiveQueue queue = queue(16, 32);
        CompletionQueue receives = queue.receiveCompletionQueue();
        List<Pair> members = List.of(member(queue), member(queue));
        assertFalse(receives.consumeEvent());
        for (int i = 0; i < 20; i++) {
            queue.receive(null, 0, 0, i);
            Pair member = members.get(i % 2);
            member.client.send(null, 0, 0, ALWAYS, i);
            Wait.consumed(receives);
            assertEquals(i, Wait.available(receives, 4).getFirst().context());
            assertFalse(Poll.readable(receives.fd()));
            Wait.success(member.client.completionQueue());
        }
    }

    /** All connections use every slot repeatedly. */
    @Test
    void queueWrapsAround() throws Exception {
        SharedReceiveQueue queue = queue(5, 16);
        List<Pair> members = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            members.add(member(queue));
        }
        LocalMemoryRegion region = region(5 * SLOT);
        for (int i = 0; i < 5; i++) {
            queue.receive(region, i * SLOT, SLOT, i);
        }
        for (int i = 0; i < 400; i++) {
            Pair member = members.get(i * 7 % 4);
            int length = i * 13 % SLOT;
            Memory.fill(member.clientMemory, 0, length, i);
            member.client.send(member.clientMemory, 0, length, ALWAYS, i);
            Completion received = Wait.success(queue.receiveCompletionQueue());
            assertEquals(member.server.queuePairNumber(), received.queuePairNumber());
            assertEquals(length, received.byteLength());
            Memory.assertFilled(region, received.context() * SLOT, length, i);
            queue.receive(region, received.context() * SLOT, SLOT, received.context());
            Wait.success(member.client.completionQueue());
        }
    }

    /** Both sides of a connection can use the same queue. */
    @Test
    void bothEndsMayShareOneQueue() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        Pair pair = pair(Pair.with().both(config -> config.sharedReceiveQueue(queue)));
        queue.receive(null, 0, 0, 1);
        queue.receive(null, 0, 0, 2);
        pair.client.send(null, 0, 0, CompletionFlag.ON_ERROR, 0);
        assertEquals(pair.server.queuePairNumber(), Wait.success(queue.receiveCompletionQueue()).queuePairNumber());
        pair.server.send(null, 0, 0, CompletionFlag.ON_ERROR, 0);
        assertEquals(pair.client.queuePairNumber(), Wait.success(queue.receiveCompletionQueue()).queuePairNumber());
    }

    /** rpma_srq_delete(3): RPMA_E_PROVIDER - ibv_destroy_srq(3) failed, while a connection uses it. */
    @Test
    void queueInUseCannotBeClosed() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        Pair member = member(queue);
        refused(PROVIDER, queue::close);
        queue.receive(null, 0, 0, 1);
        member.client.send(null, 0, 0, ALWAYS, 2);
        assertEquals(1, Wait.success(queue.receiveCompletionQueue()).context());
        member.close();
        queue.close();
    }

    /** rpma_srq_delete(3). */
    @Test
    void closedQueueIsRefused() throws Exception {
        SharedReceiveQueue queue = queue(16, 16);
        CompletionQueue receives = queue.receiveCompletionQueue();
        queue.receive(null, 0, 0, 1);
        queue.close();
        queue.close();
        refused(INVALID, () -> queue.receive(null, 0, 0, 1));
        refused(INVALID, receives::consumeEvent);
        refused(INVALID, () -> receives.poll(new io.rpma.WorkCompletions(1)));
        Endpoint endpoint = endpoint();
        refused(INVALID, () -> peer().newConnectionRequest(endpoint.localAddress(), config().sharedReceiveQueue(queue)));
    }
}
