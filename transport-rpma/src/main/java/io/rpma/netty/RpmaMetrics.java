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

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;

/**
 * The counters of this process: of its connections, in sum, of its server channels, and of its event loops. What is asked for is
 * added up when it is asked for; counting itself costs the data path a few additions. Thread-safe.
 */
public final class RpmaMetrics {
    private static final Set<RpmaChannelCounters> OPEN = ConcurrentHashMap.newKeySet();
    // Guarded by itself, so that a connection that ends is counted once.
    private static final RpmaChannelCounters ENDED = new RpmaChannelCounters(0);
    private static final List<RpmaLoopCounters> LOOPS = new CopyOnWriteArrayList<>();

    private static final RpmaAcceptCounters ACCEPTS = new RpmaAcceptCounters();

    private static final LongAdder[] BY_PATH = new LongAdder[RpmaPath.values().length];

    static {
        Arrays.setAll(BY_PATH, path -> new LongAdder());
    }

    private RpmaMetrics() {
    }

    /** Returns the sums of all connections so far, of those that are open and of those that have ended. */
    public static RpmaChannelCounters channels() {
        RpmaChannelCounters sum = new RpmaChannelCounters(0);
        synchronized (ENDED) {
            sum.add(ENDED);
            OPEN.forEach(sum::add);
        }
        return sum;
    }

    /** Returns the number of connections that are open, in establishment, or delivering what was sent before they were closed. */
    public static int openChannels() {
        return OPEN.size();
    }

    /** Returns how many connections have been established over a path, by clients and servers of this process. */
    public static long established(RpmaPath path) {
        return BY_PATH[path.ordinal()].sum();
    }

    static void addEstablished(RpmaPath path) {
        BY_PATH[path.ordinal()].increment();
    }

    /** Returns what became of the connections that clients asked the server channels for. */
    public static RpmaAcceptCounters accepts() {
        return ACCEPTS;
    }

    /**
     * Returns the bytes of memory of connections and regions that are closed, and that a process at the other end may still be
     * writing to because it has stopped in the middle of that; counted as used until it goes on or ends.
     */
    public static long limboBytes() {
        return LimboMemory.bytes();
    }

    /** Returns the event loops that run. */
    public static List<RpmaLoopCounters> loops() {
        return List.copyOf(LOOPS);
    }

    static RpmaChannelCounters opened(int receives) {
        RpmaChannelCounters counters = new RpmaChannelCounters(receives);
        OPEN.add(counters);
        return counters;
    }

    static void ended(RpmaChannelCounters counters) {
        synchronized (ENDED) {
            if (OPEN.remove(counters)) {
                ENDED.add(counters);
                // For who waits in a test.
                ENDED.notifyAll();
            }
        }
    }

    /** Waits until no more connections are open than so many. For tests: an event loop must not. */
    static void awaitOpen(int most) throws InterruptedException {
        synchronized (ENDED) {
            while (OPEN.size() > most) {
                ENDED.wait();
            }
        }
    }

    static void began(RpmaLoopCounters loop) {
        LOOPS.add(loop);
    }

    static void ended(RpmaLoopCounters loop) {
        LOOPS.remove(loop);
    }
}
