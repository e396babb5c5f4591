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
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.soft.host.Libc;
import io.rpma.soft.host.SharedFolder;
import io.rpma.soft.shared.EventPipe;
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.SharedReceives;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Two threads in an unfavourable order. Each method interrupts one thread at a place of {@link Faults}, lets the other thread or
 * the other end act, and continues. Both ends of a connection are in one process, which is separate from that of the tests.
 */
final class Interleavings implements AutoCloseable {
    private static final int SUCCESS = CompletionStatus.SUCCESS.code();
    private static final int FLUSHED = CompletionStatus.WR_FLUSH_ERR.code();
    private static final int NO_PEER = CompletionStatus.RETRY_EXC_ERR.code();
    /** The time in milliseconds for which a method waits for something that must not happen. */
    private static final int MOMENT_MILLIS = 500;
    /** A number of slots with which the ring of completions of a connection can be full. */
    private static final int MANY = 256;

    private final Station station = new Station();
    private final WorkCompletions batch = new WorkCompletions(MANY);

    private Interleavings() throws RpmaException {
    }

    private interface Step {
        void run() throws Exception;
    }

    /** Runs the method with the given name. Returns {@code ok} or the failure. */
    static String run(String name) {
        try (Interleavings all = new Interleavings()) {
            switch (name) {
                case "newsForTheHolderOfTheLock" -> all.newsForTheHolderOfTheLock();
                case "roomButNoReceive" -> all.roomButNoReceive();
                case "roomIsKnownBeforeAReceive" -> all.roomIsKnownBeforeAReceive();
                case "flushWhileThePeerIsBusy" -> all.flushWhileThePeerIsBusy();
                case "failureWhileItBecomesReady" -> all.failureWhileItBecomesReady();
                case "flushBeforeThePeerIsTold" -> all.flushBeforeThePeerIsTold();
                case "failureWakesWhoWaitsForASharedReceive" -> all.failureWakesWhoWaitsForASharedReceive();
                case "closingWhileAnotherThreadFails" -> all.closingWhileAnotherThreadFails();
                case "revivedAndDetachedAtOnce" -> all.revivedAndDetachedAtOnce();
                case "faultOfARingThatLeavesTheList" -> all.faultOfARingThatLeavesTheList();
                case "readyBeforeItIsComplete" -> all.readyBeforeItIsComplete();
                case "lengthIsReadOnce" -> all.lengthIsReadOnce();
                case "detachingKeepsTheQueue" -> all.detachingKeepsTheQueue();
                case "tellingIsBusy" -> all.tellingIsBusy();
                case "noLateAnnouncement" -> all.noLateAnnouncement();
                case "unmappingWaitsForTheOwnThreads" -> all.unmappingWaitsForTheOwnThreads();
                case "wakingWhoFollowsAtAnIndex" -> all.wakingWhoFollowsAtAnIndex();
                case "failingWakesWhoFollowsAtAnIndex" -> all.failingWakesWhoFollowsAtAnIndex();
                case "aReceiveWakesOneOfThoseThatWait" -> all.aReceiveWakesOneOfThoseThatWait();
                case "aLockFileThatCannotBeOpenedToOthers" -> all.aLockFileThatCannotBeOpenedToOthers();
                default -> throw new IllegalArgumentException(name);
            }
            return "ok";
        } catch (Exception | AssertionError e) {
            return e.toString().replaceAll("\\s+", " ");
        } finally {
            Faults.hook(place -> { });
        }
    }

    @Override
    public void close() throws RpmaException {
        station.close();
    }

