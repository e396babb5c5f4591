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

package io.rpma.netty.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests that hosts and ports that do not answer do not delay tasks for others. */
@Timeout(60)
class HostExecutorTest {
    private static final int THREADS = 128;
    /** The maximum number of threads for hosts that do not answer. */
    private static final int THREADS_FOR_OTHERS = 96;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HostExecutor executor = new HostExecutor(threads, THREADS, 1_024);
    private final CountDownLatch end = new CountDownLatch(1);
    private final Semaphore begun = new Semaphore(0);

    @AfterEach
    void stop() {
        end.countDown();
        threads.shutdown();
    }

    private static InetSocketAddress host(int number) throws UnknownHostException {
        return port(number, 7471);
    }

    private static InetSocketAddress port(int host, int port) throws UnknownHostException {
        return new InetSocketAddress(
            InetAddress.getByAddress(new byte[] {(byte) 192, 0, (byte) (2 + host / 256), (byte) host}), port);
    }

    /** A task that does not return until the test ends. */
    private boolean silent() {
        begun.release();
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    private void assertAnswers(int number) throws Exception {
        assertAnswers(host(number));
    }

    private void assertAnswers(InetSocketAddress address) throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        executor.execute(address, () -> {
            done.countDown();
            return true;
        });
        assertTrue(done.await(20, TimeUnit.SECONDS));
    }

    private void occupy(int hosts, int tasksOfEach) throws Exception {
        for (int task = 0; task < tasksOfEach; task++) {
            for (int i = 0; i < hosts; i++) {
                executor.execute(host(i), this::silent);
            }
        }
    }

    @Test
    void manyConnectsToSilentHostsDoNotHoldUpAHostThatIsNotKnown() throws Exception {
        occupy(32, 8);
        begun.acquire(32);
        assertAnswers(1_000);
        // Each host has one thread.
        assertFalse(begun.tryAcquire());
        assertEquals(32 * 7, executor.waiting());
    }

    @Test
    void portsThatDoNotAnswerDoNotHoldUpAnotherPortOfTheirHost() throws Exception {
        for (int port = 1; port <= 3; port++) {
            executor.execute(port(0, port), this::silent);
            executor.execute(port(0, port), this::silent);
        }
        begun.acquire(3);
        assertAnswers(port(0, 4));
        assertAnswers(port(0, 4));
        // Each of the three ports has one thread.
        assertFalse(begun.tryAcquire());
        assertEquals(3, executor.waiting());
    }

    /** Connecting to a host that is far away mostly consists of waiting. */
    @Test
    void aPortThatAnsweredHasManyThreads() throws Exception {
        assertAnswers(0);
        occupy(1, 33);
        begun.acquire(32);
        assertFalse(begun.tryAcquire());
        // If they fall silent, they delay neither the other ports of the host nor other hosts.
        assertAnswers(port(0, 1));
        assertAnswers(1);
    }

    /** A port that has had no task counts as one that answers if its host does. */
    @Test
    void moreSilentHostsThanThreadsDoNotHoldUpAnotherPortOfAHostThatAnsweredBefore() throws Exception {
        assertAnswers(1_000);
        occupy(THREADS * 2, 1);
        begun.acquire(THREADS_FOR_OTHERS);
        assertAnswers(port(1_000, 1));
    }

    @Test
    void aHostWithManySilentPortsHasFewThreads() throws Exception {
        for (int port = 1; port <= 100; port++) {
            executor.execute(port(0, port), this::silent);
        }
        begun.acquire(4);
        assertFalse(begun.tryAcquire());
        assertEquals(96, executor.waiting());
        assertAnswers(1);
    }

    @Test
    void moreSilentHostsThanThreadsDoNotHoldUpAHostThatAnsweredBefore() throws Exception {
        assertAnswers(1_000);
        occupy(THREADS * 2, 1);
        begun.acquire(THREADS_FOR_OTHERS);
        for (int i = 0; i < 100; i++) {
            assertAnswers(1_000);
        }
        assertFalse(begun.tryAcquire());
    }

