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
 * last number for which it has written to the event descriptor, and writes once for each number.
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

    private final long arming;
    private volatile long rung;

    /**
     * Creates the doorbell, one for all connections of this process to the queue.
     *
     * @param arming the address of the owner's number, readable
     */
    SharedDoorbell(long arming, EventPipe event) {
        super(0, event);
        this.arming = arming;
    }

    @Override
    public void ring() {
        long number = Memory.getLong(arming);
        long last = rung;
        if (last != number && RUNG.compareAndSet(this, last, number)) {
            if (FaultPoints.ENABLED) {
                FaultPoints.at("fired");
            }
            event().signal();
        }
    }
}
