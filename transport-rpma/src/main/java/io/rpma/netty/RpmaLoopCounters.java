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

import io.rpma.netty.loop.LoopCounts;

/**
 * The counters of an event loop, or the sums over all event loops. The counters of a loop are written by the loop alone, without
 * a lock or an atomic operation, and may be read by any thread, which may see a slightly outdated value. See {@link
 * RpmaMetrics#loops()} and {@link RpmaMetrics#loopTotals()}.
 */
public final class RpmaLoopCounters {
    private final LoopCounts counts;

    RpmaLoopCounters(LoopCounts counts) {
        this.counts = counts;
    }

    LoopCounts counts() {
        return counts;
    }

    /** Returns the name of the loop's thread; the empty string for sums. */
    public String name() {
        return counts.name;
    }

    /** Returns the number of turns of the loop. */
    public long turns() {
        return counts.turns;
    }

    /** Returns how often the loop blocked to wait for an event. */
    public long blocks() {
        return counts.blocks;
    }

    /** Returns how often the idle loop continued to poll instead of blocking. */
    public long spins() {
        return counts.spins;
    }

    /** Returns how often that polling found work. */
    public long spinsPaid() {
        return counts.spinsPaid;
    }

    /** Returns how often the idle loop, while it continued to poll, offered its processor to other threads. */
    public long yields() {
        return counts.yields;
    }

    /**
     * Returns how often the idle loop paused for some microseconds instead of polling, because it was receiving large amounts of
     * data over the path {@link RpmaPath#TCP}.
     */
    public long pauses() {
        return counts.pauses;
    }

    /** Returns the number of completions that were found by polling. */
    public long completions() {
        return counts.polls;
    }

    /** Returns the number of completion queues that are being polled at present. */
    public int hotQueues() {
        return counts.hotQueues;
    }

    /** Returns the number of connections and listeners on the loop at present. */
    public int connections() {
        return counts.connections;
    }
}
