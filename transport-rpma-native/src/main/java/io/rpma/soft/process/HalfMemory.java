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

import io.rpma.posix.Memory;
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.UseCount;

/**
 * The memory of one {@link Half}: a slot of a {@link HalfPool}, used by one connection after another. It is reference counted:
 * the slot is returned to the pool when the last user releases it.
 *
 * <p>The other end writes to it for as long as it has the connection open, which may be longer than this end has. The word
 * {@link Half#USE} therefore holds the generation of the use and its state: not attached yet, attached, or released by the other
 * end. A slot is reused only after the other end has released it or has been prevented from attaching. A description of an
 * earlier use that arrives late does not match the generation.
 */
public final class HalfMemory {
    // The lower bits of the word of use; the generation is above them.
    private static final int OFFERED = 0;
    private static final int ATTACHED = 1;
    private static final int RELEASED = 2;
    private static final int STATES = 4;

    private final RemoteProcess owner;
    private final HalfPool pool;
    private final int slab;
    private final long offset;
    private final long address;
    private final int size;
    private final UseCount users = new UseCount();
    private long use;

    /**
     * Creates a slot in memory that is zero.
     *
     * @param owner the view of the process at the other end
     * @param slab the number of the file, which this process sends to the other
     * @param offset the offset of the slot in the file
     */
    HalfMemory(RemoteProcess owner, HalfPool pool, int slab, long offset, long address, int size) {
        this.owner = owner;
        this.pool = pool;
        this.slab = slab;
        this.offset = offset;
        this.address = address;
        this.size = size;
    }

    /**
     * Makes the slot ready for a connection. The release store of {@link Half#USE} orders the zeroing before it: an end that
     * attaches by a compare-and-set on that word finds zeros.
     */
    void begin() {
        if (use != 0) {
            Memory.zero(address, size);
        }
        use += STATES;
        users.restart();
        Memory.putLongRelease(address + Half.USE, use | OFFERED);
    }

    /** Returns whether the other end has released the slot, so that it can be reused. */
    boolean isReleased() {
        return Memory.getLongAcquire(address + Half.USE) == (use | RELEASED);
    }

    /** Returns the view of the process at the other end. */
    public RemoteProcess owner() {
        return owner;
    }

    public int slab() {
        return slab;
    }

    public long offset() {
        return offset;
    }

    /** Returns the generation of this use, for the other end. */
    public long use() {
        return use;
    }

    public long address() {
        return address;
    }

    int size() {
        return size;
    }

    /** Adds a user. Only a user may call it. */
    public HalfMemory retain() {
        users.retain();
        return this;
    }

    /** Adds a user unless the last one has released the slot. Returns whether it did. */
    public boolean tryRetain() {
        return users.tryRetain();
    }

    /** Removes a user; the last one returns the slot to the pool. */
    public void release() {
        if (users.release()) {
            // If the other end has not attached yet, it is prevented from doing so.
            Memory.casLong(address + Half.USE, use | OFFERED, use | RELEASED);
            pool.giveBack(this);
            owner.release();
        }
    }

    /**
     * Attaches the other end to the memory at this address.
     *
     * @param use the generation in the description that it received
     * @return whether the owner still has the connection of that generation open
     */
    public static boolean attach(long address, long use) {
        return use > 0 && (use & STATES - 1) == 0 && Memory.casLong(address + Half.USE, use | OFFERED, use | ATTACHED);
    }

    /** Undoes {@link #attach}: the caller does not write to the slot any more. */
    public static void detach(long address, long use) {
        Memory.casLong(address + Half.USE, use | ATTACHED, use | RELEASED);
    }
}
