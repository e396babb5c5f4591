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

import io.rpma.posix.Memory;
import io.rpma.soft.host.FaultPoints;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Wakes the owner of the completion queue of a shared receive queue. The processes that share the queue do not trust each other,
 * and one that could disarm the queue could suppress the wake-ups of all others. The armed word therefore lies in memory that
 * only the owner writes ({@link SharedReceives}): a number that grows each time the owner arms the queue. Each process keeps the
 * last number for which it has written to the event descriptor, and writes once for each number. It writes again if another
 * process has emptied the descriptor before the owner has seen the signal ({@link RepeatedSignal}).
 */
final class SharedDoorbell extends Doorbell {
    private static final VarHandle RUNG;

    static {
        try {
            RUNG = MethodHandles.lookup().findVarHandle(SharedDoorbell.class, "rung", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final SharedMemory posted;
    private final long arming;
    private final RepeatedSignal signal;
    private volatile long rung;

    /**
     * Creates the doorbell, one for all connections of this process to the queue.
     *
     * @param posted the memory that contains the owner's number
     * @param arming the address of the owner's number, readable
     */
    SharedDoorbell(SharedMemory posted, long arming, EventPipe event) {
        super(0, event);
        this.posted = posted;
        this.arming = arming;
        signal = new RepeatedSignal(event, this::isUnanswered);
    }

    @Override
    public void ring() {
        long number = Memory.getLong(arming);
        long last = rung;
        if (last != number && RUNG.compareAndSet(this, last, number)) {
            if (FaultPoints.ENABLED) {
                FaultPoints.at("fired");
            }
            signal.signal();
        }
    }

    /** Returns whether the owner has not armed the queue since this process signalled. Any thread may call it. */
    private boolean isUnanswered() {
        // The last connection of this process to the queue may have ended.
        if (!posted.tryRetain()) {
            return false;
        }
        boolean unanswered = Memory.getLong(arming) == rung;
        posted.release();
        return unanswered;
    }
}
