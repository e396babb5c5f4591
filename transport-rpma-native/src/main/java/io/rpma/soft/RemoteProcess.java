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

import io.rpma.posix.Posix;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * What this process has mapped of another one, shared by all its connections to it: the table of memory regions, the segments
 * that regions lie in, and shared receive queues. Counted by those connections. For connections within this process it stands
 * for this process itself, and maps nothing.
 */
final class RemoteProcess {
    /** Returned where a region lies in a segment that has not arrived yet. */
    static final RemoteRegion NOT_ARRIVED = new RemoteRegion(RegionTable.NO_REGION,
        new RegionTable.Entry(-1, 0, 0, 0, RegionTable.FOREIGN, 0, 0), 0, 0);

    private static final RemoteRegion[] NO_REGIONS = new RemoteRegion[0];

    private final Identity identity;
    private final boolean self;
    private final SharedMemory table;
    private final long tableAddress;
    private final Map<Integer, SharedMemory> segments = new HashMap<>();
    private final Map<Integer, SharedReceives> receiveQueues = new HashMap<>();
    // Grows by replacement; the elements are immutable and found again by their key, so that no fence is needed to read one.
    private volatile RemoteRegion[] regions = NO_REGIONS;
    private int users;

    /**
     * Which process it is.
     *
     * @param pid as the kernel tells it
     * @param high of the random identity
     * @param low of the random identity
     */
    record Identity(int pid, long high, long low) {
    }

    /**
     * Creates the view of a process.
     *
     * @param table its region table, which this object takes over
     * @param self whether it is this process
     */
    RemoteProcess(Identity identity, SharedMemory table, boolean self) {
        this.identity = identity;
        this.table = table;
        this.tableAddress = table.address();
        this.self = self;
    }

    Identity identity() {
        return identity;
    }

    boolean isSelf() {
        return self;
    }

    /** Counts one more connection; under the lock of the registry that it is found in. */
    void addUser() {
        users++;
    }

    /** Gives up one connection; under the lock of the registry. Returns whether it was the last one: then close it. */
    boolean removeUser() {
        return --users == 0;
    }

    /** Unmaps everything. */
    synchronized void close() {
        segments.values().forEach(SharedMemory::release);
        segments.clear();
        regions = NO_REGIONS;
        table.release();
    }

    /** Returns the region of a key as it was found before, or {@code null}. For the data path: allocates and locks nothing. */
    RemoteRegion known(int key) {
        RemoteRegion[] all = regions;
        int index = key & RegionTable.CAPACITY - 1;
        if (index >= all.length) {
            return null;
        }
        RemoteRegion region = all[index];
        return region != null && region.key() == key && region.isLive() ? region : null;
    }

    /**
     * Looks a region up in the other process's table.
     *
     * @return the region, {@code null} if there is none of this key or it makes no sense, or {@link #NOT_ARRIVED}
     */
    synchronized RemoteRegion find(int key) {
        RegionTable.Entry entry = RegionTable.read(tableAddress, key);
        if (entry == null) {
            return null;
        }
        if (entry.length() <= 0 || entry.address() <= 0 || entry.address() > Long.MAX_VALUE - entry.length()) {
            SoftLog.violation("process " + identity.pid() + " has a memory region of " + entry.length() + " bytes at 0x"
                + Long.toHexString(entry.address()));
            return null;
        }
        long local = 0;
        if (self) {
            local = entry.address();
        } else if (entry.segment() != RegionTable.FOREIGN) {
            SharedMemory segment = segments.get(entry.segment());
            if (segment == null) {
                return NOT_ARRIVED;
            }
            if (entry.segmentOffset() < 0 || entry.length() > segment.size()
                || entry.segmentOffset() > segment.size() - entry.length()) {
                SoftLog.violation("process " + identity.pid() + " has a memory region of " + entry.length() + " bytes at "
                    + entry.segmentOffset() + " in a segment of " + segment.size());
                return null;
            }
            local = segment.address() + entry.segmentOffset();
        }
        RemoteRegion region = new RemoteRegion(key, entry, local, RegionTable.entryAddress(tableAddress, key));
        int index = key & RegionTable.CAPACITY - 1;
        RemoteRegion[] all = regions;
        if (index >= all.length) {
            all = Arrays.copyOf(all, Math.max(16, Integer.highestOneBit(index) << 1));
        }
        all[index] = region;
        regions = all;
        return region;
    }

