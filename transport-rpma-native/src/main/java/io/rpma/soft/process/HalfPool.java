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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import io.rpma.soft.shared.SharedMemory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The halves of this process's ends of the connections to one other process, cut from few files that no third process maps: a
 * connection costs no file, no mapping and no fresh page. The memory stays until the view of the other process is closed. Its
 * size is bounded by the connections that this process has to the other one, and by {@link #MOST_HELD}.
 */
final class HalfPool {
    private static final int FIRST_SLOTS = 8;
    private static final long MAX_SLAB = 1 << 20;
    /** Slots that are checked for release by the other end when none is free. */
    private static final int LOOKS = 16;
    /**
     * The number of slots that the other end may hold after this end has released them. A correct process holds one for each of
     * its connections that it has not closed yet, and each of these costs it several descriptors.
     */
    static final int MOST_HELD = 1 << 15;

    private final RemoteProcess owner;
    private final Map<Integer, Slots> slotsBySize = new HashMap<>();
    private final List<SharedMemory> slabs = new ArrayList<>();

    /** Slots of one size. */
    private static final class Slots {
        private final ArrayDeque<HalfMemory> free = new ArrayDeque<>();
        /** Slots released by this end, but not yet by the other. */
        private final ArrayDeque<HalfMemory> held = new ArrayDeque<>();
        private int count;

        /** Checks whether the other end has released slots that are held, so that they are free. */
        void look(int most) {
            for (int i = Math.min(most, held.size()); i > 0; i--) {
                HalfMemory half = held.remove();
                (half.isReleased() ? free : held).add(half);
            }
        }
    }

    HalfPool(RemoteProcess owner) {
        this.owner = owner;
    }

    /** Returns a slot that is ready for a connection. */
    synchronized HalfMemory take(int size) throws RpmaException {
        Slots slots = slotsBySize.computeIfAbsent(size, key -> new Slots());
        if (slots.free.isEmpty()) {
            slots.look(LOOKS);
        }
        if (slots.free.isEmpty() && held() >= MOST_HELD) {
            slotsBySize.values().forEach(some -> some.look(MOST_HELD));
        }
        if (slots.free.isEmpty()) {
            checkHeld();
            addSlab(slots, size);
        }
        // The slot used last is the most likely one to be in the caches of both processors.
        HalfMemory half = slots.free.removeLast();
        half.begin();
        return half;
    }

    private int held() {
        int held = 0;
        for (Slots slots : slotsBySize.values()) {
            held += slots.held.size();
        }
        return held;
    }

    /** Throws if the other end holds so many slots that no further memory may be created for it. */
    private void checkHeld() throws RpmaException {
        if (held() >= MOST_HELD) {
            throw SoftLog.failure(RpmaError.PROVIDER, Posix.EAGAIN, User.process(owner.pid()) + " has not closed its ends of "
                + MOST_HELD + " connections that are closed on this side; no further connection to it is possible until it closes"
                + " them or exits", null);
        }
    }

    /** Creates a file as large as all earlier ones together, so that there are few files. */
    private void addSlab(Slots slots, int size) throws RpmaException {
        long bytes = Math.max(size, Math.min(MAX_SLAB, (long) size * Math.max(FIRST_SLOTS, slots.count)));
        SharedMemory memory = SharedMemory.create("rpma-queue-pairs", bytes);
        int id = slabs.size();
        try {
            owner.announceSlab(id, memory);
        } catch (RpmaException e) {
            memory.release();
            throw e;
        }
        memory.closeFile();
        slabs.add(memory);
        int count = (int) (memory.size() / size);
        for (int i = count - 1; i >= 0; i--) {
            long offset = (long) i * size;
            slots.free.add(new HalfMemory(owner, this, id, offset, memory.address() + offset, size));
        }
        slots.count += count;
    }

    /** Returns a slot that this end no longer uses. */
    synchronized void giveBack(HalfMemory half) {
        Slots slots = slotsBySize.get(half.size());
        (half.isReleased() ? slots.free : slots.held).add(half);
    }

    /** Returns the address of a part of a slab, 0 if it does not lie in one. */
    synchronized long find(int slab, long offset, long size) {
        if (slab < 0 || slab >= slabs.size()) {
            return 0;
        }
        SharedMemory memory = slabs.get(slab);
        return offset >= 0 && size <= memory.size() && offset <= memory.size() - size ? memory.address() + offset : 0;
    }

    /** Unmaps everything. */
    synchronized void close() {
        slabs.forEach(SharedMemory::release);
        slabs.clear();
        slotsBySize.clear();
    }
}
