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
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.Peer;
import io.rpma.TestPatience;
import io.rpma.WorkCompletions;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static io.rpma.CompletionFlag.ALWAYS;
import static io.rpma.CompletionFlag.ON_ERROR;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests several threads, each with its own connection or its own end of a connection, and checks that no wake-up is lost. */
class ConcurrencyContractTest extends ContractCase {
    private static final VarHandle LONG = JAVA_LONG.varHandle();

    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void endThreads() {
        threads.shutdownNow();
    }

    private void together(List<Callable<Void>> parts) throws Exception {
        List<Future<Void>> running = new ArrayList<>();
        for (Callable<Void> part : parts) {
            running.add(threads.submit(part));
        }
        for (Future<Void> part : running) {
            part.get(100L * TestPatience.FACTOR, TimeUnit.SECONDS);
        }
    }

    /** Waits in poll(2) for one completion, in the required order: consume the event, poll until the queue is empty, wait. */
    private static void next(CompletionQueue queue, WorkCompletions batch) throws Exception {
        while (queue.poll(batch) == 0) {
            assertTrue(Poll.readable(queue.fd(), Contract.DEADLINE), "a wake-up was lost");
            queue.consumeEvent();
        }
        assertEquals(0, batch.statusCode(0));
    }

    /**
     * facts 2.3: ten thousand messages are sent back and forth, and a thread waits in poll(2) for each of them; no wake-up is
     * lost.
     */
    @Test
    void noWakeUpIsLost() throws Exception {
        int rounds = 10_000;
        Pair pair = pair(Pair.with().both(config -> config.receiveCompletionQueueSize(16)));
        pair.server.receive(null, 0, 0, 0);
        pair.client.receive(null, 0, 0, 0);
        together(List.of(() -> {
            WorkCompletions batch = new WorkCompletions(1);
            for (int i = 0; i < rounds; i++) {
                pair.client.send(null, 0, 0, ALWAYS, i);
                next(pair.client.receiveCompletionQueue(), batch);
                pair.client.receive(null, 0, 0, i);
                next(pair.client.completionQueue(), batch);
                assertEquals(i, batch.context(0));
            }
            return null;
        }, () -> {
            WorkCompletions batch = new WorkCompletions(1);
            for (int i = 0; i < rounds; i++) {
                next(pair.server.receiveCompletionQueue(), batch);
                pair.server.receive(null, 0, 0, i);
                pair.server.send(null, 0, 0, ALWAYS, i);
                next(pair.server.completionQueue(), batch);
                assertEquals(i, batch.context(0));
            }
            return null;
        }));
    }

    /** The same test under load: many messages are outstanding, and the receiver sleeps whenever it has processed all of them. */
    @Test
    void streamLosesNothingAndKeepsItsOrder() throws Exception {
        int messages = 10_000;
        int window = 32;
        Pair pair = pair(Pair.with().both(
            config -> config.sendQueueSize(window).receiveQueueSize(window).completionQueueSize(4 * window)));
        Semaphore credits = new Semaphore(window);
        for (int i = 0; i < window; i++) {
            pair.server.receive(pair.serverMemory, i * 256L, 256, i);
        }
        together(List.of(() -> {
            WorkCompletions batch = new WorkCompletions(window);
            int retired = 0;
            for (int i = 0; i < messages; i++) {
                assertTrue(credits.tryAcquire(Contract.DEADLINE, TimeUnit.MILLISECONDS));
                while (i - retired == window) {
                    int got = pair.client.completionQueue().poll(batch);
                    if (got == 0) {
                        assertTrue(Poll.readable(pair.client.completionQueue().fd(), Contract.DEADLINE));
                        pair.client.completionQueue().consumeEvent();
                    }
                    for (int k = 0; k < got; k++) {
                        assertEquals(0, batch.statusCode(k));
                        retired = (int) batch.context(k) + 1;
                    }
                }
                long slot = i % window * 256L;
                pair.clientMemory.memory().set(JAVA_LONG, slot, i);
                pair.client.send(pair.clientMemory, slot, 8 + i % 200, i % 8 == 7 ? ALWAYS : ON_ERROR, i);
            }
            return null;
        }, () -> {
            WorkCompletions batch = new WorkCompletions(7);
            CompletionQueue queue = pair.server.completionQueue();
            int received = 0;
            while (received < messages) {
                int got = queue.poll(batch);
                if (got == 0) {
                    assertTrue(Poll.readable(queue.fd(), Contract.DEADLINE), () -> "a wake-up was lost");
                    queue.consumeEvent();
                }
                for (int k = 0; k < got; k++) {
                    assertEquals(0, batch.statusCode(k));
                    assertEquals(8 + received % 200, batch.byteLength(k));
                    assertEquals(received, pair.serverMemory.memory().get(JAVA_LONG, batch.context(k) * 256));
                    pair.server.receive(pair.serverMemory, batch.context(k) * 256, 256, batch.context(k));
                    received++;
                    credits.release();
                }
            }
            return null;
        }));
    }

