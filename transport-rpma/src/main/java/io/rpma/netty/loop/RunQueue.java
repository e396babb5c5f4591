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

import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.concurrent.TimeUnit;

/**
 * Measures how long the thread of an event loop has waited for a processor, by {@code /proc/thread-self/schedstat}; see the
 * kernel's {@code Documentation/scheduler/sched-stats.rst}. If other threads need the processors (the compilers of a JVM that
 * has just started, other programs, the peer itself), a loop that polls while it is idle takes processor time from them, and
 * has used up its own time slice when it has work. Used by the thread of the loop.
 */
public final class RunQueue {
    /** A thread that waits for a processor for more than one part in this many of the time counts as crowded. */
    private static final int CROWDED_PART = 8;
    /** The shortest interval between two reads of the kernel's file, each of which takes a microsecond. */
    private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** The source of the time. */
    interface Source {
        /** Returns how many nanoseconds this thread has waited for a processor so far; -1 if that is not known. */
        long waitedNanos();
    }

    private final Source source;
    private long askedAt;
    private long waited = -1;
    private boolean crowded;

    RunQueue(Source source) {
        this.source = source;
    }

    /** Returns the run queue of the calling thread. */
    public static RunQueue ofThisThread() {
        return new RunQueue(new Schedstat());
    }

    /**
     * Returns whether this thread has recently had to wait for processors.
     *
     * @param now {@code System.nanoTime()}
     */
    public boolean isCrowded(long now) {
        long elapsed = now - askedAt;
        if (waited >= 0 && elapsed < INTERVAL_NANOS) {
            return crowded;
        }
        long before = waited;
        waited = source.waitedNanos();
        askedAt = now;
        crowded = before >= 0 && waited - before > elapsed / CROWDED_PART;
        return crowded;
    }

    /** Closes the source; it is not read any more. */
    public void close() {
        if (source instanceof Schedstat schedstat) {
            schedstat.close();
        }
    }

    /** The kernel's file about the thread that opens it. */
    private static final class Schedstat implements Source {
        private final byte[] text = new byte[64];
        private RandomAccessFile file;

        Schedstat() {
            try {
                file = new RandomAccessFile("/proc/thread-self/schedstat", "r");
            } catch (IOException e) {
                // A kernel without these statistics, or a container without /proc: no waiting can be detected.
                file = null;
            }
        }

        @Override
        public long waitedNanos() {
            if (file == null) {
                return -1;
            }
            try {
                file.seek(0);
                return secondNumber(file.read(text));
            } catch (IOException e) {
                close();
                return -1;
            }
        }

        private long secondNumber(int length) {
            int i = 0;
            while (i < length && text[i] != ' ') {
                i++;
            }
            long number = 0;
            for (i++; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
                number = 10 * number + text[i] - '0';
            }
            return number;
        }

        void close() {
            if (file != null) {
                try {
                    file.close();
                } catch (IOException e) {
                    // The file was only read.
                    return;
                } finally {
                    file = null;
                }
            }
        }
    }
}
