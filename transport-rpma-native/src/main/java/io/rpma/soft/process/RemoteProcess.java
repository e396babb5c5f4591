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
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.EndDescription;
import io.rpma.soft.control.Link;
import io.rpma.soft.host.Libc;
import io.rpma.soft.host.Shortage;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import io.rpma.soft.shared.Range;
import io.rpma.soft.shared.RemoteRegion;
import io.rpma.soft.shared.SharedMemory;
import io.rpma.soft.shared.SharedReceives;
import java.util.List;

/**
 * This process's view of another process, shared by all connections that one of the two has made to the other: its identity, its
 * life cycle, and the {@link Link} on which the two send each other the memory that their connections share. For connections
 * within this process it represents this process itself, and maps nothing.
 *
 * <p>The lock of this object guards the link and everything that is sent and received on it: the record of what the other process
 * has been sent ({@link Announcements}), the memory that has been received and mapped ({@link ReceivedMemory}), and the views of
 * shared receive queues ({@link ReceiveQueueViews}). These have no locks of their own; their methods are called by the methods of
 * this class, which any thread may call. Regions that were found before are looked up without the lock ({@link RegionCache}).
 *
 * <p>It is reference counted by the halves of both ends, and kept for a short while after the last connection, because the next
 * connection is then cheap.
 */
public final class RemoteProcess {
    private final RemoteProcesses all;
    private final int pid;
    private final Object mark;
    private final long number;
    private final Link link;
    private final boolean maker;
    private final HalfPool halves = new HalfPool(this);
    private final RegionCache regions = new RegionCache();
    private final ReceiveQueueViews receiveQueues = new ReceiveQueueViews();
    private final ReceivedMemory received;
    private final RegionLookup lookup;
    private final Announcements announcements;
    private Identity identity;
    private boolean stopReported;

    // Guarded by the lock of the registry, RemoteProcesses.remotes.
    private int users;
    private long idleSince;

    /**
     * The identity of a process.
     *
     * @param pid the process number that the kernel reports
     * @param high the upper half of the random identity
     * @param low the lower half of the random identity
     */
    public record Identity(int pid, long high, long low) {
        // Explicit methods: those that a record generates are slow until they have been compiled.
        @Override
        public boolean equals(Object other) {
            return other instanceof Identity that && that.pid == pid && that.high == high && that.low == low;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(high ^ low) + pid;
        }
    }

    private RemoteProcess(RemoteProcesses all, int pid, Object mark, long number, Link link, boolean maker) {
        this.all = all;
        this.pid = pid;
        this.mark = mark;
        this.number = number;
        this.link = link;
        this.maker = maker;
        received = link == null ? ReceivedMemory.ofSelf(pid, all.regions().memory(), receiveQueues, regions)
            : ReceivedMemory.on(link, pid, all.mappings().account(origin()), receiveQueues, regions);
        lookup = new RegionLookup(pid, link == null, received, regions);
        announcements = new Announcements(link, pid);
    }

    /** Creates the view of this process itself. */
    static RemoteProcess self(RemoteProcesses all) {
        RemoteProcess self = new RemoteProcess(all, all.identity().pid(), null, 0, null, false);
        self.identity = all.identity();
        return self;
    }

    /**
     * Creates the view of a process by a link to it.
     *
     * @param mark distinguishes processes that have no number in this PID namespace, {@code null} if nothing does
     * @param number the number of the link, which the process that creates the link assigns
     * @param maker whether this process has created the link
     */
    static RemoteProcess linked(RemoteProcesses all, int pid, Object mark, long number, Link link, boolean maker)
            throws RpmaException {
        RemoteProcess other = new RemoteProcess(all, pid, mark, number, link, maker);
        boolean done = false;
        try {
            other.announcements.sendTable(all.regions().memory());
            done = true;
            return other;
        } finally {
            if (!done) {
                link.close();
            }
        }
    }

    public int pid() {
        return pid;
    }

    /**
     * Returns the number to which the limits of one process apply: its process number, or, if it is in another PID namespace and
     * has none here, a negative number computed from its mark.
     */
    public int origin() {
        return pid > 0 || mark == null ? pid : mark.hashCode() | Integer.MIN_VALUE;
    }

    /** Returns whether it is the process with a number, or with a mark if it has no number here. */
    boolean is(int otherPid, Object otherMark) {
        return pid == otherPid && (pid > 0 || otherMark != null && otherMark.equals(mark));
    }

