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

package io.rpma.soft.shared;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Signals an event descriptor, and signals it again later if the signal has been lost. Every process that has been sent a pipe
 * can reopen it for reading, and can thereby take the signals that others have written before the owner wakes up. An owner that
 * is signalled by several processes would then not hear of the events of the others.
 *
 * <p>After a signal, the condition that the owner changes when it reacts is checked at an interval, on a thread of the default
 * executor, until the owner has reacted. The descriptor is signalled again only if it is empty at two checks in a row,
 * because the signals for an owner that is awake or stopped remain in the pipe. While nothing is signalled, nothing runs. Any
 * thread may use this object.
 */
public final class RepeatedSignal {
    private static final int INTERVAL_MILLIS = 25;
    private static final VarHandle SCHEDULED;

    static {
        try {
            SCHEDULED = MethodHandles.lookup().findVarHandle(RepeatedSignal.class, "scheduled", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EventPipe event;
    private final BooleanSupplier awaited;
    private volatile boolean scheduled;
    // Used by check(), of which one call at a time runs or is scheduled.
    private boolean wasEmpty;

    /**
     * Creates a signal that has not been given.
     *
     * @param awaited returns whether the owner has not reacted to the last signal. It is called on any thread, also after the
     *     descriptor has been closed
     */
    public RepeatedSignal(EventPipe event, BooleanSupplier awaited) {
        this.event = event;
        this.awaited = awaited;
    }

    /** Makes the descriptor readable. Only a user of the descriptor may call it. */
    public void signal() {
        event.signal();
        signalLater();
    }

    /**
     * Makes the descriptor readable after two or three intervals if the owner has not reacted by then. The awaited condition must
     * already be true. Only a user of the descriptor may call it.
     */
    public void signalLater() {
        if (!scheduled && SCHEDULED.compareAndSet(this, false, true)) {
            schedule();
        }
    }

    private void schedule() {
        CompletableFuture.delayedExecutor(INTERVAL_MILLIS, TimeUnit.MILLISECONDS).execute(this::check);
    }

    private void check() {
        if (!awaited.getAsBoolean()) {
            wasEmpty = false;
            // Volatile, before the condition is evaluated again: a thread that signals after this evaluation finds that no check
            // is scheduled.
            scheduled = false;
            if (!awaited.getAsBoolean() || !SCHEDULED.compareAndSet(this, false, true)) {
                return;
            }
        }
        if (event.tryRetain()) {
            boolean isEmpty = event.isEmpty();
            if (isEmpty && wasEmpty) {
                event.signal();
            }
            // An owner that reacts empties the descriptor first and then changes the condition, and may be between the two now.
            wasEmpty = isEmpty && !wasEmpty;
            event.release();
            schedule();
        }
    }
}
