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
package io.rpma.benchmark;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * The time window in which the operations of a run count. It begins after the warm-up. The handlers query it on their event
 * loops, and one thread opens and closes it. The first failure of any connection ends the run.
 */
final class Window {
    /** The maximum duration of a warm-up, as a multiple of the configured one. */
    static final int LONGEST_WARM_UP = 5;
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final CompletableFuture<Void> failure = new CompletableFuture<>();
    /** Written once, before the window opens. */
    private long opened;
    private volatile boolean isOpen;
    private volatile boolean isOver;

    /** Returns whether an operation counts that ends now and began at this value of {@link System#nanoTime()}. */
    boolean counts(long began) {
        return isOpen && began - opened >= 0;
    }

    /** Returns whether the run is over, so that its connections will be closed. */
    boolean isOver() {
        return isOver;
    }

    /** Ends the run with an error. Errors after the first one, or after the end of the run, are ignored. */
    void fail(Throwable cause) {
        if (!isOver) {
            failure.completeExceptionally(cause);
        }
    }

    /**
     * Waits until the warm-up is over and opens the window.
     *
     * @param warmUpNanos the duration of the warm-up
     * @param isWarm whether enough operations have run; if not, the warm-up is extended to at most {@value #LONGEST_WARM_UP}
     *     times its duration
     */
    void open(long warmUpNanos, BooleanSupplier isWarm) throws Exception {
        long began = System.nanoTime();
        await(began + warmUpNanos);
        while (!isWarm.getAsBoolean() && System.nanoTime() - began < LONGEST_WARM_UP * warmUpNanos) {
            await(System.nanoTime() + LOOK_NANOS);
        }
        opened = System.nanoTime();
        isOpen = true;
    }

    /** Waits until the duration of the window has passed and closes the window. Returns how long it was open, in nanoseconds. */
    long close(long nanos) throws Exception {
        await(opened + nanos);
        isOpen = false;
        return System.nanoTime() - opened;
    }

    /** Signals to all connections that the run is over. */
    void end() {
        isOver = true;
    }

    /** Returns a future that completes with the given one, or with the failure of a connection. */
    CompletableFuture<Object> orFailed(CompletableFuture<Void> work) {
        return CompletableFuture.anyOf(work, failure);
    }

    private void await(long deadline) throws Exception {
        try {
            failure.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            // No connection failed during this time.
            return;
        } catch (ExecutionException e) {
            throw new Exception("a connection failed: " + e.getCause(), e.getCause());
        }
    }
}
