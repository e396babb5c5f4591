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
 * The doorbell of a completion queue whose event descriptor is created only when its owner requests it ({@link
 * CompletionChannel#watch}). Until then the armed word is {@link #UNWATCHED} instead of {@link #ARMED}, and firing makes no
 * system call. So a connection whose owner never waits for this queue costs no descriptor for it at either end.
 */
public abstract class DeferredDoorbell extends Doorbell {
    private final long armed;

    /**
     * Creates a doorbell.
     *
     * @param armed the address of the armed word
     */
    protected DeferredDoorbell(long armed) {
        super(armed, null);
        this.armed = armed;
    }

    @Override
    public final void ring() {
        int word = Memory.getInt(armed);
        if (word != FIRED) {
            fire(word);
        }
    }

    private void fire(int word) {
        int now = word;
        if (now == UNWATCHED) {
            if (Memory.casInt(armed, UNWATCHED, FIRED)) {
                return;
            }
            // Another thread has fired the queue, or the owner has requested the descriptor and armed the queue.
            now = Memory.getIntVolatile(armed);
        }
        if (now != ARMED) {
            return;
        }
        EventPipe event = retainEvent();
        if (event == null) {
            return;
        }
        if (Memory.casInt(armed, ARMED, FIRED)) {
            if (FaultPoints.ENABLED) {
                FaultPoints.at("fired");
            }
            event.signal();
        }
        event.release();
    }

    @Override
    public final void ringIfOpen() {
        ring();
    }

    /**
     * Returns the event descriptor, with the caller as a further user. The queue is armed.
     *
     * @return the descriptor; {@code null} if it is closed, or if this process has not received it
     */
    protected abstract EventPipe retainEvent();
}
