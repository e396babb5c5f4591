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
import io.rpma.netty.memory.LimboMemory;
import io.rpma.netty.pair.OpenPairs;
import io.rpma.netty.receive.SharedReceives;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The counters of this process: the sums over its connections, its server channels and its event loops. Sums are computed when
 * they are requested; the counting itself costs the data path a few additions. Thread-safe.
 */
public final class RpmaMetrics {
    // Guarded by itself, as ENDED_LOOPS is, so that a loop that ends is counted exactly once in a sum. A set, because a loop that
    // was suspended and continues on another thread begins again.
    private static final Set<RpmaLoopCounters> LOOPS = new LinkedHashSet<>();
    private static final LoopCounts ENDED_LOOPS = new LoopCounts();

    private static final RpmaAcceptCounters ACCEPTS = new RpmaAcceptCounters();

    private RpmaMetrics() {
    }

    /** Returns the sums over all connections so far, both open and ended. */
    public static RpmaChannelCounters channels() {
        return new RpmaChannelCounters(OpenPairs.sum());
    }

    /**
     * Returns the number of connections that are open, being established, or closed and still delivering what was sent before.
     */
    public static int openChannels() {
        return OpenPairs.count();
    }

    /** Returns how many connections the clients and servers of this process have established over a path. */
    public static long established(RpmaPath path) {
        return OpenPairs.established(path.provider());
    }

    /** Returns the outcomes of the connection requests that clients sent to the server channels. */
    public static RpmaAcceptCounters accepts() {
        return ACCEPTS;
    }

    /**
     * Returns the bytes of memory that belong to closed connections and regions but may still be written to by a process at the
     * other end, because that process stopped in the middle of a write. They count as used until that process continues or
     * ends.
     */
    public static long limboBytes() {
        return LimboMemory.bytes();
    }

    /**
     * Returns the registered memory, in bytes, of receives that no open connection needs. Streams share the receives of a queue
     * ({@code rpma_srq_recv(3)}). A queue keeps the receives of connections that have ended until messages take them or the queue
     * is not used any more, and posts another receive for one that a device may have lost with a connection. They count as used.
     */
    public static long surplusReceiveBytes() {
        return SharedReceives.surplusBytes();
    }

    /**
     * Returns the counters of the event loops that are running. A loop that ends is removed from the list, so a sum over the list
     * can fall; {@link #loopTotals()} has sums that do not.
     */
    public static List<RpmaLoopCounters> loops() {
        synchronized (LOOPS) {
            return List.copyOf(LOOPS);
        }
    }

    /**
     * Returns the sums over all event loops so far, both running and ended. {@link RpmaLoopCounters#hotQueues()} and {@link
     * RpmaLoopCounters#connections()} count what the running loops have at present; the other values never fall.
     */
    public static RpmaLoopCounters loopTotals() {
        LoopCounts sum = new LoopCounts();
        synchronized (LOOPS) {
            sum.addEvents(ENDED_LOOPS);
            for (RpmaLoopCounters loop : LOOPS) {
                sum.addEvents(loop.counts());
                sum.addPresent(loop.counts());
            }
        }
        return new RpmaLoopCounters(sum);
    }

    static void began(RpmaLoopCounters loop) {
        synchronized (LOOPS) {
            LOOPS.add(loop);
        }
    }

    /** Removes a loop from the running ones. The thread of the loop calls it, after the last event that the loop counts. */
    static void ended(RpmaLoopCounters loop) {
        synchronized (LOOPS) {
            if (LOOPS.remove(loop)) {
                ENDED_LOOPS.addEvents(loop.counts());
            }
        }
    }
}