    /** Peers are thread-safe, and each connection belongs to one thread. */
    @Test
    void threadsWithConnectionsOfOnePeer() throws Exception {
        List<Callable<Void>> parts = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            Pair pair = pair(Pair.with());
            parts.add(() -> {
                for (int i = 0; i < 300; i++) {
                    pair.exchange();
                }
                return null;
            });
        }
        together(parts);
    }

    /** Connecting, registering and closing in one thread does not affect another thread. */
    @Test
    void connectingDisturbsNobody() throws Exception {
        Pair busy = pair(Pair.with());
        Peer peer = peer();
        AtomicBoolean over = new AtomicBoolean();
        together(List.of(() -> {
            try {
                for (int i = 0; i < 20; i++) {
                    try (Pair other = Pair.with().peer(peer).connect()) {
                        other.exchange();
                    }
                }
            } finally {
                over.set(true);
            }
            return null;
        }, () -> {
            do {
                busy.exchange();
            } while (!over.get());
            return null;
        }));
    }

    /** Connections are made on the endpoint's thread and used on other threads, as event loops do. */
    @Test
    void connectionsMoveToOtherThreads() throws Exception {
        Endpoint endpoint = endpoint();
        int count = 20;
        List<Future<Void>> running = new ArrayList<>();
        LocalMemoryRegion[] regions = new LocalMemoryRegion[count];
        for (int i = 0; i < count; i++) {
            regions[i] = region(4096);
        }
        LocalMemoryRegion mine = region(4096);
        Peer peer = peer();
        Future<Void> acceptor = threads.submit(() -> {
            for (LocalMemoryRegion region : regions) {
                ConnectionRequest request = Wait.request(endpoint, null);
                request.receive(region, 0, 64, 1);
                Connection server = request.connect(null);
                running.add(threads.submit(() -> {
                    try (server) {
                        Wait.event(ConnectionEvent.ESTABLISHED, server);
                        assertEquals(1, Wait.success(server.completionQueue()).context());
                        server.send(region, 0, 64, ALWAYS, 2);
                        assertEquals(2, Wait.success(server.completionQueue()).context());
                        Wait.event(ConnectionEvent.CLOSED, server);
                    }
                    return null;
                }));
            }
            return null;
        });
        for (int i = 0; i < count; i++) {
            try (ConnectionRequest request = peer.newConnectionRequest(endpoint.localAddress(), null)) {
                request.receive(mine, 0, 64, 1);
                try (Connection client = request.connect(null)) {
                    Wait.event(ConnectionEvent.ESTABLISHED, client);
                    client.send(mine, 64, 64, ALWAYS, 2);
                    Wait.successes(client.completionQueue(), 2);
                }
            }
        }
        acceptor.get(60L * TestPatience.FACTOR, TimeUnit.SECONDS);
        for (Future<Void> server : running) {
            server.get(60L * TestPatience.FACTOR, TimeUnit.SECONDS);
        }
    }

    /** rpma_atomic_write(3): all eight bytes or none. The writer continues until the reader has seen a value change. */
    @Test
    void atomicWriteIsNeverSeenInHalves() throws Exception {
        Pair pair = pair();
        AtomicBoolean over = new AtomicBoolean();
        AtomicBoolean seen = new AtomicBoolean();
        together(List.of(() -> {
            try {
                long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Contract.DEADLINE);
                for (int i = 1; i <= 5000 || !seen.get(); i++) {
                    long half = i * 0x9e3779b1L & 0xffff_ffffL;
                    pair.client.atomicWrite(pair.atServer, 8, half << 32 | half, ALWAYS, i);
                    Wait.success(pair.client.completionQueue());
                    assertTrue(i <= 5000 || System.nanoTime() < end, "the reader saw no value change");
                }
            } finally {
                over.set(true);
            }
            return null;
        }, () -> {
            long before = 0;
            do {
                for (int i = 0; i < 1000; i++) {
                    long value = (long) LONG.getVolatile(pair.serverMemory.memory(), 8L);
                    assertEquals(value >>> 32, value & 0xffff_ffffL);
                    if (value != before) {
                        seen.compareAndSet(false, before != 0);
                        before = value;
                    }
                }
                Thread.yield();
            } while (!over.get());
            return null;
        }));
    }

    /** An atomic write serves as a flag: a reader that sees it also sees the earlier writes. */
    @Test
    void atomicWritePublishesWhatWasWrittenBefore() throws Exception {
        Pair pair = pair();
        together(List.of(() -> {
            for (int i = 1; i <= 500; i++) {
                Memory.fill(pair.clientMemory, 0, 1024, i);
                pair.client.write(pair.atServer, 4096, pair.clientMemory, 0, 1024, ON_ERROR, 0);
                pair.client.atomicWrite(pair.atServer, 0, i, ALWAYS, i);
                Wait.success(pair.client.completionQueue());
                // The reader writes its answer to the writer's memory.
                long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Contract.DEADLINE);
                while ((long) LONG.getVolatile(pair.clientMemory.memory(), 8192L) != i) {
                    assertTrue(System.nanoTime() < end, "no answer");
                    Thread.yield();
                }
            }
            return null;
        }, () -> {
            for (int i = 1; i <= 500; i++) {
                long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Contract.DEADLINE);
                while ((long) LONG.getVolatile(pair.serverMemory.memory(), 0L) != i) {
                    assertTrue(System.nanoTime() < end, "nothing written");
                    Thread.yield();
                }
                Memory.assertFilled(pair.serverMemory, 4096, 1024, i);
                pair.server.atomicWrite(pair.atClient, 8192, i, ALWAYS, i);
                Wait.success(pair.server.completionQueue());
            }
            return null;
        }));
    }

    /** Both ends send as fast as they can, each in its own thread. */
    @Test
    void bothEndsSendAtOnce() throws Exception {
        int messages = 3000;
        int window = 16;
        Pair pair = pair(Pair.with().both(
            config -> config.sendQueueSize(window).receiveQueueSize(window).completionQueueSize(4 * window)));
        Semaphore[] credits = {new Semaphore(window), new Semaphore(window)};
        List<Callable<Void>> parts = new ArrayList<>();
        for (int side = 0; side < 2; side++) {
            Connection connection = side == 0 ? pair.client : pair.server;
            LocalMemoryRegion region = side == 0 ? pair.clientMemory : pair.serverMemory;
            Semaphore mine = credits[side];
            Semaphore theirs = credits[1 - side];
            for (int i = 0; i < window; i++) {
                connection.receive(region, i * 64L, 64, i);
            }
            parts.add(() -> {
                WorkCompletions batch = new WorkCompletions(window);
                CompletionQueue queue = connection.completionQueue();
                int sent = 0;
                int completed = 0;
                int received = 0;
                while (completed < messages || received < messages) {
                    while (sent < messages && sent - completed < window && mine.tryAcquire()) {
                        connection.send(null, 0, 0, ALWAYS, -1 - sent++);
                    }
                    int got = queue.poll(batch);
                    if (got == 0) {
                        // Credits of the other end arrive when it makes progress, so the queue is checked again soon.
                        if (Poll.readable(queue.fd(), sent < messages && sent - completed < window ? 1 : Contract.DEADLINE)) {
                            queue.consumeEvent();
                        }
                    }
                    for (int k = 0; k < got; k++) {
                        assertEquals(0, batch.statusCode(k));
                        if (batch.context(k) < 0) {
                            assertEquals(-1 - completed++, batch.context(k));
                        } else {
                            received++;
                            connection.receive(region, batch.context(k) * 64, 64, batch.context(k));
                            theirs.release();
                        }
                    }
                }
                return null;
            });
        }
        together(parts);
    }
}
