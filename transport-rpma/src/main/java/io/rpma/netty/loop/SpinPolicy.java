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

package io.rpma.netty.loop;

import io.netty.util.NettyRuntime;
import io.rpma.netty.memory.NumberProperty;

/**
 * Decides whether an idle loop continues to poll for a short time before it blocks. As long as the next completion arrives
 * within that time, polling saves a wake-up each time. After a failed attempt the loop blocks before it tries again: once at
 * first, and twice as often after each further failure, since unsuccessful polling takes processor time from the other end on a
 * busy machine. Only waits that polling could have ended are counted, so a connection with occasional messages costs nothing.
 *
 * <p>{@code -Dio.rpma.netty.spinNanos} is the longest time to poll in nanoseconds, 0 for never and 1,000,000,000 at most;
 * default 50,000.
 */
public final class SpinPolicy {
    private static final long LONGEST_NANOS = 1_000_000_000;
    private static final long ENDLESS_NANOS = Long.MAX_VALUE / 2;
    /** A blocked wait includes the cost of a wake-up, which polling would have saved. */
    private static final long WAKE_UP_NANOS = 60_000;
    private static final int MAX_PAUSE = 256;
    /** A yield that takes longer than this has given the processor to a thread that needs it for more than a short task. */
    private static final long LONG_YIELD_NANOS = 50_000;
    /** After a long yield the next one follows after this many times its duration, so yields take at most 1.6 % of the time. */
    private static final int LONG_YIELD_PAUSE = 64;

    // -1 until the first loop needs the value. A static initializer would also fail the loops that do not need it.
    private static volatile long configuredNanos = -1;

    private final long maxNanos;
    // After the next failure the loop blocks until this many waits have ended soon enough for polling. The second field is the
    // number of such waits that are still to come after the last failure.
    private int pause = 1;
    private int blocks;
    private long contendedUntil = System.nanoTime();

    SpinPolicy(long maxNanos) {
        this.maxNanos = maxNanos;
    }

    /**
     * Polls for a short time as long as polling is successful; on a machine with one processor, never.
     *
     * @throws IllegalArgumentException if the property has a value that is not allowed
     */
    public static SpinPolicy adaptive() {
        long nanos = configuredNanos;
        if (nanos < 0) {
            nanos = NumberProperty.get("io.rpma.netty.spinNanos", 50_000, 0, LONGEST_NANOS);
            configuredNanos = nanos;
        }
        return new SpinPolicy(NettyRuntime.availableProcessors() > 1 ? nanos : 0);
    }

    /** Polls for as long as there is a queue to poll. */
    public static SpinPolicy endless() {
        return new SpinPolicy(ENDLESS_NANOS);
    }

    /** Never polls. */
    public static SpinPolicy never() {
        return new SpinPolicy(0);
    }

    public boolean pays() {
        return maxNanos > 0 && blocks == 0;
    }

    /** Whether the loop never blocks while it has a completion queue to poll. */
    public boolean isEndless() {
        return maxNanos == ENDLESS_NANOS;
    }

    public long maxNanos() {
        return maxNanos;
    }

    /**
     * Called when the loop has offered its processor to other threads while it polled.
     *
     * @param now {@code System.nanoTime()}, after the yield
     * @param nanos how long the yield took
     */
    public void yielded(long now, long nanos) {
        if (nanos > LONG_YIELD_NANOS) {
            contendedUntil = now + LONG_YIELD_PAUSE * nanos;
        }
    }

    /**
     * Returns whether another thread has recently used the processor of the loop for a long time. The loop then blocks instead of
     * polling, because the kernel lets a thread that wakes up preempt one that computes; and if it never blocks, it does not
     * yield.
     *
     * @param now {@code System.nanoTime()}
     */
    public boolean isContended(long now) {
        return now - contendedUntil < 0;
    }

    /** Called when polling found work. */
    public void paid() {
        pause = 1;
    }

    /** Called when polling found nothing in the allowed time. */
    public void failed() {
        if (isEndless()) {
            return;
        }
        blocks = pause;
        pause = Math.min(2 * pause, MAX_PAUSE);
    }

    /** Called when the loop blocked without polling before, and a completion ended the wait after this time. */
    public void blocked(long nanos) {
        if (blocks > 0 && nanos <= maxNanos + WAKE_UP_NANOS) {
            blocks--;
        }
    }
}
