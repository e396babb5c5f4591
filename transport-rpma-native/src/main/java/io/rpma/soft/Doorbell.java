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
package io.rpma.soft;

import io.rpma.posix.Memory;

/**
 * Rings for the owner of a completion queue, if it sleeps. The armed word of a connection's queue lies in memory that the two
 * ends of the connection share: 1 while its owner waits for the descriptor, 0 once somebody has rung. Whoever takes it from 1 to
 * 0 writes to the event descriptor, exactly once; nobody else makes a system call. {@link SharedDoorbell} is for a queue that
 * several processes ring.
 */
class Doorbell {
    /** The owner wants to be woken. */
    static final int ARMED = 1;
    /** Somebody has rung since. */
    static final int FIRED = 0;

    private final long armed;
    private final EventPipe event;

    Doorbell(long armed, EventPipe event) {
        this.armed = armed;
        this.event = event;
    }

    /**
     * Rings if the queue is armed. The caller has published what there is to see, and put a full fence behind it: either it
     * sees the queue armed, or the owner, who looks once more after arming, sees what was published.
     */
    void ring() {
        if (Memory.getInt(armed) == ARMED && Memory.casInt(armed, ARMED, FIRED)) {
            if (Faults.ENABLED) {
                Faults.at("fired");
            }
            event.signal();
        }
    }

    /** Rings from a thread that does not keep the owner's connection open. */
    void ringIfOpen() {
        if (event.tryRetain()) {
            ring();
            event.release();
        }
    }

    EventPipe event() {
        return event;
    }
}
