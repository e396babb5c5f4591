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

/**
 * The results of the work requests of one channel, in the order in which they were posted, until their promises are notified. A
 * request that was refused before it could be posted keeps its place behind the earlier ones.
 */
public final class Outcomes {
    private final int mask;
    // Null until a request fails: success is no cause.
    private Throwable[] causes;
    private long posted;
    private long decided;
    private long taken;

    /**
     * Creates the ring.
     *
     * @param most how many requests can be under way at once
     */
    public Outcomes(int most) {
        mask = Integer.highestOneBit(Math.max(1, most) * 2 - 1) - 1;
    }

    public boolean isFull() {
        return posted - taken == mask + 1;
    }

    /** Returns whether one more request fills this object. */
    public boolean isAlmostFull() {
        return posted - taken == mask;
    }

    /** Adds a request that was posted. */
    public void post() {
        record(posted++, null);
    }

    /** Adds a request that failed before it was posted. */
    public void refuse(Throwable cause) {
        record(posted++, cause);
        passRefused();
    }

    /**
     * Records the result of the oldest request under way.
     *
     * @param cause why it failed, or {@code null}
     */
    public void end(Throwable cause) {
        record(decided++, cause);
        passRefused();
    }

    private void record(long request, Throwable cause) {
        if (causes == null) {
            if (cause == null) {
                return;
            }
            causes = new Throwable[mask + 1];
        }
        causes[(int) request & mask] = cause;
    }

    private void passRefused() {
        while (causes != null && decided < posted && causes[(int) decided & mask] != null) {
            decided++;
        }
    }

    /** Returns whether a request is under way. */
    public boolean isAwaited() {
        return decided < posted;
    }

    public boolean hasNext() {
        return taken < decided;
    }

    /** Removes the next result: {@code null} for success, or why the request failed. */
    public Throwable next() {
        int index = (int) taken++ & mask;
        if (causes == null) {
            return null;
        }
        Throwable cause = causes[index];
        causes[index] = null;
        return cause;
    }
}
