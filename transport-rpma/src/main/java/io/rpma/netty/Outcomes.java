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

/**
 * How the work requests of one channel ended, in the order in which they were posted, until their promises are told. One that
 * was refused before it could be posted waits in its place for those before it.
 */
final class Outcomes {
    private final Throwable[] causes;
    private final int mask;
    private long posted;
    private long decided;
    private long taken;

    /**
     * Creates the ring.
     *
     * @param most how many can be under way at once
     */
    Outcomes(int most) {
        int size = Integer.highestOneBit(Math.max(1, most) * 2 - 1);
        causes = new Throwable[size];
        mask = size - 1;
    }

    boolean isFull() {
        return posted - taken == causes.length;
    }

    /** One more is under way. */
    void post() {
        causes[(int) posted++ & mask] = null;
    }

    /** One more failed before it was posted. */
    void refuse(Throwable cause) {
        causes[(int) posted++ & mask] = cause;
        passRefused();
    }

    /**
     * The oldest one under way has ended.
     *
     * @param cause why it failed, or {@code null}
     */
    void end(Throwable cause) {
        causes[(int) decided++ & mask] = cause;
        passRefused();
    }

    private void passRefused() {
        while (decided < posted && causes[(int) decided & mask] != null) {
            decided++;
        }
    }

    boolean hasNext() {
        return taken < decided;
    }

    /** Takes the next outcome: {@code null} for success, or why it failed. */
    Throwable next() {
        int index = (int) taken++ & mask;
        Throwable cause = causes[index];
        causes[index] = null;
        return cause;
    }
}
