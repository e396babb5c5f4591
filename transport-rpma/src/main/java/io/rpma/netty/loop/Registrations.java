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

import io.netty.util.concurrent.ThreadAwareExecutor;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The registrations of one event loop. This class ends them when the loop ends: it closes each handle, lets what is closed
 * finish its delivery for a limited time, and then destroys it.
 *
 * <p>Only the thread of the loop uses this class, so its fields need no lock.
 */
public final class Registrations {
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance("io.rpma.netty.RpmaIoHandler");
    /** How long a loop that ends continues to deliver the data of closed channels. */
    private static final long FINISH_NANOS = 500_000_000;
    /** How long a loop that begins to shut down lets the channels that it closes wait for their deliveries. */
    private static final long CLOSE_NANOS = 500_000_000;

    private final Set<RpmaRegistration> registrations = new LinkedHashSet<>();
    private final ThreadAwareExecutor executor;
    private final LoopCounts counters;
    // When the closes that began with the shutdown have to be over; only valid once the shutdown has begun.
    private long closeDeadline;
    private boolean shutdownBegun;

    /**
     * Creates an empty set.
     *
     * @param executor the thread of the loop
     * @param counters counts the connections and listeners among them
     */
    public Registrations(ThreadAwareExecutor executor, LoopCounts counters) {
        this.executor = executor;
        this.counters = counters;
    }

    /** Returns the thread of the loop. */
    ThreadAwareExecutor executor() {
        return executor;
    }

    /** Adds a registration, and notifies its handle. */
    public void add(RpmaRegistration registration) {
        registrations.add(registration);
        countConnection(registration.handle, 1);
        registration.handle.registered();
    }

    /** Removes a registration, if it is there, and notifies its handle. */
    void remove(RpmaRegistration registration) {
        if (registrations.remove(registration)) {
            countConnection(registration.handle, -1);
            registration.handle.unregistered();
        }
    }

    private void countConnection(RpmaIoHandle handle, int change) {
        if (handle.hasEvents()) {
            counters.connections += change;
        }
    }

    /**
     * Closes all handles. Called in each turn of a loop that shuts down. The handles whose close waits for a delivery get a
     * limited time for it. That time applies to all of them together, and begins with the first call.
     */
    public void closeAll() {
        if (!shutdownBegun) {
            shutdownBegun = true;
            closeDeadline = System.nanoTime() + CLOSE_NANOS;
        }
        for (RpmaRegistration registration : new ArrayList<>(registrations)) {
            try {
                registration.handle.close();
            } catch (Exception e) {
                LOGGER.warn("Failed to close {} while the loop shuts down.", registration.handle, e);
            }
        }
        // The closes end now and not in destroyAll(), because Netty notifies a pipeline in a task, and a loop that destroys its
        // handles accepts no more tasks.
        while (!completeCloses(System.nanoTime() - closeDeadline >= 0)) {
            Thread.onSpinWait();
        }
    }

    private boolean completeCloses(boolean late) {
        boolean completed = true;
        for (RpmaRegistration registration : new ArrayList<>(registrations)) {
            completed &= registration.handle.completeClose(late);
        }
        return completed || late;
    }

    /** Ends all registrations, and their handles. */
    public void destroyAll() {
        long deadline = System.nanoTime() + FINISH_NANOS;
        // A channel that is destroyed may leave a lingering close behind, which is destroyed in the next round.
        while (!registrations.isEmpty()) {
            finishAll(deadline);
            for (RpmaRegistration registration : new ArrayList<>(registrations)) {
                registration.destroy();
            }
        }
    }

    /** Lets closed channels finish their delivery. The deadline applies to all of them together. */
    private void finishAll(long deadline) {
        // All are advanced together, because two ends on this loop may wait for each other.
        while (!finishEach() && System.nanoTime() - deadline < 0) {
            Thread.onSpinWait();
        }
    }

    private boolean finishEach() {
        boolean finished = true;
        for (RpmaRegistration registration : new ArrayList<>(registrations)) {
            finished &= registration.handle.finish();
        }
        return finished;
    }
}
