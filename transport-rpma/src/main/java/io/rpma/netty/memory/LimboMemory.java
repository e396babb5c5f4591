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

package io.rpma.netty.memory;

import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Memory of closed connections and regions that a peer may still be writing to. It is reused as soon as the provider reports
 * that no peer can write to it any more. All providers but the software provider always report that immediately; the software
 * provider reports it later only while the process at the other end is executing an operation, which takes any length of time
 * if that process has been stopped. No event loop waits: Netty's global executor checks periodically. Until then the memory
 * counts as used. Thread-safe.
 */
public final class LimboMemory {
    private static final long FIRST_LOOK_MILLIS = 10;
    private static final long LAST_LOOK_MILLIS = 500;
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance("io.rpma.netty.LimboMemory");

    private static final List<Entry> ENTRIES = new ArrayList<>();
    private static long bytes;
    private static boolean scheduled;
    private static boolean reported;
    private static long delayMillis;

    private record Entry(BooleanSupplier quiescent, long bytes, Runnable release) {
    }

    private LimboMemory() {
    }

    /**
     * Releases memory immediately, or when no peer can write to it any more.
     *
     * @param quiescent returns whether no peer can write to the memory; called on any thread until it returns {@code true}
     * @param bytes the amount of memory
     * @param release the action, which runs once, on this thread or later on the global executor
     */
    public static void release(BooleanSupplier quiescent, long bytes, Runnable release) {
        if (quiescent.getAsBoolean()) {
            release.run();
            return;
        }
        synchronized (ENTRIES) {
            ENTRIES.add(new Entry(quiescent, bytes, release));
            LimboMemory.bytes += bytes;
            delayMillis = FIRST_LOOK_MILLIS;
            schedule();
        }
    }

    /** Returns the number of bytes of memory that wait to be released. */
    public static long bytes() {
        synchronized (ENTRIES) {
            return bytes;
        }
    }

    private static void schedule() {
        if (!scheduled) {
            scheduled = true;
            GlobalEventExecutor.INSTANCE.schedule(LimboMemory::look, delayMillis, TimeUnit.MILLISECONDS);
            delayMillis = Math.min(2 * delayMillis, LAST_LOOK_MILLIS);
        }
    }

    private static void look() {
        List<Entry> over = new ArrayList<>();
        long left = 0;
        synchronized (ENTRIES) {
            ENTRIES.removeIf(entry -> {
                boolean ready = entry.quiescent.getAsBoolean();
                if (ready) {
                    over.add(entry);
                    bytes -= entry.bytes;
                }
                return ready;
            });
            scheduled = false;
            if (ENTRIES.isEmpty()) {
                reported = false;
            } else {
                schedule();
                if (!reported && delayMillis == LAST_LOOK_MILLIS) {
                    reported = true;
                    left = bytes;
                }
            }
        }
        if (left > 0) {
            LOGGER.warn("{} bytes of memory of closed connections and regions cannot be reused yet: a peer process has stopped"
                + " in the middle of writing to it. The memory becomes free when that process resumes or exits.", left);
        }
        for (Entry entry : over) {
            try {
                entry.release.run();
            } catch (RuntimeException e) {
                LOGGER.error("Memory of {} bytes could not be released.", entry.bytes, e);
            }
        }
    }
}