    /** Takes a segment of the other process; the descriptor is used up. Returns whether all is well. */
    synchronized boolean addSegment(int id, long size, int fd) {
        if (self || segments.containsKey(id)) {
            Posix.close(fd);
            return true;
        }
        SharedMemory memory = SharedMemory.open(fd, size, true);
        if (memory == null) {
            return false;
        }
        segments.put(id, memory);
        return true;
    }

    /**
     * Forgets a segment that the other process has given back. An honest process has waited for the operations in it; since
     * this cannot be relied on, the caller waits for those of this process before it releases the memory.
     *
     * @return the memory to release, or {@code null} if there was no such segment
     */
    synchronized SharedMemory removeSegment(int id) {
        SharedMemory memory = segments.remove(id);
        if (memory != null) {
            RemoteRegion[] all = regions;
            for (int i = 0; i < all.length; i++) {
                RemoteRegion region = all[i];
                if (region != null && region.local() >= memory.address()
                    && region.local() - memory.address() < memory.size()) {
                    all[i] = null;
                }
            }
            Memory.fullFence();
        }
        return memory;
    }

    /** Returns the number of segments mapped. */
    synchronized int segmentCount() {
        return segments.size();
    }

    /**
     * Takes a shared receive queue of the other process; the descriptors are used up.
     *
     * @param eventFd its doorbell, -1 if it has no completion queue
     * @return the view of it, to be released by the caller, or {@code null} if it is not what it has to be
     */
    synchronized SharedReceives addReceiveQueue(int id, int capacity, long size, int fd, int eventFd) {
        SharedReceives known = receiveQueues.get(id);
        if (known != null) {
            Posix.close(fd);
            if (eventFd >= 0) {
                Posix.close(eventFd);
            }
            known.addUser();
            return known;
        }
        EventFd event = null;
        if (eventFd >= 0) {
            event = EventFd.open(eventFd);
            if (event == null) {
                Posix.close(fd);
                return null;
            }
        }
        SharedMemory memory = SharedMemory.open(fd, size, true);
        if (memory == null) {
            if (event != null) {
                event.release();
            }
            return null;
        }
        SharedReceives queue = new SharedReceives(id, memory, capacity, event);
        queue.addUser();
        receiveQueues.put(id, queue);
        return queue;
    }

    /** Returns the view of a shared receive queue of this process itself, to be released by the caller. */
    synchronized SharedReceives localReceiveQueue(SoftSharedReceiveQueue queue) {
        SharedReceives view = receiveQueues.get(queue.id());
        if (view == null) {
            view = queue.view();
            receiveQueues.put(queue.id(), view);
        }
        view.addUser();
        return view;
    }

    /** Gives up one use of a shared receive queue. */
    synchronized void release(SharedReceives queue) {
        if (queue.removeUser()) {
            receiveQueues.remove(queue.id(), queue);
            queue.close();
        }
    }

    /** Copies to memory that is not mapped here; returns 0 or {@code -errno}. */
    int copyTo(long remote, long local, long length) {
        long done = 0;
        while (done < length) {
            long count = Libc.processWrite(identity.pid(), remote + done, local + done, length - done);
            if (count <= 0) {
                return count == 0 ? -Libc.EFAULT : (int) count;
            }
            done += count;
        }
        return 0;
    }

    /** Copies from memory that is not mapped here; returns 0 or {@code -errno}. */
    int copyFrom(long remote, long local, long length) {
        long done = 0;
        while (done < length) {
            long count = Libc.processRead(identity.pid(), remote + done, local + done, length - done);
            if (count <= 0) {
                return count == 0 ? -Libc.EFAULT : (int) count;
            }
            done += count;
        }
        return 0;
    }
}
