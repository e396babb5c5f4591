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
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import io.rpma.soft.process.HalfMemory;
import io.rpma.soft.process.RemoteProcess;
import io.rpma.soft.shared.CompletionRing;
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.ReceiveEntry;
import io.rpma.soft.shared.SharedReceives;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests a shared receive queue whose connections are opened and closed. */
@Timeout(120)
class SharedReceivesTest {
    private static final int SLOTS = 4;

    private static Connection[] connect(Station station, Endpoint endpoint, ConnectionConfig server) throws Exception {
        ConnectionRequest request = station.peer.newConnectionRequest(endpoint.localAddress(), null);
        Connection client = request.connect(null);
        Connection accepted = Station.awaitRequest(endpoint, server).connect(null);
        Station.expect(ConnectionEvent.ESTABLISHED, client);
        Station.expect(ConnectionEvent.ESTABLISHED, accepted);
        return new Connection[] {client, accepted};
    }

    /**
     * Slots are posted again in another order, so that each is at the place of another one. A connection that once took the other
     * slot has nothing to do with it: when the connection ends, it takes no receive with it.
     */
    @Test
    void aReceivePostedAnewIsNotTakenByWhoTookItBefore() throws Exception {
        try (Station station = new Station(); Endpoint endpoint = station.listen()) {
            SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
                .receiveQueueSize(SLOTS).receiveCompletionQueueSize(2 * SLOTS));
            CompletionQueue queue = shared.receiveCompletionQueue();
            for (int i = 0; i < SLOTS; i++) {
                shared.receive(station.region, i * 64L, 64, i);
            }
            try (ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(shared)) {
                Connection[] first = connect(station, endpoint, config);
                Connection[] second = connect(station, endpoint, config);
                WorkCompletions batch = new WorkCompletions(2 * SLOTS);
                for (int round = 0; round < 5; round++) {
                    first[0].send(station.region, 4096, 8, CompletionFlag.ON_ERROR, 0);
                    first[0].send(station.region, 4096, 8, CompletionFlag.ALWAYS, 0);
                    Station.expect(first[0].completionQueue(), 0, 0);
                    assertEquals(2, queue.poll(batch));
                    for (int i = 0; i < 2; i++) {
                        shared.receive(station.region, batch.context(i) * 64, 64, batch.context(i));
                    }
                }
                first[1].close();
                assertEquals(0, queue.poll(batch));
                for (int i = 0; i < SLOTS; i++) {
                    second[0].send(station.region, 4096, 8, CompletionFlag.ALWAYS, i);
                    Station.expect(second[0].completionQueue(), i, 0);
                }
                assertEquals(SLOTS, queue.poll(batch));
                for (int i = 0; i < SLOTS; i++) {
                    assertEquals(0, batch.statusCode(i));
                }
                first[0].close();
                second[0].close();
                second[1].close();
            }
            shared.close();
        }
    }

    /**
     * The configured size of the receive queue, rounded to between 64 and 256, is how many messages can arrive on a connection
     * and not be polled. The next one waits at its sender, and arrives when one has been polled.
     */
    @ParameterizedTest
    @CsvSource({"10, 64", "100, 128", "255, 256", "600, 256"})
    void theReceiveQueueSizeBoundsTheMessagesThatAreNotPolled(int receiveQueueSize, int most) throws Exception {
        int slots = 300;
        try (Station station = new Station(); Endpoint endpoint = station.listen()) {
            SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
                .receiveQueueSize(slots).receiveCompletionQueueSize(slots));
            for (int i = 0; i < slots; i++) {
                shared.receive(station.region, 0, 64, i);
            }
            try (ConnectionConfig client = station.provider.newConnectionConfig().sendQueueSize(slots).completionQueueSize(slots);
                ConnectionConfig server = station.provider.newConnectionConfig().sharedReceiveQueue(shared)
                    .receiveQueueSize(receiveQueueSize)) {
                Connection from = station.peer.newConnectionRequest(endpoint.localAddress(), client).connect(null);
                Connection to = Station.awaitRequest(endpoint, server).connect(null);
                Station.expect(ConnectionEvent.ESTABLISHED, from);
                Station.expect(ConnectionEvent.ESTABLISHED, to);
                for (int i = 0; i <= most; i++) {
                    from.send(station.region, 4096, 8, CompletionFlag.ALWAYS, i);
                }
                WorkCompletions sent = new WorkCompletions(slots);
                assertEquals(most, from.completionQueue().poll(sent));
                assertEquals(1, shared.receiveCompletionQueue().poll(new WorkCompletions(1)));
                Station.expect(from.completionQueue(), most, 0);
                assertEquals(most, shared.receiveCompletionQueue().poll(new WorkCompletions(slots)));
                from.close();
                to.close();
            }
            shared.close();
        }
    }

    /**
     * A client writes an invalid completion before its request has been accepted. It harms its own connection alone, which cannot
     * be accepted afterwards.
     */
    @Test
    void aClientThatHasNotBeenAcceptedHarmsOnlyItself() throws Exception {
        try (Station station = new Station(); Endpoint endpoint = station.listen()) {
            SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
                .receiveQueueSize(SLOTS).receiveCompletionQueueSize(SLOTS));
            shared.receive(station.region, 0, 64, 7);
            try (ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(shared)) {
                Connection[] other = connect(station, endpoint, config);
                Connection hostile = station.peer.newConnectionRequest(endpoint.localAddress(), null).connect(null);
                IncomingRequest request = (IncomingRequest) Station.awaitRequest(endpoint, config);
                QueuePair victim = request.queues().queuePair();
                CompletionRing.publish(victim.base() + Half.ring(0), SLOTS - 1, 0, 0xffff, 8, 0, 0, 0);
                CompletionQueue queue = shared.receiveCompletionQueue();
                WorkCompletions batch = new WorkCompletions(SLOTS);
                while (victim.state() != Half.ERROR) {
                    assertEquals(0, queue.poll(batch));
                }
                other[0].send(station.region, 4096, 8, CompletionFlag.ALWAYS, 1);
                Station.expect(queue, 7, 0);
                assertThrows(RpmaException.class, () -> request.connect(null));
                Station.expect(ConnectionEvent.REJECTED, hostile);
                for (Connection each : List.of(hostile, other[0], other[1])) {
                    each.close();
                }
            }
            shared.close();
        }
    }

    /**
     * A sender is woken for the only receive, and does not take it, as if its process were stopped. Another sender that waits is
     * woken before the owner sleeps.
     */
    @Test
    void aSenderThatDoesNotTakeItsReceiveDelaysNobody() throws Exception {
        try (Station station = new Station(); Endpoint endpoint = station.listen()) {
            SoftSharedReceiveQueue shared = (SoftSharedReceiveQueue) station.peer.newSharedReceiveQueue(
                station.provider.newSharedReceiveQueueConfig().receiveQueueSize(SLOTS).receiveCompletionQueueSize(SLOTS));
            try (ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(shared)) {
                Connection[] idle = connect(station, endpoint, config);
                Connection[] waiting = connect(station, endpoint, config);
                waiting[0].send(station.region, 4096, 8, CompletionFlag.ALWAYS, 1);
                new SharedReceives(shared.id(), shared.posted().retain(), shared.memory().retain(), shared.capacity(), null)
                    .announceWaiting(0);
                shared.receive(station.region, 0, 64, 2);
                shared.receiveCompletionQueue().consumeEvent();
                WorkCompletions one = new WorkCompletions(1);
                assertEquals(1, waiting[0].completionQueue().poll(one));
                assertEquals(1, one.context(0));
                Station.expect(shared.receiveCompletionQueue(), 2, 0);
                for (Connection each : List.of(idle[0], idle[1], waiting[0], waiting[1])) {
                    each.close();
                }
            }
            shared.close();
        }
    }

    /**
     * Queue pairs are created one after another, receive one message and end, while other threads post the same slots again. No
     * receive is released twice, or lost because a taker was delayed between finding and taking it.
     */
    @Test
    void aTakerThatEndsLeavesReceivesThatWerePostedAgain() throws Exception {
        int threads = 3;
        try (Station station = new Station(); Endpoint endpoint = station.listen()) {
            SoftSharedReceiveQueue shared = (SoftSharedReceiveQueue) station.peer.newSharedReceiveQueue(
                station.provider.newSharedReceiveQueueConfig().receiveQueueSize(threads).receiveCompletionQueueSize(0));
            for (int i = 0; i < threads; i++) {
                shared.receive(station.region, i * 64L, 64, i);
            }
            Connection[][] pairs = new Connection[threads][];
            for (int i = 0; i < threads; i++) {
                pairs[i] = connect(station, endpoint, null);
            }
            ExecutorService executor = Executors.newFixedThreadPool(threads);
            try {
                List<Future<?>> results = new ArrayList<>();
                for (int i = 0; i < threads; i++) {
                    long ring = station.memory.address() + 8192 + i * 4096L;
                    Connection[] pair = pairs[i];
                    results.add(executor.submit(() -> {
                        comeAndGo(shared, pair, station.region, ring, Station.affordable(200_000));
                        return null;
                    }));
                }
                for (Future<?> result : results) {
                    result.get();
                }
            } finally {
                executor.shutdownNow();
            }
            SharedReceives view = shared.view();
            for (int i = 0; i < threads; i++) {
                long found = view.find();
                assertTrue(found != 0, i + " of " + threads + " receives are left");
                assertTrue(view.take(found, 1));
            }
            assertEquals(0, view.find());
            view.close();
            for (Connection[] pair : pairs) {
                pair[0].close();
                pair[1].close();
            }
            shared.close();
        }
    }

    private static void comeAndGo(SoftSharedReceiveQueue shared, Connection[] pair, LocalMemoryRegion region, long ring,
            int times) throws Exception {
        QueuePair user = ((SoftConnection) pair[1]).queuePair();
        long half = ((SoftConnection) pair[0]).queuePair().base();
        long busy = half + Half.BUSY;
        SharedReceives view = shared.view();
        WorkCompletions batch = new WorkCompletions(1);
        for (int i = 0; i < times; i++) {
            Memory.zero(ring, 64);
            SharedReceiveAttachment attachment = shared.attach(user, user.half(), ring, 4);
            shared.publish(attachment);
            Memory.putIntVolatile(busy, 2 * i + 1);
            long found = 0;
            int slot = 0;
            while (found == 0 || !view.take(found, attachment.index())) {
                found = view.find();
                Memory.putInt(half + Half.BUSY_RECEIVE, (int) found);
                if (found == 0) {
                    Station.pause();
                } else {
                    slot = Memory.getInt(view.entry(found) + ReceiveEntry.SLOT);
                }
            }
            CompletionRing.publish(ring, 3, 0, slot, 8, 0, 0, 0);
            Memory.putIntRelease(busy, 2 * i + 2);
            assertEquals(1, attachment.poll(batch, 0), "round " + i);
            shared.receive(region, 0, 64, batch.context(0));
            shared.detach(attachment);
        }
        view.close();
    }

    /** The owner of a completion queue need not be woken for the end of a connection that has left nothing to be polled. */
    @Test
    void theEndOfAConnectionWakesTheOwnerOnlyIfItLeavesCompletions() throws Exception {
        try (Station station = new Station(); Endpoint endpoint = station.listen()) {
            SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
                .receiveQueueSize(SLOTS).receiveCompletionQueueSize(2 * SLOTS));
            CompletionQueue queue = shared.receiveCompletionQueue();
            for (int i = 0; i < SLOTS; i++) {
                shared.receive(station.region, i * 64L, 64, i);
            }
            WorkCompletions batch = new WorkCompletions(SLOTS);
            try (ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(shared)) {
                Connection[] idle = connect(station, endpoint, config);
                idle[0].close();
                Station.expect(ConnectionEvent.CLOSED, idle[1]);
                idle[1].close();
                assertFalse(Station.isReadable(queue.fd()), "after the end of a connection without messages");

                Connection[] polled = connect(station, endpoint, config);
                polled[0].send(station.region, 4096, 8, CompletionFlag.ON_ERROR, 0);
                assertTrue(queue.consumeEvent());
                assertEquals(1, queue.poll(batch));
                polled[0].close();
                Station.expect(ConnectionEvent.CLOSED, polled[1]);
                polled[1].close();
                assertFalse(Station.isReadable(queue.fd()), "after the end of a connection whose message was polled");

                Connection[] unread = connect(station, endpoint, config);
                unread[0].send(station.region, 4096, 8, CompletionFlag.ON_ERROR, 0);
                assertTrue(queue.consumeEvent());
                assertFalse(Station.isReadable(queue.fd()));
                unread[1].close();
                assertTrue(Station.isReadable(queue.fd()), "after the end of a connection whose message was not polled");
                assertTrue(queue.consumeEvent());
                assertEquals(1, queue.poll(batch));
                assertEquals(0, batch.statusCode(0));
                unread[0].close();
            }
            shared.close();
        }
    }

    /** A closed connection holds memory until the owner polls, so the owner is woken when there are many. */
    @Test
    void theEndOfManyConnectionsWakesTheOwner() throws Exception {
        try (Station station = new Station(); Endpoint endpoint = station.listen()) {
            SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
                .receiveQueueSize(SLOTS).receiveCompletionQueueSize(2 * SLOTS));
            CompletionQueue queue = shared.receiveCompletionQueue();
            try (ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(shared)) {
                for (int i = 1; i <= 64; i++) {
                    Connection[] pair = connect(station, endpoint, config);
                    pair[0].close();
                    pair[1].close();
                    assertEquals(i == 64, Station.isReadable(queue.fd()), i + " connections have ended");
                }
                assertTrue(queue.consumeEvent());
                assertEquals(0, queue.poll(new WorkCompletions(1)));
            }
            shared.close();
        }
    }

    /**
     * A send that has taken no receive leaves the ready bit of its peer's index alone: the peer may have closed, and another
     * queue pair may have the index.
     */
    @Test
    void aSendThatHasTakenNoReceiveSetsNoReadyBit() throws Exception {
        try (Station station = new Station(); Endpoint endpoint = station.listen()) {
            SoftSharedReceiveQueue shared = (SoftSharedReceiveQueue) station.peer.newSharedReceiveQueue(
                station.provider.newSharedReceiveQueueConfig().receiveQueueSize(SLOTS).receiveCompletionQueueSize(SLOTS));
            LocalMemoryRegion forWrites = station.peer.register(station.memory, EnumSet.of(MemoryUsage.WRITE_SRC));
            long ready = shared.memory().address() + SharedReceives.READY;
            try (ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(shared)) {
                Connection[] wrongRegion = connect(station, endpoint, config);
                wrongRegion[0].send(forWrites, 0, 8, CompletionFlag.ALWAYS, 1);
                Station.expect(wrongRegion[0].completionQueue(), 1, CompletionStatus.LOC_PROT_ERR.code());
                assertEquals(0, Memory.getLong(ready), "after a send from a region that does not allow it");
                wrongRegion[0].close();
                wrongRegion[1].close();
                shared.receiveCompletionQueue().poll(new WorkCompletions(1));
                Connection[] gone = connect(station, endpoint, config);
                gone[1].close();
                shared.receiveCompletionQueue().poll(new WorkCompletions(1));
                Connection[] next = connect(station, endpoint, config);
                assertEquals(0, Memory.getLong(ready), "before the send to a peer that has closed");
                gone[0].send(station.region, 0, 8, CompletionFlag.ALWAYS, 2);
                Station.expect(gone[0].completionQueue(), 2, CompletionStatus.RETRY_EXC_ERR.code());
                assertEquals(0, Memory.getLong(ready), "after a send to a peer that has closed");
                gone[0].close();
                next[0].close();
                next[1].close();
            }
            forWrites.close();
            shared.close();
        }
    }

    /** A queue pair has ended, and the next one uses its memory. What the peer completes there does not concern the first one. */
    @Test
    void anAttachmentThatHasEndedDoesNotReadTheRingOfTheNextUser() throws Exception {
        try (Station station = new Station(); Endpoint endpoint = station.listen()) {
            SoftSharedReceiveQueue shared = (SoftSharedReceiveQueue) station.peer.newSharedReceiveQueue(
                station.provider.newSharedReceiveQueueConfig().receiveQueueSize(SLOTS).receiveCompletionQueueSize(0));
            Connection[] pair = connect(station, endpoint, null);
            QueuePair user = ((SoftConnection) pair[1]).queuePair();
            RemoteProcess process = user.half().owner();
            int size = (int) Half.size(SLOTS, SLOTS);
            HalfMemory half = process.newHalf(size);
            long ring = half.address() + Half.ring(SLOTS);
            SharedReceiveAttachment ended = shared.attach(user, half, ring, SLOTS);
            shared.publish(ended);
            shared.detach(ended);
            half.release();
            HalfMemory next = process.newHalf(size);
            assertSame(half, next, "the memory is used again");
            CompletionRing.publish(ring, SLOTS - 1, 0, 2, 8, 0, 0, 0);
            BitSet candidates = new BitSet();
            candidates.set(2);
            ended.clearCompleted(candidates);
            assertTrue(candidates.get(2), "a completion of another queue pair was regarded as one of this");
            SharedReceiveAttachment current = shared.attach(user, next, ring, SLOTS);
            current.clearCompleted(candidates);
            assertFalse(candidates.get(2));
            shared.publish(current);
            Memory.zero(ring, CompletionRing.ENTRY);
            shared.detach(current);
            next.release();
            pair[0].close();
            pair[1].close();
            shared.close();
        }
    }
}