    /** Runs a step when a place is reached for the first time. Returns how many times it has been reached. */
    private static AtomicInteger at(String place, Step step) {
        AtomicInteger times = new AtomicInteger();
        Faults.hook(reached -> {
            if (reached.equals(place) && times.incrementAndGet() == 1) {
                try {
                    step.run();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        });
        return times;
    }

    private SharedReceiveQueue sharedQueue(int slots, int completions) throws RpmaException {
        return station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig().receiveQueueSize(slots)
            .receiveCompletionQueueSize(completions));
    }

    private Ends ends(SharedReceiveQueue shared) throws RpmaException {
        return new Ends(station, config(), shared == null ? config() : config().sharedReceiveQueue(shared));
    }

    private ConnectionConfig config() throws RpmaException {
        return station.provider.newConnectionConfig().sendQueueSize(2 * MANY).receiveQueueSize(MANY)
            .completionQueueSize(2 * MANY);
    }

    private static QueuePair queuePair(Connection connection) {
        return ((SoftConnection) connection).queuePair();
    }

    /** Polls without waiting, and checks that there is exactly one completion. */
    private void expectOne(CompletionQueue queue, long context, int status) throws RpmaException {
        assertEquals(1, queue.poll(batch), "completions");
        assertEquals(context, batch.context(0), "context");
        assertEquals(status, batch.statusCode(0), "status");
    }

    /**
     * The peer posts a receive and rings the doorbell while the sender is about to unlock the list of waiting requests. The
     * sender must not wait any longer.
     */
    private void newsForTheHolderOfTheLock() throws Exception {
        Ends ends = ends(null);
        AtomicInteger times = at("waiting", () -> ends.server.receive(station.region, 0, 64, 1));
        ends.client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 2);
        assertEquals(1, times.get());
        expectOne(ends.server.completionQueue(), 1, SUCCESS);
        ends.closeConnections();
    }

    /** The ring of completions is full. Before the sender has asked for room there is some again, but there is no receive. */
    private void roomButNoReceive() throws Exception {
        try (SharedReceiveQueue shared = sharedQueue(MANY, 0)) {
            Ends ends = ends(shared);
            for (int i = 0; i < MANY; i++) {
                shared.receive(station.region, i * 64L, 64, i);
            }
            at("announcing", () -> assertEquals(MANY, ends.server.completionQueue().poll(batch)));
            for (int i = 0; i <= MANY; i++) {
                ends.client.send(station.region, 0, 8, CompletionFlag.ALWAYS, i);
            }
            shared.receive(station.region, 0, 64, 7);
            expectOne(ends.server.completionQueue(), 7, SUCCESS);
            ends.closeConnections();
        }
    }

