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
package io.rpma.soft.process;

import io.rpma.soft.shared.DeferredDoorbell;
import io.rpma.soft.shared.EventPipe;

/**
 * The deferred doorbell of a completion queue of another process. When its owner requests the event descriptor, the owner sends
 * it on the control socket of the connection, and arms the queue after that. A thread that finds the queue armed therefore finds
 * the descriptor on the socket, unless a message that the application has not taken yet is in front of it. In that case the
 * doorbell is rung when the application takes its connection events.
 */
final class RemoteDoorbell extends DeferredDoorbell {
    private ControlSocket source;
    private volatile EventPipe event;
    // Whether a thread has found the queue armed without finding the descriptor. Guarded by the lock of this object.
    private boolean missed;

    RemoteDoorbell(long armed) {
        super(armed);
    }

    /** Sets the socket on which the descriptor arrives, before this doorbell is used. */
    void receiveFrom(ControlSocket control) {
        source = control;
    }

    @Override
    protected EventPipe retainEvent() {
        // The callers use the view of the other end meanwhile, which owns the descriptor.
        EventPipe known = event;
        return known != null ? known.retain() : receive();
    }

    private synchronized EventPipe receive() {
        if (event == null) {
            event = source.takeDoorbell();
            missed = event == null;
        }
        return event == null ? null : event.retain();
    }

    /**
     * Takes the descriptor, which has arrived with the connection's events, and rings if that was not possible before.
     *
     * @return whether it is the first one; otherwise the caller still owns it
     */
    boolean arrived(EventPipe pipe) {
        boolean late;
        synchronized (this) {
            if (event != null) {
                return false;
            }
            event = pipe;
            late = missed;
        }
        if (late) {
            // No fence is needed: the other thread has found the queue armed after its own fence, and the lock orders that load
            // before the one in ring().
            ring();
        }
        return true;
    }

    @Override
    public void release() {
        if (event != null) {
            event.release();
        }
    }
}
