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

/**
 * Wakes the owner of a completion queue if the queue is armed. The armed word of a connection's queue lies in memory that the two
 * ends of the connection share: it is 1 while the owner waits for the descriptor, and 0 once the queue has fired. The thread that
 * changes it from 1 to 0 writes to the event descriptor, exactly once; no other thread makes a system call. {@link
 * SharedDoorbell} is for a queue that several processes signal, and {@link DeferredDoorbell} for one whose descriptor is created
 * only when its owner requests it.
 */
public class Doorbell {
    /** The owner waits to be woken. */
    public static final int ARMED = 1;
    /** The queue has fired since it was armed. */
    static final int FIRED = 0;
    /** The queue has not fired, and its owner has no descriptor to wait for: see {@link DeferredDoorbell}. */
    public static final int UNWATCHED = 2;

    private final long armed;
    private final EventPipe event;

    public Doorbell(long armed, EventPipe event) {
        this.armed = armed;
        this.event = event;
    }

    /**
     * Signals the event descriptor if the queue is armed. The caller has published a completion and then executed a full fence,
     * which orders it before the load of the armed word. The owner stores the armed word, executes a full fence and polls once
     * more. So either this method finds the queue armed, or the owner finds the completion.
     */
    public void ring() {
        if (Memory.getInt(armed) == ARMED && Memory.casInt(armed, ARMED, FIRED)) {
            if (FaultPoints.ENABLED) {
                FaultPoints.at("fired");
            }
            event.signal();
        }
    }

    /** Calls {@link #ring()} unless the event descriptor is closed: for threads that do not keep the connection open. */
    public void ringIfOpen() {
        if (event.tryRetain()) {
            ring();
            event.release();
        }
    }

    /** Returns the event descriptor. */
    final EventPipe event() {
        return event;
    }

    /** Adds a user of the event descriptor unless it is closed. Returns whether it did. */
    public boolean tryRetain() {
        return event.tryRetain();
    }

    /** Releases the event descriptor. Called by the end of a connection that rings this doorbell of the other end. */
    public void release() {
        event.release();
    }
}
