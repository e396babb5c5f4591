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

package io.rpma.netty;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.RejectedExecutionHandler;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * An event loop that can be made to accept no further task. Netty limits the number of tasks with the property
 * {@code io.netty.eventLoop.maxPendingTasks}.
 */
final class FullLoop implements AutoCloseable {
    /** The smallest number that Netty allows. */
    private static final int TASKS = 16;
    private static final int MOST_TASKS = 1 << 16;

    final SingleThreadIoEventLoop loop;
    private final CountDownLatch busy = new CountDownLatch(1);
    private final CountDownLatch free = new CountDownLatch(1);

    /** How the loop refuses a task. */
    enum Refusal {
        REJECTED(RejectedExecutionHandlers.reject()),
        FAILED((task, executor) -> {
            throw new IllegalStateException("refused by the test");
        });

        private final RejectedExecutionHandler handler;

        Refusal(RejectedExecutionHandler handler) {
            this.handler = handler;
        }
    }

    /** Creates a loop that is not full yet. */
    FullLoop(Refusal refusal) {
        loop = new SingleThreadIoEventLoop(null, new DefaultThreadFactory("refusing"),
            RpmaIoHandler.newFactory(RpmaPolling.BLOCK), TASKS, refusal.handler, 0);
    }

    /** Has the loop run a task until it is freed, and accept no other one. */
    void fill() throws InterruptedException {
        loop.execute(() -> {
            busy.countDown();
            try {
                free.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        assertTrue(busy.await(20, TimeUnit.SECONDS));
        // Netty's queue is larger than the limit.
        assertThrows(RuntimeException.class, () -> {
            for (int i = 0; i < MOST_TASKS; i++) {
                loop.execute(() -> { });
            }
        });
    }

    /** Lets the loop run its tasks. */
    void free() {
        free.countDown();
    }

    @Override
    public void close() {
        free();
        loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
