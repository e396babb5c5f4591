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
package io.rpma.soft.process;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The list of closed objects whose memory cannot be reused yet, because a peer may still access it. Each entry is released when
 * its {@link GracePeriod} is over. No thread blocks for that: a thread of the common pool checks the entries, first after some
 * milliseconds and then at growing intervals, and so does every caller that asks whether a closed object is quiescent.
 * A connection that has failed also awaits the end of the peer's operation here, before it flushes its receives. Thread-safe.
 */
public final class LimboList {
    private static final long FIRST_LOOK_MILLIS = 10;
    private static final long LAST_LOOK_MILLIS = 1_000;
    /** A process that is not stopped but only waits for a processor has continued within this time. */
    private static final long REPORTED_NANOS = 1_000_000_000;

    private final List<Entry> entries = new ArrayList<>();
    private volatile int size;
    private boolean scheduled;
    private long delayMillis;

    private record Entry(GracePeriod period, int pid, Runnable release, long since) {
    }

    /**
     * Adds an entry.
     *
     * @param pid the process at the other end if the entry is a connection, otherwise 0
     * @param release the action to run once, by any thread, when the grace period is over
     */
    public void add(GracePeriod period, int pid, Runnable release) {
        synchronized (this) {
            entries.add(new Entry(period, pid, release, System.nanoTime()));
            size = entries.size();
            delayMillis = FIRST_LOOK_MILLIS;
            schedule();
        }
    }

    private void schedule() {
        if (!scheduled) {
            scheduled = true;
            CompletableFuture.delayedExecutor(delayMillis, TimeUnit.MILLISECONDS).execute(this::look);
            delayMillis = Math.min(2 * delayMillis, LAST_LOOK_MILLIS);
        }
    }

    private void look() {
        sweep();
        List<Entry> left;
        synchronized (this) {
            scheduled = false;
            left = List.copyOf(entries);
            if (!left.isEmpty()) {
                schedule();
            }
        }
        long now = System.nanoTime();
        for (Entry entry : left) {
            RemoteProcess process = now - entry.since < REPORTED_NANOS ? null : entry.period.process();
            if (process != null) {
                process.reportStopped();
            }
        }
    }

    /** Returns the number of entries. */
    int size() {
        return size;
    }

    /** Returns how many connections of a process wait to be released. */
    public int connections(int pid) {
        if (size == 0) {
            return 0;
        }
        sweep();
        int count = 0;
        synchronized (this) {
            for (Entry entry : entries) {
                count += entry.pid == pid ? 1 : 0;
            }
        }
        return count;
    }

    /** Releases the entries whose grace period is over. */
    public void sweep() {
        if (size == 0) {
            return;
        }
        List<Entry> over = new ArrayList<>();
        synchronized (this) {
            entries.removeIf(entry -> {
                boolean ready = entry.period.isOver();
                if (ready) {
                    over.add(entry);
                }
                return ready;
            });
            size = entries.size();
        }
        over.forEach(entry -> entry.release.run());
    }
}