    /**
     * Another thread posts a slot again while the polling thread is in the middle of a batch. The ring has room before the
     * receive is posted.
     */
    private void roomIsKnownBeforeAReceive() throws Exception {
        int count = 5;
        try (SharedReceiveQueue shared = sharedQueue(1, 0)) {
            Ends ends = ends(shared);
            AtomicInteger sent = new AtomicInteger();
            Step send = () -> {
                if (sent.get() < count) {
                    shared.receive(station.region, 0, 64, 0);
                    ends.client.send(station.region, 0, 8, CompletionFlag.ALWAYS, sent.getAndIncrement());
                }
            };
            Faults.hook(reached -> {
                if (reached.equals("freed")) {
                    try {
                        send.run();
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                }
            });
            send.run();
            int received = ends.server.completionQueue().poll(batch);
            received += ends.server.completionQueue().poll(batch);
            assertEquals(count, received);
            assertEquals(0, queuePair(ends.client).stalls());
            ends.closeConnections();
        }
    }

    /**
     * Receives cannot be flushed while the peer is in the middle of a write. The end of this write rings no doorbell by itself.
     */
    private void flushWhileThePeerIsBusy() throws Exception {
        Ends ends = ends(null);
        CompletionQueue queue = ends.server.completionQueue();
        ends.server.receive(station.region, 0, 64, 1);
        at("executing", () -> {
            ends.server.disconnect();
            queue.consumeEvent();
            assertEquals(0, queue.poll(batch));
        });
        ends.client.write(station.describe(station.region), 0, station.region, 64, 8, CompletionFlag.ON_ERROR, 2);
        assertTrue(Station.isReadable(queue.fd()), "the owner is not woken for the flushed receive");
        queue.consumeEvent();
        expectOne(queue, 1, FLUSHED);
        ends.closeConnections();
    }

    /** One thread fails the queue pair while another one is about to publish that it is ready. The peer must find the error. */
    private void failureWhileItBecomesReady() throws Exception {
        Endpoint endpoint = station.listen();
        Connection client = station.peer.newConnectionRequest(endpoint.localAddress(), config()).connect(null);
        Connection server = Station.awaitRequest(endpoint, config()).connect(null);
        AtomicInteger times = at("readying", () -> queuePair(client).fail());
        Station.expect(ConnectionEvent.ESTABLISHED, client);
        Station.expect(ConnectionEvent.ESTABLISHED, server);
        assertEquals(1, times.get());
        server.send(station.region, 0, 8, CompletionFlag.ALWAYS, 2);
        expectOne(server.completionQueue(), 2, NO_PEER);
        client.close();
        server.close();
        endpoint.close();
    }

    /**
     * One thread fails the queue pair, and another one polls before the peer is notified. The peer can still take the receive.
     */
    private void flushBeforeThePeerIsTold() throws Exception {
        Ends ends = ends(null);
        CompletionQueue queue = ends.server.completionQueue();
        ends.server.receive(station.region, 0, 64, 1);
        at("failing", () -> {
            assertEquals(0, queue.poll(batch));
            ends.client.send(station.region, 64, 8, CompletionFlag.ALWAYS, 2);
        });
        ends.server.disconnect();
        expectOne(queue, 1, SUCCESS);
        expectOne(ends.client.completionQueue(), 2, SUCCESS);
        ends.closeConnections();
    }

    /** A sender waits because no shared receive is posted, and its peer fails. */
    private void failureWakesWhoWaitsForASharedReceive() throws Exception {
        try (SharedReceiveQueue shared = sharedQueue(4, 0)) {
            Ends ends = ends(shared);
            CompletionQueue queue = ends.client.completionQueue();
            ends.client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            queue.consumeEvent();
            assertEquals(0, queue.poll(batch));
            ends.server.disconnect();
            assertTrue(Station.isReadable(queue.fd()));
            expectOne(queue, 1, NO_PEER);
            ends.closeConnections();
        }
    }

    /** The thread that polls the shared queue fails a connection while the connection's own thread closes it. */
    private void closingWhileAnotherThreadFails() throws Exception {
        try (SharedReceiveQueue shared = sharedQueue(4, 20)) {
            Ends ends = ends(shared);
            shared.receive(station.region, 0, 64, 1);
            ends.client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            expectOne(shared.receiveCompletionQueue(), 1, SUCCESS);
            LocalMemoryRegion source = station.peer.register(station.memory, EnumSet.of(MemoryUsage.READ_SRC));
            ends.client.write(station.describe(source), 0, station.region, 0, 8, CompletionFlag.ALWAYS, 2);
            ends.server.completionQueue().consumeEvent();
            ends.client.close();
            int closing = ends.server.completionQueue().fd();
            EventPipe next = EventPipe.create();
            AtomicInteger times = at("failing", () -> {
                ends.server.close();
                assertFalse(Libc.isPipe(closing), "the descriptor is not closed");
                // The number of the descriptor is reused for another pipe.
                assertEquals(0, Libc.replace(next.fd(), closing));
            });
            shared.receiveCompletionQueue().poll(batch);
            assertEquals(1, times.get());
            assertEquals(0, next.read(), "the doorbell was rung on the other pipe");
            Posix.close(closing);
            next.release();
            source.close();
            ends.closeConnections();
        }
    }

    /** The peer disconnects and the connection is closed while the polling thread handles earlier completions. */
    private void revivedAndDetachedAtOnce() throws Exception {
        try (SharedReceiveQueue shared = sharedQueue(4, 20)) {
            Ends first = ends(shared);
            Ends second = ends(shared);
            first.closeConnections();
            AtomicInteger times = at("revived", () -> {
                second.client.close();
                Station.expect(ConnectionEvent.CLOSED, second.server);
                second.closeConnections();
            });
            assertEquals(0, shared.receiveCompletionQueue().poll(batch));
            assertEquals(1, times.get());
            assertEquals(0, shared.receiveCompletionQueue().poll(batch));
            // The new connection uses the memory of the one that was closed.
            Ends third = ends(shared);
            shared.receive(station.region, 0, 64, 1);
            third.client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            expectOne(shared.receiveCompletionQueue(), 1, SUCCESS);
            assertEquals(third.server.queuePairNumber(), batch.queuePairNumber(0));
            third.closeConnections();
        }
    }

    /**
     * A peer reports a fault while the owner removes its empty ring from the list. The peer finds its ready bit still set, so the
     * owner has to find the fault without being asked to check all rings.
     */
    private void faultOfARingThatLeavesTheList() throws Exception {
        int connections = 12;
        try (SharedReceiveQueue shared = sharedQueue(connections, connections)) {
            Ends[] all = new Ends[connections];
            for (int i = 0; i < connections; i++) {
                all[i] = ends(shared);
                shared.receive(station.region, i * 64L, 64, i);
            }
            LocalMemoryRegion withdrawn = station.peer.register(station.memory, EnumSet.of(MemoryUsage.WRITE_DST));
            RemoteMemoryRegion target = station.describe(withdrawn);
            withdrawn.close();
            for (Ends ends : all) {
                ends.client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            }
            CompletionQueue queue = shared.receiveCompletionQueue();
            assertEquals(connections, queue.poll(batch));
            AtomicInteger times =
                at("deactivating", () -> all[0].client.write(target, 0, station.region, 0, 8, CompletionFlag.ALWAYS, 2));
            for (int polls = 0; times.get() == 0; polls++) {
                assertTrue(polls < 100, "no ring leaves the list");
                assertEquals(0, queue.poll(batch));
            }
            assertEquals(0, queue.poll(batch));
            assertTrue(queuePair(all[0].server).isError(), "the fault has not been found");
            for (Ends ends : all) {
                ends.closeConnections();
            }
        }
    }

    /** A peer sets the ready bit of another queue pair while that queue pair is being created. */
    private void readyBeforeItIsComplete() throws Exception {
        try (SharedReceiveQueue shared = sharedQueue(4, 20)) {
            SharedReceives view = ((SoftSharedReceiveQueue) shared).view();
            AtomicInteger times = at("attached", () -> {
                view.markReady(0);
                assertEquals(0, shared.receiveCompletionQueue().poll(batch));
            });
            Ends ends = ends(shared);
            assertEquals(1, times.get());
            shared.receive(station.region, 0, 64, 1);
            ends.client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            expectOne(shared.receiveCompletionQueue(), 1, SUCCESS);
            view.close();
            ends.closeConnections();
        }
    }

    /** After the owner has checked the length of a message, the peer changes it to more than the buffer holds. */
    private void lengthIsReadOnce() throws Exception {
        try (SharedReceiveQueue shared = sharedQueue(4, 0)) {
            Ends ends = ends(shared);
            shared.receive(station.region, 0, 64, 1);
            ends.client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            long length = queuePair(ends.client).remote().ring();
            AtomicInteger times = at("checked", () -> Memory.putInt(length, 1 << 20));
            expectOne(ends.server.completionQueue(), 1, SUCCESS);
            assertEquals(8, batch.byteLength(0));
            assertEquals(1, times.get());
            ends.closeConnections();
        }
    }

    /** The last connection of a shared queue is being closed. The queue cannot be closed before this is complete. */
    private void detachingKeepsTheQueue() throws Exception {
        try (SharedReceiveQueue shared = sharedQueue(4, 0)) {
            Ends ends = ends(shared);
            AtomicInteger times = at("reclaiming", () -> assertThrows(RpmaException.class, shared::close));
            ends.closeConnections();
            assertEquals(1, times.get());
        }
        SoftSharedReceiveQueue closed = (SoftSharedReceiveQueue) sharedQueue(4, 0);
        closed.close();
        assertNull(closed.view());
    }

    /**
     * A sender is busy until it has notified the owner of a shared queue of a message, so that its number there is not given to
     * another connection before that.
     */
    private void tellingIsBusy() throws Exception {
        try (SharedReceiveQueue shared = sharedQueue(4, 20)) {
            Ends ends = ends(shared);
            shared.receive(station.region, 0, 64, 1);
            long word = queuePair(ends.client).base() + Half.BUSY;
            AtomicInteger times = at("telling", () -> assertEquals(1, Memory.getInt(word) & 1));
            ends.client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            assertEquals(1, times.get());
            assertEquals(0, Memory.getInt(word) & 1);
            ends.closeConnections();
        }
    }

    /**
     * A sender that finds no shared receive, and then finds that its peer has failed, does not announce that it waits. Its number
     * may belong to another connection by then.
     */
    private void noLateAnnouncement() throws Exception {
        try (SharedReceiveQueue shared = sharedQueue(4, 0)) {
            Ends ends = ends(shared);
            AtomicInteger times = at("announcing", ends.server::disconnect);
            ends.client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            assertEquals(1, times.get());
            long words = ((SoftSharedReceiveQueue) shared).memory().address();
            assertEquals(0, Memory.getLong(words + SharedReceives.WAITERS));
            expectOne(ends.client.completionQueue(), 1, NO_PEER);
            ends.closeConnections();
        }
    }

    /**
     * Memory that another process has released is unmapped only when no thread of this process uses it, however long that takes.
     */
    private void unmappingWaitsForTheOwnThreads() throws Exception {
        Ends ends = ends(null);
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        at("executing", () -> {
            reached.countDown();
            goOn.await();
        });
        Thread writer = new Thread(() -> {
            try {
                ends.client.write(station.describe(station.region), 0, station.region, 64, 8, CompletionFlag.ALWAYS, 2);
            } catch (RpmaException e) {
                throw new AssertionError(e);
            }
        });
        writer.start();
        reached.await();
        Thread unmapping = new Thread(((SoftProvider) station.provider).process()::awaitOwn);
        unmapping.start();
        assertFalse(unmapping.join(Duration.ofMillis(MOMENT_MILLIS)), "another thread still uses the memory");
        goOn.countDown();
        writer.join();
        unmapping.join();
        ends.closeConnections();
    }

    /**
     * A thread that has posted a receive is about to wake a sender. The sender's connection ends meanwhile, and the next one,
     * which has its index in the shared queue, begins to wait for a receive.
     */
    private void wakingWhoFollowsAtAnIndex() throws Exception {
        try (SharedReceiveQueue shared = sharedQueue(4, 0)) {
            Ends first = ends(shared);
            first.client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            AtomicReference<Ends> second = new AtomicReference<>();
            at("wakingWaiter", () -> {
                first.closeConnections();
                second.set(ends(shared));
                second.get().client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
                second.get().client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 2);
            });
            shared.receive(station.region, 0, 64, 1);
            assertNotNull(second.get());
            long waiters = ((SoftSharedReceiveQueue) shared).memory().address() + SharedReceives.WAITERS;
            assertEquals(1, Memory.getLong(waiters), "the bits of those who wait");
            shared.receive(station.region, 64, 64, 2);
            assertEquals(2, second.get().server.completionQueue().poll(batch), "completions");
            second.get().closeConnections();
        }
    }