    /** Each of the hosts has several threads, as long as the limit for all hosts allows it. */
    @Test
    void hostsThatAnsweredBeforeAndFallSilentDoNotHoldUpTheOthers() throws Exception {
        for (int i = 0; i < 32; i++) {
            assertAnswers(i);
        }
        occupy(32, 8);
        begun.acquire(32);
        assertAnswers(1_000);
    }

    @Test
    void aTaskThatIsCancelledLeavesNoTrace() throws Exception {
        executor.execute(host(0), this::silent);
        begun.acquire();
        List<HostExecutor.Task> tasks = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            tasks.add(executor.execute(host(0), this::silent));
        }
        assertEquals(100, executor.waiting());
        for (HostExecutor.Task task : tasks) {
            task.cancel();
            task.cancel();
        }
        assertEquals(0, executor.waiting());
        CountDownLatch done = new CountDownLatch(1);
        executor.execute(host(0), () -> {
            done.countDown();
            return false;
        });
        end.countDown();
        assertTrue(done.await(20, TimeUnit.SECONDS));
        assertFalse(begun.tryAcquire());
    }

    @Test
    void aHostIsForgottenUnlessItAnswered() throws Exception {
        assertAnswers(1_000);
        assertAnswers(port(1_000, 1));
        List<HostExecutor.Task> tasks = new ArrayList<>();
        occupy(THREADS_FOR_OTHERS, 1);
        begun.acquire(THREADS_FOR_OTHERS);
        for (int i = 0; i < 100; i++) {
            tasks.add(executor.execute(host(500 + i), this::silent));
        }
        tasks.forEach(HostExecutor.Task::cancel);
        assertEquals(THREADS_FOR_OTHERS + 1, executor.hosts());
        assertEquals(THREADS_FOR_OTHERS + 2, executor.ports());
    }

    @Test
    void tooManyThatWaitAreRefusedWithTheReason() throws Exception {
        HostExecutor small = new HostExecutor(threads, 4, 16);
        for (int i = 0; i < 5; i++) {
            small.execute(host(0), this::silent);
        }
        String ofOne = assertThrows(RejectedExecutionException.class, () -> small.execute(host(0), this::silent)).getMessage();
        assertTrue(ofOne.contains("192.0.2.0") && ofOne.contains("the limits are 4 and 16"), ofOne);
        for (int host = 1; small.waiting() < 16; host++) {
            small.execute(host(host), this::silent);
        }
        assertThrows(RejectedExecutionException.class, () -> small.execute(host(200), this::silent));
    }

    /** No thread can be created, for example because a container has its limit of them. Nobody would run the task. */
    @Test
    void aTaskForWhichThereIsNoThreadIsRefused() throws Exception {
        AtomicBoolean exhausted = new AtomicBoolean(true);
        HostExecutor limited = new HostExecutor(task -> {
            if (exhausted.get()) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            threads.execute(task);
        }, 4, 16);
        String reason = assertThrows(RejectedExecutionException.class, () -> limited.execute(host(0), this::silent)).getMessage();
        assertTrue(reason.contains("192.0.2.0") && reason.endsWith("unable to create native thread"), reason);
        assertEquals(0, limited.waiting());
        assertEquals(0, limited.hosts());
        exhausted.set(false);
        limited.execute(host(0), this::silent);
        begun.acquire();
        exhausted.set(true);
        CountDownLatch done = new CountDownLatch(1);
        limited.execute(host(1), () -> {
            done.countDown();
            return true;
        });
        // The running thread takes over this task.
        assertEquals(1, limited.waiting());
        end.countDown();
        assertTrue(done.await(20, TimeUnit.SECONDS));
    }

    /** No waiting task is lost. A thread that has finished a task runs the next one. */
    @Test
    void everythingIsDoneInTheEnd() throws Exception {
        int count = 1_000;
        CountDownLatch done = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            boolean answers = i % 3 != 0;
            executor.execute(host(i % 7), () -> {
                done.countDown();
                return answers;
            });
        }
        assertTrue(done.await(30, TimeUnit.SECONDS));
    }
}
