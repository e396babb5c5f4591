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
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.WorkCompletions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

import static io.rpma.RpmaError.INVALID;
import static io.rpma.RpmaError.NOT_SHARED_CHANNEL;
import static io.rpma.RpmaError.SHARED_CHANNEL;
import static io.rpma.contract.Contract.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests waiting for events without an event loop, as librpma's programs do on blocking descriptors. */
class WaitContractTest extends ContractCase {
    private static final Duration LONG = Duration.ofMillis(Contract.DEADLINE);
    private static final Duration SHORT = Duration.ofMillis(20);

    private static <T> FutureTask<T> start(ThreadFactory threads, Callable<T> task) {
        FutureTask<T> future = new FutureTask<>(task);
        threads.newThread(future).start();
        return future;
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(Contract.DEADLINE, TimeUnit.MILLISECONDS);
    }

    /** Waits until a thread is parked, either in its wait or before it. What it does next depends on the event. */
    private static void awaitParked(Thread thread) {
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }

    /** Runs a whole program for each end, each on its own thread: request, establishment, messages, disconnect. */
    private void programs(ThreadFactory threads) throws Exception {
        Endpoint endpoint = endpoint();
        int rounds = 50;
        FutureTask<Integer> server = start(threads, () -> {
            ConnectionRequest request = endpoint.waitForConnectionRequest(config(), LONG);
            assertNotNull(request);
            return serve(request, rounds);
        });
        Memory ours = scope.own(new Memory());
        var region = scope.own(ours.region(peer(), 128, Memory.ALL));
        ConnectionRequest request = peer().newConnectionRequest(endpoint.localAddress(), config());
        request.receive(region, 64, 64, 7);
        try (Connection connection = request.connect(null)) {
            assertEquals(ConnectionEvent.ESTABLISHED, connection.waitForEvent(LONG));
            WorkCompletions batch = new WorkCompletions(1);
            for (int i = 0; i < rounds; i++) {
                connection.send(region, 0, 64, CompletionFlag.ALWAYS, 8);
                assertEquals(1, connection.completionQueue().poll(batch, LONG));
                long first = batch.context(0);
                assertEquals(1, connection.completionQueue().poll(batch, LONG));
                assertEquals(7 + 8, first + batch.context(0));
                if (i < rounds - 1) {
                    connection.receive(region, 64, 64, 7);
                }
            }
            connection.disconnect();
            assertEquals(ConnectionEvent.CLOSED, connection.waitForEvent(LONG));
        }
        assertEquals(rounds, get(server));
    }

    private int serve(ConnectionRequest request, int rounds) throws Exception {
        Memory ours = new Memory();
        var region = ours.region(peer(), 128, Memory.ALL);
        int echoes = 0;
        for (int i = 0; i < 2; i++) {
            request.receive(region, 0, 64, 1);
        }
        try (Connection connection = request.connect(null)) {
            assertEquals(ConnectionEvent.ESTABLISHED, connection.waitForEvent(LONG));
            WorkCompletions batch = new WorkCompletions(1);
            while (echoes < rounds) {
                assertEquals(1, connection.completionQueue().poll(batch, LONG));
                if (batch.context(0) == 1) {
                    echoes++;
                    connection.receive(region, 0, 64, 1);
                    connection.send(region, 64, 64, CompletionFlag.ALWAYS, 2);
                }
            }
            assertEquals(ConnectionEvent.CLOSED, connection.waitForEvent(LONG));
        } finally {
            region.close();
            ours.close();
        }
        return echoes;
    }

    @Test
    void wholeProgramsNeedNoLoop() throws Exception {
        programs(Thread.ofPlatform().factory());
    }

    @Test
    void wholeProgramsRunOnVirtualThreads() throws Exception {
        programs(Thread.ofVirtual().factory());
    }