    /** Returns whether it is this process. */
    synchronized boolean is(Identity other) {
        return other.equals(identity);
    }

    /** Returns the number of the link, 0 for this process itself. */
    public long number() {
        return number;
    }

    public boolean isSelf() {
        return link == null;
    }

    /** Returns whether this process has created the link: then it decides when the link ends. */
    boolean isMaker() {
        return maker;
    }

    // ---- life cycle: guarded by the lock of the registry, except for release()

    /** Adds a user. */
    void addUser() {
        users++;
    }

    /** Removes a user. Returns whether it was the last one. */
    boolean removeUser(long now) {
        idleSince = now;
        return --users == 0;
    }

    boolean isIdle() {
        return users == 0;
    }

    long idleSince() {
        return idleSince;
    }

    /** Removes a user, under the lock of the registry. */
    public void release() {
        all.release(this);
    }

    /** Returns whether the link can no longer be used for another connection. */
    synchronized boolean isGone() {
        return link != null && (!link.isUsable() || link.hasHungUp());
    }

    /**
     * Returns whether the other process can no longer access memory that it has received from this one: it has died, or has
     * closed its end of the link, which it does when it has no connection left. The end of a control socket does not imply that.
     */
    public synchronized boolean hasEnded() {
        return link != null && (link.isClosed() || link.hasHungUp());
    }

    /** Logs, once, that the other process has stopped in the middle of an operation. */
    public void reportStopped() {
        synchronized (this) {
            if (stopReported) {
                return;
            }
            stopReported = true;
        }
        SoftLog.violation(User.process(pid) + " has stopped in the middle of an operation in memory of this process; the memory"
            + " that it may still write to is not reused until that process resumes or exits");
    }

    /** Returns whether the other process has not confirmed yet that it has received its end of the link. */
    synchronized boolean isUnconfirmed() {
        return link != null && link.otherEnd() >= 0;
    }

    /** Unmaps everything. */
    synchronized void close() {
        if (link.isClosed()) {
            return;
        }
        received.close();
        halves.close();
        link.close();
    }

    // ---- sending

    /**
     * Attaches the link's other end to a message that connects, unless that end is known to have arrived.
     *
     * @return whether it was attached: then the caller calls {@link #linkSent()} when the message has been sent or discarded
     */
    public synchronized boolean attachLink(ControlMessage message) {
        if (link == null || link.otherEnd() < 0) {
            return false;
        }
        message.attach(ControlMessage.LINK, 0, 0, link.otherEnd());
        link.hold();
        return true;
    }

    /** Allows the other end that was attached to a message to be closed. */
    public synchronized void linkSent() {
        link.release();
    }

    /**
     * Records that the other process has accepted a connection, and therefore has the link.
     *
     * @return whether it has the same identity as before
     */
    public boolean confirm(Identity other) {
        boolean first;
        boolean same;
        synchronized (this) {
            first = identity == null;
            if (first) {
                identity = other;
                link.confirm();
            }
            same = identity.equals(other);
        }
        if (first && maker) {
            all.confirmed(this, other);
        }
        return same;
    }

    /** Sends a file that contains halves of connections. */
    void announceSlab(int id, SharedMemory memory) throws RpmaException {
        if (link != null) {
            synchronized (this) {
                announcements.sendSlab(id, memory);
            }
        }
    }

    /**
     * Sends the ranges that the other process has not been sent. {@link #sendUnsent()} sends those later for which the link has
     * no room now.
     *
     * @return whether it is time to ask the other process to read its link
     */
    synchronized boolean announce(Iterable<Range> all) throws RpmaException {
        return link != null && announcements.announce(all);
    }

    /**
     * Sends the messages for which the link had no room, as far as it has room now.
     *
     * @return whether it is time to ask the other process to read its link
     */
    synchronized boolean sendUnsent() throws RpmaException {
        return announcements.sendUnsent();
    }

    /** Throws if the other process has not been sent all announced ranges. */
    public synchronized void checkHasAll() throws RpmaException {
        announcements.checkHasAll();
    }

    /** Sends a shared receive queue, unless the other process has been sent it. */
    public synchronized void announce(LocalReceiveQueue queue) throws RpmaException {
        if (link != null) {
            announcements.announce(queue);
        }
    }

    /**
     * Withdraws a range: it is not sent any more.
     *
     * @return whether the other process had been sent it, and is therefore notified
     */
    synchronized boolean withdraw(Range range) {
        return announcements.withdraw(range);
    }

