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

import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Finds the queue pairs of a process whose work requests have been waiting for a shared receive for a long time. Such a request
 * looks for a receive without having been woken: any process that shares the queue can overwrite the words by which this side
 * announces that it waits. Also finds those whose requests wait for memory of the peer that this process has not mapped yet:
 * nothing signals when it can be mapped.
 *
 * <p>One task for all queue pairs runs while some of them wait, on a thread of the default executor. Any thread may add a queue
 * pair.
 */
final class StarvationTimer {
    private static final int INTERVAL_MILLIS = 50;

    private final Queue<BooleanSupplier> watched = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean scheduled = new AtomicBoolean();

    /**
     * Adds a queue pair.
     *
     * @param tick is called at intervals until it returns {@code false}
     */
    void add(BooleanSupplier tick) {
        watched.add(tick);
        schedule();
    }

    private void schedule() {
        if (!watched.isEmpty() && scheduled.compareAndSet(false, true)) {
            CompletableFuture.delayedExecutor(INTERVAL_MILLIS, TimeUnit.MILLISECONDS).execute(this::tick);
        }
    }

    private void tick() {
        try {
            for (Iterator<BooleanSupplier> all = watched.iterator(); all.hasNext();) {
                if (!all.next().getAsBoolean()) {
                    all.remove();
                }
            }
        } finally {
            // A thread that adds a queue pair from here on finds that nothing is scheduled.
            scheduled.set(false);
            schedule();
        }
    }
}
