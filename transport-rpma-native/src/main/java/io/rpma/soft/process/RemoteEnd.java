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

import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.posix.Memory;
import io.rpma.soft.control.EndDescription;
import io.rpma.soft.shared.Doorbell;
import io.rpma.soft.shared.EventPipe;
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.SharedReceives;
import io.rpma.soft.shared.UseCount;
import io.rpma.software.Patience;

/**
 * The view of the other end of a connection: the parts of its memory that this end accesses. It is reference counted: a thread
 * that waits for an operation of the other end, or wakes it, keeps the memory mapped meanwhile.
 */
public final class RemoteEnd {
    private final RemoteProcess process;
    private final long half;
    private final long use;
    private final HalfMemory tombstone;
    private final int domain;
    private final int receiveCapacity;
    private final int ringCapacity;
    private final SharedReceives shared;
    private final int sharedIndex;
    private final Doorbell doorbell;
    private final Doorbell receiveDoorbell;
    private final boolean receivesShareQueue;
    private final Runnable resumeNeighbour;
    private final UseCount users = new UseCount();

    /**
     * Creates the view. It takes ownership of all arguments except the process, to which it adds a user.
     *
     * @param half the address of its half, to which this end is attached
     * @param shared the shared receive queue that it receives from, or {@code null}
     * @param doorbell the doorbell of its completion queue, {@code null} if the other process sends the descriptor later
     * @param receiveDoorbell the doorbell of its own receive completion queue, or {@code null}
     * @param resumeNeighbour continues the work requests of the other end if it is in this process, otherwise {@code null}
     */
    public RemoteEnd(RemoteProcesses all, RemoteProcess process, long half, EndDescription end, SharedReceives shared,
            Doorbell doorbell, Doorbell receiveDoorbell, Runnable resumeNeighbour) {
        this(all, process, half, null, end, shared, doorbell, receiveDoorbell, resumeNeighbour);
    }

    private RemoteEnd(RemoteProcesses all, RemoteProcess process, long half, HalfMemory tombstone, EndDescription end,
            SharedReceives shared, Doorbell doorbell, Doorbell receiveDoorbell, Runnable resumeNeighbour) {
        this.resumeNeighbour = resumeNeighbour;
        this.process = process;
        this.half = half;
        this.tombstone = tombstone;
        this.use = end.use();
        this.domain = end.domain();
        this.receiveCapacity = end.receiveCapacity();
        this.ringCapacity = end.ringCapacity();
        this.shared = shared;
        this.sharedIndex = end.queueIndex();
        this.receivesShareQueue = shared != null && end.completion() == EndDescription.QUEUE;
        this.doorbell = doorbell != null ? doorbell : new RemoteDoorbell(half + Half.ARMED);
        this.receiveDoorbell = receivesShareQueue ? shared.doorbell()
            : receiveDoorbell != null ? receiveDoorbell : this.doorbell;
        all.retain(process);
    }

    /** Creates the view of an end that was closed before this end could attach to it: it is in the error state. */
    public static RemoteEnd closed(RemoteProcesses all, RemoteProcess process, EndDescription end) throws RpmaException {
        HalfMemory tombstone = all.self().newHalf((int) Half.size(1, 1));
        EventPipe event;
        try {
            event = EventPipe.create();
        } catch (RpmaException e) {
            tombstone.release();
            throw e;
        }
        Memory.putIntVolatile(tombstone.address() + Half.STATE, Half.ERROR);
        return new RemoteEnd(all, process, tombstone.address(), tombstone, end, null,
            new Doorbell(tombstone.address() + Half.ARMED, event), null, null);
    }

    public RemoteProcess process() {
        return process;
    }

    /** Returns the address of its half. */
    public long base() {
        return half;
    }

    /** Returns the address of its ring of completions. */
    public long ring() {
        return half + Half.ring(receiveCapacity);
    }

    public int domain() {
        return domain;
    }

    public int receiveCapacity() {
        return receiveCapacity;
    }

    public int ringCapacity() {
        return ringCapacity;
    }

    public SharedReceives shared() {
        return shared;
    }

    public int sharedIndex() {
        return sharedIndex;
    }

    /** Returns whether the owner finds completions by the ready bits of its shared receive queue. */
    public boolean receivesShareQueue() {
        return receivesShareQueue;
    }

    /** Sets the socket on which the descriptor of its completion queue arrives if that is sent later. */
    public void receiveDoorbellFrom(ControlSocket control) {
        if (doorbell instanceof RemoteDoorbell deferred) {
            deferred.receiveFrom(control);
        }
    }

    /**
     * Takes over the descriptor of its completion queue, which has arrived with the connection's events.
     *
     * @return whether it was expected; otherwise the caller still owns it
     */
    public boolean doorbellArrived(EventPipe event) {
        if (tombstone != null) {
            event.release();
            return true;
        }
        return doorbell instanceof RemoteDoorbell deferred && deferred.arrived(event);
    }

    /** Returns the doorbell of its completion queue. */
    public Doorbell doorbell() {
        return doorbell;
    }

    /** Returns the doorbell of its completion queue for receives. */
    public Doorbell receiveDoorbell() {
        return receiveDoorbell;
    }

    /**
     * Wakes the other end, whose work requests wait for a change that this side has just made. If the other end is in this
     * process, this thread executes the work requests that wait at once: the other end's thread may be blocked elsewhere, or be
     * this one. The fence orders the change before the load of the armed word in {@link Doorbell#ring()} (row M12 of
     * docs/memory-order.md).
     */
    public void wake() {
        Memory.fullFence();
        doorbell.ring();
        if (resumeNeighbour != null) {
            resumeNeighbour.run();
        }
    }

    /**
     * Returns the operation that this end is executing in memory of this process; see {@code LocalEnd.peerOperation()}.
     *
     * @param key the key of the region that has been marked as invalid
     * @param usages the usages that it is registered for
     * @param any whether an operation in any memory is meant
     * @return the operation, which uses this view, or {@code null} if there is none
     */
    public GracePeriod.Operation operation(int key, int usages, boolean any) {
        if (!tryRetain()) {
            return null;
        }
        long word = half + Half.BUSY;
        int mark = Memory.getIntVolatile(word);
        boolean concerned = (mark & 1) != 0;
        if (concerned && !any) {
            // Loaded after BUSY, so the value belongs to this operation or to a later one, which observes the invalid region.
            int region = Memory.getIntVolatile(half + Half.BUSY_REGION);
            concerned = region == key || region == Half.POSTED_RECEIVES && (usages & MemoryUsage.RECV.bit()) != 0;
        }
        if (concerned && process.isSelf()) {
            Patience patience = new Patience();
            while (Memory.getIntVolatile(word) == mark) {
                patience.pause();
            }
            concerned = false;
        }
        if (!concerned) {
            release();
            return null;
        }
        return new GracePeriod.Operation(this, mark);
    }

    /** Adds a user unless the last one has released the view. Returns whether it did. */
    public boolean tryRetain() {
        return users.tryRetain();
    }

    /** Removes a user; the last one detaches from the memory. */
    public void release() {
        if (!users.release()) {
            return;
        }
        doorbell.release();
        if (receiveDoorbell != doorbell && !receivesShareQueue) {
            receiveDoorbell.release();
        }
        if (shared != null) {
            process.release(shared);
        }
        if (tombstone != null) {
            tombstone.release();
        } else {
            // The last access to the half: from here on the owner may reuse the memory for another connection.
            HalfMemory.detach(half, use);
        }
        process.release();
    }
}
