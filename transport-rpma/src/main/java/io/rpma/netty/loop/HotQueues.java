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

import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.rpma.CompletionOpcode;
import io.rpma.WorkCompletions;
import io.rpma.netty.jit.InliningBarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;

/**
 * The hot completion queues of an event loop: those that are polled in every turn, without a system call. A queue from which no
 * completion comes any more is armed, and becomes cold.
 *
 * <p>Only the thread of the loop uses this class, so its fields need no lock. A queue that is polled may add and remove any
 * others, because the handlers of the pipeline are called meanwhile.
 */
public final class HotQueues {
    private static final int BATCH = 64;
    /** A queue that has been empty this many times in a row is no longer polled. */
    private static final int COLD_AFTER_EMPTY_POLLS = 512;

    /** The warning about queues without a descriptor is logged once in this time: one minute, in nanoseconds. */
    private static final long WARNING_INTERVAL_NANOS = 60_000_000_000L;

    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance("io.rpma.netty.RpmaIoHandler");

    private static final InliningBarrier ARM_AND_POLL = new InliningBarrier(MethodHandles.lookup(), RpmaRegistration.class,
        "armAndPoll", MethodType.methodType(boolean.class, WorkCompletions.class));

    private final WorkCompletions batch = new WorkCompletions(BATCH);
    private final boolean isEndless;
    private final LoopCounts counters;
    private final LoopTurn turn;
    private RpmaRegistration[] hot = new RpmaRegistration[16];
    private int hotCount;
    private final ReceiveModeration moderation;
    private boolean hasWarned;
    private long warnedNanos;

    /**
     * Creates an empty set.
     *
     * @param isEndless whether queues remain hot although no completion comes, because the loop never blocks
     * @param moderation is told what is received from queues that are polled by system calls
     */
    public HotQueues(boolean isEndless, LoopCounts counters, LoopTurn turn, ReceiveModeration moderation) {
        this.moderation = moderation;
        this.isEndless = isEndless;
        this.counters = counters;
        this.turn = turn;
    }

    public boolean isEmpty() {
        return hotCount == 0;
    }

    /** Polls every hot queue once. Returns the number of completions that were handled. */
    public int poll() {
        int total = 0;
        for (int i = hotCount - 1; i >= 0; i--) {
            if (i >= hotCount) {
                // A handler of the pipeline has closed other channels meanwhile.
                continue;
            }
            RpmaRegistration registration = hot[i];
            int n = registration.poll(batch);
            if (n > 0) {
                total += n;
                turn.active++;
                if (registration.pollsBySystemCalls) {
                    countReceived(n);
                }
                registration.emptyPolls = 0;
                if (registration.hotIndex >= 0 && !registration.handle.awaitsCompletions()) {
                    cool(registration);
                }
            } else if (registration.hotIndex >= 0 && !registration.handle.awaitsCompletions()) {
                cool(registration);
            } else if (++registration.emptyPolls >= COLD_AFTER_EMPTY_POLLS && registration.hotIndex >= 0 && !isEndless) {
                if (armAndPoll(registration)) {
                    turn.active++;
                    registration.emptyPolls = 0;
                } else {
                    rest(registration);
                }
            }
        }
        counters.polls += total;
        return total;
    }

    /** Reports the length of the data that the last batch of completions has received. */
    private void countReceived(int completions) {
        long bytes = 0;
        for (int i = 0; i < completions; i++) {
            if (batch.opcodeCode(i) >= CompletionOpcode.RECV.code()) {
                bytes += batch.byteLength(i);
            }
        }
        moderation.received(bytes);
    }

    /**
     * Arms every hot queue and polls it once more; a queue that is still empty becomes cold, unless it cannot be armed. Returns
     * whether there was work, or a queue is hot nevertheless because epoll, run on behalf of another queue, has reported it since
     * it was armed. If not, the queues that are still hot cannot be armed, and the loop has to poll them at intervals.
     */
    public boolean arm() {
        boolean worked = false;
        for (int i = hotCount - 1; i >= 0; i--) {
            if (i >= hotCount) {
                continue;
            }
            RpmaRegistration registration = hot[i];
            if (!registration.handle.awaitsCompletions()) {
                cool(registration);
            } else if (armAndPoll(registration)) {
                turn.active++;
                registration.emptyPolls = 0;
                worked = true;
            } else {
                rest(registration);
            }
        }
        for (int i = 0; i < hotCount && !worked; i++) {
            worked = !hot[i].isUnwatched;
        }
        return worked;
    }

    /** Makes a queue cold that was armed and found empty. One that cannot be armed remains hot. */
    private void rest(RpmaRegistration registration) {
        if (registration.hotIndex >= 0) {
            if (registration.isUnwatched) {
                registration.emptyPolls = 0;
            } else {
                cool(registration);
            }
        }
    }

    /** Logs that a queue cannot be armed. */
    void logUnwatched(RpmaIoHandle handle, IllegalStateException reason) {
        long now = System.nanoTime();
        if (!hasWarned || now - warnedNanos >= WARNING_INTERVAL_NANOS) {
            hasWarned = true;
            warnedNanos = now;
            LOGGER.warn("{} cannot be woken by its completions, so its event loop polls it every {} us while it waits for them."
                + " This is logged once a minute, also if there are others.", handle, EpollSet.BRIEF_NANOS / 1000, reason);
        }
    }

    private boolean armAndPoll(RpmaRegistration registration) {
        try {
            return (boolean) ARM_AND_POLL.method().invokeExact(registration, batch);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
            return false;
        }
    }

    /** Makes the queue of a registration hot, if it is not. */
    void heat(RpmaRegistration registration) {
        if (registration.hotIndex < 0) {
            if (hotCount == hot.length) {
                hot = Arrays.copyOf(hot, hotCount << 1);
            }
            registration.hotIndex = hotCount;
            registration.emptyPolls = 0;
            hot[hotCount++] = registration;
            counters.hotQueues = hotCount;
        }
    }

    /** Makes the queue of a registration cold, if it is hot. */
    void cool(RpmaRegistration registration) {
        int index = registration.hotIndex;
        if (index >= 0) {
            RpmaRegistration last = hot[--hotCount];
            hot[index] = last;
            last.hotIndex = index;
            hot[hotCount] = null;
            registration.hotIndex = -1;
            counters.hotQueues = hotCount;
        }
    }
}
