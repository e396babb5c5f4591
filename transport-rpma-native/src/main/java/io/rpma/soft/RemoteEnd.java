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

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The other end of a connection, as far as this end reaches into it. Counted: another thread that waits for the other end's
 * operation, or wakes it, keeps the memory mapped meanwhile.
 */
final class RemoteEnd {
    private final LocalProcess local;
    private final RemoteProcess process;
    private final SharedMemory half;
    private final int domain;
    private final int receiveCapacity;
    private final int ringCapacity;
    private final SharedReceives shared;
    private final int sharedIndex;
    private final Doorbell doorbell;
    private final Doorbell receiveDoorbell;
    private final boolean receivesShareQueue;
    private final QueuePair neighbour;
    private final AtomicInteger users = new AtomicInteger(1);

    /**
     * Creates the view; everything given is taken over.
     *
     * @param shared the shared receive queue that it receives from, or {@code null}
     * @param sharedIndex its number there
     * @param event the descriptor of its completion queue
     * @param receiveEvent the descriptor of its own receive completion queue, or {@code null}
     * @param receivesShareQueue whether its receives complete in the shared receive queue's completion queue
     * @param neighbour the other end itself if it is in this process, otherwise {@code null}
     */
    RemoteEnd(LocalProcess local, RemoteProcess process, SharedMemory half, int domain, int receiveCapacity,
            int ringCapacity, SharedReceives shared, int sharedIndex, EventFd event, EventFd receiveEvent,
            boolean receivesShareQueue, QueuePair neighbour) {
        this.neighbour = neighbour;
        this.local = local;
        this.process = process;
        this.half = half;
        this.domain = domain;
        this.receiveCapacity = receiveCapacity;
        this.ringCapacity = ringCapacity;
        this.shared = shared;
        this.sharedIndex = sharedIndex;
        this.receivesShareQueue = receivesShareQueue;
        doorbell = new Doorbell(half.address() + Half.ARMED, event);
        receiveDoorbell = receivesShareQueue ? shared.doorbell()
            : receiveEvent == null ? doorbell : new Doorbell(half.address() + Half.RECEIVE_ARMED, receiveEvent);
    }

    RemoteProcess process() {
        return process;
    }

    /** Returns the address of its half. */
    long base() {
        return half.address();
    }

    /** Returns the address of its ring of completions. */
    long ring() {
        return half.address() + Half.ring(receiveCapacity);
    }

    int domain() {
        return domain;
    }

    int receiveCapacity() {
        return receiveCapacity;
    }

    int ringCapacity() {
        return ringCapacity;
    }

    SharedReceives shared() {
        return shared;
    }

    int sharedIndex() {
        return sharedIndex;
    }

    /** Returns whether the owner learns of a completion by the ready bits of its shared receive queue. */
    boolean receivesShareQueue() {
        return receivesShareQueue;
    }

    /** Returns the doorbell of its completion queue. */
    Doorbell doorbell() {
        return doorbell;
    }

    /** Returns the doorbell of the completion queue that its receives complete in. */
    Doorbell receiveDoorbell() {
        return receiveDoorbell;
    }

    /**
     * Rings for the owner, who waits for what this side has just changed. If it is in this process, what waits is executed at
     * once: its thread may be asleep for another reason, or be this one.
     */
    void wake() {
        Memory.fullFence();
        doorbell.ring();
        if (neighbour != null) {
            neighbour.resume();
        }
    }

    /** Becomes a user unless the last one has gone. */
    boolean tryRetain() {
        int count = users.get();
        while (count > 0) {
            if (users.compareAndSet(count, count + 1)) {
                return true;
            }
            count = users.get();
        }
        return false;
    }

    /** Gives up one use. */
    void release() {
        if (users.decrementAndGet() > 0) {
            return;
        }
        doorbell.event().release();
        if (receiveDoorbell != doorbell && !receivesShareQueue) {
            receiveDoorbell.event().release();
        }
        if (shared != null) {
            process.release(shared);
        }
        half.release();
        local.release(process);
    }
}
