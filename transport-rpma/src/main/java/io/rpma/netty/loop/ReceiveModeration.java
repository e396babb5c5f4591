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

/**
 * Decides whether an event loop pauses briefly when it has nothing to do, instead of polling, while it receives large amounts of
 * data from queues that are polled by system calls. Network cards moderate their interrupts in the same way: more data arrives
 * meanwhile, so fewer polls are needed for it, and fewer find nothing.
 *
 * <p>A pause is harmless if the data flows by itself, and harmful if the peer waits for this end, as with requests for large
 * responses. Which is the case is measured: the time is divided into windows, each of which ends when {@link #WINDOW_BYTES} have
 * arrived. {@link #PHASE} windows are a phase, during which the loop either pauses or does not. The rate of a phase is that of
 * its best window, because other threads of the machine only make windows slower; the first one does not count. The loop pauses
 * as long as the rate of phases with pauses is nearly that of phases without, and tries the other way in one of
 * {@link #EXPLORATION} phases. Slow data, for which a window would take longer than {@link #WINDOW_NANOS}, is never moderated.
 *
 * <p>Only the thread of the loop uses this class, so its fields need no lock.
 */
public final class ReceiveModeration {
    /**
     * How long a pause lasts at least, in nanoseconds. Linux adds the timer slack of the thread, which is 50 microseconds unless
     * it was changed.
     */
    public static final long PAUSE_NANOS = 10_000;
    /** The length of a window in bytes. */
    static final long WINDOW_BYTES = 16 << 20;
    /** The longest time for a window, in nanoseconds. */
    static final long WINDOW_NANOS = 32_000_000;
    /** The number of windows in a phase. */
    static final int PHASE = 4;
    /** In one of this many phases, the loop does not do what has been better so far. */
    static final int EXPLORATION = 32;
    /** The loop pauses if data arrives at no less than this fraction of the rate without pauses. */
    private static final double ACCEPTED = 0.93;
    /** The weight of the newest phase in the average of a rate. */
    private static final double NEWEST = 0.5;

    private long bytes;
    private long begun;
    // The number of windows of this phase that have ended, and the rate of the best one.
    private int windows;
    private double best;
    private int phases;
    private boolean pauses;
    // The average rates of phases with and without pauses, in bytes for a nanosecond; 0 if not known.
    private double pausing;
    private double polling;

    /**
     * Creates the state of a loop that has received nothing.
     *
     * @param now {@code System.nanoTime()}
     */
    public ReceiveModeration(long now) {
        begun = now;
    }

    /** Called when data has been received from a queue that is polled by system calls. */
    void received(long length) {
        bytes += length;
    }

    /**
     * Returns whether the loop should pause now instead of polling, because it has nothing to do.
     *
     * @param now {@code System.nanoTime()}
     */
    public boolean isPauseDue(long now) {
        long nanos = now - begun;
        if (bytes >= WINDOW_BYTES) {
            end(nanos);
            begin(now);
        } else if (nanos > WINDOW_NANOS) {
            forget();
            begin(now);
        }
        return pauses;
    }

    private void begin(long now) {
        bytes = 0;
        begun = now;
    }

    /** Forgets what has been measured, because no large amount of data arrives any more. */
    private void forget() {
        pauses = false;
        pausing = 0;
        polling = 0;
        phases = 0;
        beginPhase();
    }

    private void beginPhase() {
        windows = 0;
        best = 0;
    }

    private void end(long nanos) {
        double rate = (double) bytes / Math.max(nanos, 1);
        if (rate < (double) WINDOW_BYTES / WINDOW_NANOS) {
            forget();
            return;
        }
        if (windows > 0) {
            best = Math.max(best, rate);
        }
        if (++windows == PHASE) {
            endPhase();
            beginPhase();
        }
    }

    private void endPhase() {
        if (pauses) {
            pausing = average(pausing, best);
        } else {
            polling = average(polling, best);
        }
        boolean isBetter = pausing == 0 || pausing >= ACCEPTED * polling;
        pauses = isBetter != (++phases % EXPLORATION == 0);
    }

    private static double average(double before, double rate) {
        return before == 0 ? rate : before + NEWEST * (rate - before);
    }
}
