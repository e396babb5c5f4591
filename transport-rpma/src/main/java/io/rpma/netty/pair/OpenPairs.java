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

package io.rpma.netty.pair;

import io.rpma.RpmaProvider;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The queue pairs of this process that are open, and what those that have ended have counted. Thread-safe. */
public final class OpenPairs {
    private static final Set<ChannelCounts> OPEN = ConcurrentHashMap.newKeySet();
    // Guarded by itself, so that a connection that ends is counted only once.
    private static final ChannelCounts ENDED = new ChannelCounts(0);
    private static final Map<String, LongAdder> ESTABLISHED = new ConcurrentHashMap<>();

    private OpenPairs() {
    }

    /** Returns the sums over all connections so far, both open and ended. */
    public static ChannelCounts sum() {
        ChannelCounts sum = new ChannelCounts(0);
        synchronized (ENDED) {
            sum.add(ENDED);
            OPEN.forEach(sum::add);
        }
        return sum;
    }

    /** Returns the number of connections that are open, being established, or still delivering. */
    public static int count() {
        return OPEN.size();
    }

    /** Returns how many connections have been established with the provider of this name. */
    public static long established(String provider) {
        LongAdder count = ESTABLISHED.get(provider);
        return count == null ? 0 : count.sum();
    }

    static void addEstablished(RpmaProvider provider) {
        ESTABLISHED.computeIfAbsent(provider.name(), name -> new LongAdder()).increment();
    }

    static ChannelCounts opened(int receives) {
        ChannelCounts counts = new ChannelCounts(receives);
        OPEN.add(counts);
        return counts;
    }

    static void ended(ChannelCounts counts) {
        synchronized (ENDED) {
            if (OPEN.remove(counts)) {
                ENDED.add(counts);
                // For tests that wait in awaitOpen().
                ENDED.notifyAll();
            }
        }
    }

    /** Waits until at most this many connections are open. For tests; an event loop must not call it. */
    public static void awaitOpen(int most) throws InterruptedException {
        synchronized (ENDED) {
            while (OPEN.size() > most) {
                ENDED.wait();
            }
        }
    }
}