    /**
     * More virtual threads wait than there are carrier threads. Other virtual threads run in the meantime, and each waiting one
     * is woken by its own event.
     */
    @Test
    void virtualThreadsThatWaitKeepNoCarrier() throws Exception {
        int count = 4 * Runtime.getRuntime().availableProcessors() + 8;
        List<Endpoint> endpoints = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            endpoints.add(endpoint());
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            CountDownLatch running = new CountDownLatch(count);
            List<Future<ConnectionRequest>> waiting = new ArrayList<>();
            for (Endpoint endpoint : endpoints) {
                waiting.add(threads.submit(() -> {
                    running.countDown();
                    return endpoint.waitForConnectionRequest(null, Duration.ofDays(1));
                }));
            }
            assertTrue(running.await(Contract.DEADLINE, TimeUnit.MILLISECONDS), "those that wait keep the others from running");
            for (int i = 0; i < count; i++) {
                get(threads.submit(() -> true));
                ConnectionRequest outgoing = scope.own(peer().newConnectionRequest(endpoints.get(i).localAddress(), null));
                scope.own(outgoing.connect(null));
                scope.own(get(waiting.get(i)));
            }
        }
    }

    @Test
    void whatIsThereIsReturnedAtOnce() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 5);
        pair.client.send(pair.clientMemory, 0, 64, CompletionFlag.ALWAYS, 6);
        WorkCompletions batch = new WorkCompletions(2);
        assertTrue(Poll.readable(pair.server.completionQueue().fd(), Contract.DEADLINE));
        assertEquals(1, pair.server.completionQueue().poll(batch, Duration.ZERO));
        assertTrue(pair.client.completionQueue().waitForCompletions(LONG));
        assertEquals(1, pair.client.completionQueue().poll(batch, Duration.ZERO));
        pair.client.disconnect();
        assertTrue(Poll.readable(pair.server.eventFd(), Contract.DEADLINE));
        assertEquals(ConnectionEvent.CLOSED, pair.server.waitForEvent(Duration.ZERO));
    }

    @Test
    void nothingComesWithinTheTimeout() throws Exception {
        Pair pair = pair();
        Endpoint endpoint = endpoint();
        WorkCompletions batch = new WorkCompletions(1);
        for (Duration timeout : List.of(Duration.ZERO, SHORT)) {
            long begin = System.nanoTime();
            assertNull(pair.client.waitForEvent(timeout));
            assertNull(endpoint.waitForConnectionRequest(null, timeout));
            assertFalse(pair.client.completionQueue().waitForCompletions(timeout));
            assertEquals(0, pair.client.completionQueue().poll(batch, timeout));
            assertTrue(System.nanoTime() - begin >= 4 * timeout.toNanos());
        }
        pair.exchange();
    }

    @Test
    void badTimeoutsAreRefused() throws Exception {
        Pair pair = pair();
        Duration negative = Duration.ofNanos(-1);
        assertEquals("the timeout is PT-0.000000001S; it must not be negative (0 does not wait)",
            assertThrows(IllegalArgumentException.class, () -> pair.client.waitForEvent(negative)).getMessage());
        assertThrows(IllegalArgumentException.class, () -> pair.client.completionQueue().waitForCompletions(negative));
        assertThrows(IllegalArgumentException.class, () -> pair.client.completionQueue().poll(new WorkCompletions(1), negative));
        assertThrows(IllegalArgumentException.class, () -> endpoint().waitForConnectionRequest(null, negative));
        assertThrows(NullPointerException.class, () -> pair.client.waitForEvent(null));
    }

    /** A thread is interrupted before or while it waits, and later events are not lost. */
    @Test
    void aWaitCanBeInterrupted() throws Exception {
        Pair pair = pair();
        for (ThreadFactory threads : List.of(Thread.ofPlatform().factory(), Thread.ofVirtual().factory())) {
            FutureTask<Integer> waiting =
                new FutureTask<>(() -> pair.server.completionQueue().poll(new WorkCompletions(1), Duration.ofDays(1)));
            Thread thread = threads.newThread(waiting);
            thread.start();
            awaitParked(thread);
            thread.interrupt();
            assertInstanceOf(InterruptedException.class,
                assertThrows(ExecutionException.class, () -> get(waiting)).getCause());
        }
        pair.server.receive(pair.serverMemory, 0, 64, 5);
        pair.client.send(pair.clientMemory, 0, 64, CompletionFlag.ALWAYS, 6);
        assertTrue(Poll.readable(pair.server.completionQueue().fd(), Contract.DEADLINE));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> pair.server.completionQueue().poll(new WorkCompletions(1), LONG));
        assertFalse(Thread.currentThread().isInterrupted());
        assertEquals(1, pair.server.completionQueue().poll(new WorkCompletions(1), LONG));
    }

    /**
     * If fewer completions are polled than have arrived, a wait for the others returns at once, because no further event comes
     * for them.
     */
    @Test
    void noCompletionIsWaitedForThatHasCome() throws Exception {
        Pair pair = pair();
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 5; i++) {
                pair.server.receive(pair.serverMemory, 64 * i, 64, i);
                pair.client.send(pair.clientMemory, 0, 64, CompletionFlag.ON_ERROR, 0);
            }
            for (int i = 0; i < 5; i++) {
                assertEquals(1, pair.server.completionQueue().poll(new WorkCompletions(1), LONG));
            }
        }
        assertEquals(0, pair.server.completionQueue().poll(new WorkCompletions(1), SHORT));
    }

    @Test
    void aSharedDescriptorTellsWhichQueue() throws Exception {
        Pair pair = pair(Pair.with().server(config -> config.receiveCompletionQueueSize(16).sharedCompletionChannel(true)));
        pair.server.receive(pair.serverMemory, 0, 64, 5);
        FutureTask<CompletionQueue> waiting = start(Thread.ofVirtual().factory(), () -> pair.server.waitForCompletionEvent(LONG));
        pair.client.send(pair.clientMemory, 0, 64, CompletionFlag.ALWAYS, 6);
        assertSame(pair.server.receiveCompletionQueue(), get(waiting));
        assertEquals(1, pair.server.receiveCompletionQueue().poll(new WorkCompletions(1)));
        assertNull(pair.server.waitForCompletionEvent(SHORT));
        refused(SHARED_CHANNEL, () -> pair.server.completionQueue().waitForCompletions(SHORT));
        refused(NOT_SHARED_CHANNEL, () -> pair.client.waitForCompletionEvent(SHORT));
    }

    /** Only one thread can wait at a time. A second thread gets an exception, and the first one continues to wait. */
    @Test
    void aSecondThreadIsRefused() throws Exception {
        Pair pair = pair();
        FutureTask<ConnectionEvent> first = new FutureTask<>(() -> pair.server.waitForEvent(LONG));
        Thread thread = Thread.ofPlatform().name("the first").unstarted(first);
        thread.start();
        awaitParked(thread);
        assertEquals("another thread (the first) is already waiting for this descriptor: only one thread at a"
            + " time may wait for it",
            assertThrows(IllegalStateException.class, () -> pair.server.waitForEvent(LONG)).getMessage());
        pair.client.disconnect();
        assertEquals(ConnectionEvent.CLOSED, get(first));
    }

    private void endsWhenClosed(boolean parked) throws Exception {
        Endpoint endpoint = endpoint();
        Pair pair = pair();
        Pair shared = pair(Pair.with().server(config -> config.receiveCompletionQueueSize(16).sharedCompletionChannel(true)));
        SharedReceiveQueue queue = scope.own(peer().newSharedReceiveQueue(null));
        List<Callable<?>> waits = List.of(() -> endpoint.waitForConnectionRequest(null, Duration.ofDays(1)),
            () -> pair.server.waitForEvent(Duration.ofDays(1)),
            () -> pair.client.completionQueue().waitForCompletions(Duration.ofDays(1)),
            () -> pair.server.completionQueue().poll(new WorkCompletions(1), Duration.ofDays(1)),
            () -> shared.server.waitForCompletionEvent(Duration.ofDays(1)),
            () -> queue.receiveCompletionQueue().poll(new WorkCompletions(1), Duration.ofDays(1)));
        List<FutureTask<?>> waiting = new ArrayList<>();
        for (Callable<?> wait : waits) {
            FutureTask<?> task = new FutureTask<>(wait);
            Thread thread = Thread.ofPlatform().start(task);
            waiting.add(task);
            if (parked) {
                awaitParked(thread);
            }
        }
        endpoint.close();
        pair.server.close();
        pair.client.close();
        shared.server.close();
        queue.close();
        for (FutureTask<?> task : waiting) {
            RpmaException cause =
                assertInstanceOf(RpmaException.class, assertThrows(ExecutionException.class, () -> get(task)).getCause());
            assertEquals(INVALID, cause.error());
        }
        refused(INVALID, () -> pair.server.waitForEvent(LONG));
    }

    /**
     * A wait on a closed object ends, whether it starts later or is in progress, and does not affect the next user of its
     * descriptor.
     */
    @Test
    void closingEndsTheWait() throws Exception {
        endsWhenClosed(true);
        assertNull(pair().server.waitForEvent(SHORT));
    }

    /** The close may meet a thread that is about to wait, or that is looking for the event. */
    @Test
    void closingEndsAWaitThatBegins() throws Exception {
        for (int round = 0; round < 20; round++) {
            endsWhenClosed(false);
        }
        assertNull(pair().server.waitForEvent(SHORT));
    }

    /** Several threads may wait for one closed connection and its queue, which may have no descriptors. */
    @Test
    void whatIsClosedIsNotWaitedFor() throws Exception {
        Pair pair = pair();
        CompletionQueue queue = pair.client.completionQueue();
        pair.client.close();
        FutureTask<Void> events = start(Thread::new, () -> {
            for (int i = 0; i < 5_000; i++) {
                refused(INVALID, () -> pair.client.waitForEvent(LONG));
            }
            return null;
        });
        for (int i = 0; i < 5_000; i++) {
            refused(INVALID, () -> queue.waitForCompletions(LONG));
        }
        get(events);
    }
}