    /** Withdraws a shared receive queue. */
    synchronized void withdraw(LocalReceiveQueue queue) {
        announcements.withdraw(queue);
    }

    // ---- receiving

    /**
     * Reads the messages on the link. A message for which this process has too few descriptors or too little memory left stays
     * on the link, and is read again when its content is needed.
     *
     * @return 0, or if a message stayed, an {@code errno} for {@link Shortage#failure}
     */
    synchronized int read() {
        return received.read();
    }

    /**
     * Reads the link if memory has not been received yet that an end of a connection of the other process needs.
     *
     * @throws RpmaException if this process has too few descriptors left to receive it, with the errno {@code EMFILE}, or too
     *     little memory to map it
     */
    public synchronized void fetch(EndDescription end) throws RpmaException {
        received.fetch(end);
    }

    /**
     * Reads the messages on the link, and unmaps the memory that the other process has withdrawn. A correct process has waited
     * for the operations in it; as this cannot be relied on, this method waits for those of this process. It must not be called
     * by a thread that is executing a work request.
     */
    void readAndUnmap() {
        read();
        if (received.hasWithdrawn()) {
            List<SharedMemory> memories;
            synchronized (this) {
                memories = received.takeWithdrawn();
            }
            all.awaitOwn();
            memories.forEach(SharedMemory::release);
        }
    }

    // ---- regions

    /** Returns the regions that were found before. Used without the lock. */
    public RegionCache regions() {
        return regions;
    }

    /**
     * Looks a region up in the other process's table.
     *
     * @return the region, or {@code null} if there is none with this key or its entry is not valid; {@link RemoteRegion#NO_ROOM}
     *     or {@link RemoteRegion#NOT_SENT} if its memory is missing
     */
    public synchronized RemoteRegion find(int key) {
        return lookup.find(key);
    }

    /** Returns the number of mapped ranges. */
    synchronized int rangeCount() {
        return received.rangeCount();
    }

    // ---- halves

    /**
     * Returns memory for a half of this process. The half is a user of this view.
     *
     * @throws RpmaException {@link RpmaError#NO_MEMORY} if there is none, {@link RpmaError#PROVIDER} if the other process does
     *     not read its link
     */
    public HalfMemory newHalf(int size) throws RpmaException {
        all.retain(this);
        boolean done = false;
        try {
            HalfMemory half = halves.take(size);
            done = true;
            return half;
        } finally {
            if (!done) {
                release();
            }
        }
    }

    /** Returns the address of a half of the other process, 0 if it does not lie in memory that has been received. */
    public long half(int slab, long offset, long size) {
        if (isSelf()) {
            return halves.find(slab, offset, size);
        }
        synchronized (this) {
            return received.half(slab, offset, size);
        }
    }

    // ---- shared receive queues

    /** Returns the view of a shared receive queue, which the caller releases; {@code null} if it has not been received. */
    public synchronized SharedReceives receiveQueue(int id, int capacity, boolean hasCompletions) {
        if (!receiveQueues.has(id)) {
            received.read();
        }
        return receiveQueues.view(id, capacity, hasCompletions);
    }

    /**
     * Returns the view of a shared receive queue of this process itself, which the caller releases; {@code null} if it has been
     * closed.
     */
    public synchronized SharedReceives localReceiveQueue(LocalReceiveQueue queue) {
        return receiveQueues.view(queue);
    }

    /** Removes a user of a shared receive queue. */
    public synchronized void release(SharedReceives queue) {
        receiveQueues.release(queue);
    }

    // ---- memory that this process cannot map

    /** Copies to memory that is not mapped here; returns 0 or {@code -errno}. */
    public int copyTo(long remote, long source, long length) {
        long done = 0;
        while (done < length) {
            long count = Libc.processWrite(pid, remote + done, source + done, length - done);
            if (count <= 0) {
                return count == 0 ? -Posix.EFAULT : (int) count;
            }
            done += count;
        }
        return 0;
    }

    /** Copies from memory that is not mapped here; returns 0 or {@code -errno}. */
    public int copyFrom(long remote, long target, long length) {
        long done = 0;
        while (done < length) {
            long count = Libc.processRead(pid, remote + done, target + done, length - done);
            if (count <= 0) {
                return count == 0 ? -Posix.EFAULT : (int) count;
            }
            done += count;
        }
        return 0;
    }
}
