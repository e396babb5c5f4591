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
package io.rpma.tcp;

import io.rpma.posix.EpollSet;
import java.util.concurrent.TimeUnit;

/**
 * The end of a connection whose reading is paused. Reading would find it only behind the data that the peer has sent before, so
 * the adapter's thread watches the socket for it. From then on, the application has {@link #MILLIS} to post a receive, so that
 * reading continues. If it does not, the connection ends, and the rest of the data is discarded.
 *
 * <p>Used by the thread that holds the queue pair, unless stated otherwise.
 */
final class UnreadEnd implements Adapter.Expiring {
    /** The longest time between the end and the next receive, or between two receives after the end. */
    static final int MILLIS = 5_000;

    private final Drivable pair;
    // Whether the socket has come to its end. It stays so, whether the data before the end is read or not.
    private boolean noticed;
    private long executed;
    private volatile boolean waiting;
    private volatile long deadline;

    UnreadEnd(Drivable pair) {
        this.pair = pair;
    }

    /** Returns the event to watch the socket of a paused connection for, 0 if it has occurred. */
    int watch() {
        return noticed ? 0 : EpollSet.READ_END;
    }

    /**
     * Returns whether the connection ends now, because there has been no receive in time.
     *
     * @param hasHungUp whether the end has just been noticed
     * @param isPaused whether reading is paused
     * @param last the number of the last request that has been executed, which shows whether there have been receives
     */
    boolean isOverdue(boolean hasHungUp, boolean isPaused, long last) {
        noticed |= hasHungUp;
        if (!isPaused || !noticed) {
            forget();
            return false;
        }
        long now = System.nanoTime();
        if (waiting && last == executed) {
            return now - deadline >= 0;
        }
        executed = last;
        deadline = now + TimeUnit.MILLISECONDS.toNanos(MILLIS);
        if (!waiting) {
            waiting = true;
            Adapter.instance().add(this);
        }
        return false;
    }

    /** Stops waiting for a receive. */
    void forget() {
        if (waiting) {
            waiting = false;
            Adapter.instance().remove(this);
        }
    }

    @Override
    public boolean expire(long now) {
        if (waiting && now - deadline >= 0) {
            pair.kick(Drivable.SEND);
        }
        // Only the thread that holds the queue pair removes it: it may have begun to wait again meanwhile.
        return false;
    }
}