    /** A queue pair fails. Before it clears the waiting bit of its index, the index is given to another one, whose peer waits. */
    private void failingWakesWhoFollowsAtAnIndex() throws Exception {
        try (SharedReceiveQueue shared = sharedQueue(4, 0)) {
            Ends first = ends(shared);
            first.client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            AtomicReference<Ends> second = new AtomicReference<>();
            at("failingWakesWaiter", () -> {
                first.closeConnections();
                second.set(ends(shared));
                second.get().client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            });
            first.server.disconnect();
            assertNotNull(second.get());
            shared.receive(station.region, 0, 64, 1);
            assertEquals(1, second.get().server.completionQueue().poll(batch), "completions");
            second.get().closeConnections();
        }
    }

    /** A hundred senders wait for a receive of a queue. Each receive wakes one of them, and not all. */
    private void aReceiveWakesOneOfThoseThatWait() throws Exception {
        int senders = 100;
        try (SharedReceiveQueue shared = sharedQueue(4, 4)) {
            Ends[] all = new Ends[senders];
            for (int i = 0; i < senders; i++) {
                all[i] = ends(shared);
                all[i].client.send(station.region, 0, 8, CompletionFlag.ALWAYS, i);
            }
            AtomicInteger wakes = at("wakingWaiter", () -> { });
            for (int i = 0; i < senders; i++) {
                shared.receive(station.region, 0, 64, i);
                Station.expect(shared.receiveCompletionQueue(), i, SUCCESS);
            }
            for (int i = 0; i < senders; i++) {
                Station.expect(all[i].client.completionQueue(), i, SUCCESS);
                all[i].closeConnections();
            }
            assertTrue(wakes.get() <= 2 * senders, wakes + " wakes for " + senders + " receives");
        }
    }

    /** The name of a listener is locked, and then its lock file cannot be given the mode of the folder. No file stays behind. */
    private void aLockFileThatCannotBeOpenedToOthers() throws Exception {
        Path directory = Files.createTempDirectory("rpma-folder");
        SharedFolder folder = SharedFolder.open(directory.toString());
        AtomicInteger times = at("openingToOthers", () -> {
            throw new IOException("the mode cannot be changed");
        });
        assertThrows(AssertionError.class, () -> folder.lock("listener"));
        assertEquals(1, times.get());
        // This fails if the folder is not empty.
        Files.delete(directory);
    }
}
