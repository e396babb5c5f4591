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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * This process's view of another process, shared by all connections that one of the two has made to the other. It holds the
 * mapped memory of the other process (the table of memory regions, the ranges that regions lie in, shared receive queues, halves
 * of connections), a record of what the other process has been sent of this one's memory, and the {@link Link} that carries both.
 * For connections within this process it represents this process itself, and maps nothing.
 *
 * <p>It is reference counted by the halves of both ends, and kept for a short while after the last connection, because the next
 * connection is then cheap.
 */
final class RemoteProcess {
    /** Messages on the link after which the other process is asked to read them. */
    private static final int UNREAD = 32;
    /** Ranges in one message: the other process needs that many free descriptors to receive it. */
    private static final int RANGES_IN_MESSAGE = 16;
    private static final int GONE_BYTES = 8;
    /** Messages read by one call, far more than a link has room for: a process that keeps sending cannot hold up this one. */
    private static final int MOST_READ = 4_096;

    private static final RemoteRegion[] NO_REGIONS = new RemoteRegion[0];

    private final LocalProcess local;
    private final int pid;
    private final Object mark;
    private final long number;
    private final Link link;
    private final boolean maker;
    private final HalfPool halves = new HalfPool(this);
    private final MappingLimit.Account account;

    // Memory of the other process, received on the link.
    private final Map<Integer, SharedMemory> ranges = new HashMap<>();
    private final Map<Integer, SharedMemory> slabs = new HashMap<>();
    private final Map<Integer, QueueFiles> queueFiles = new HashMap<>();
    private final Map<Integer, SharedReceives> receiveQueues = new HashMap<>();
    // The shared receive queues that the other process has not withdrawn; this view holds one use of each.
    private final Set<Integer> offeredQueues = new HashSet<>();
    private final List<SharedMemory> withdrawn = new ArrayList<>();
    private SharedMemory table;
    private long tableAddress;
    private Identity identity;

    // Memory of this process that the other process has been sent.
    private final Set<Integer> sentRanges = new HashSet<>();
    private final Set<Integer> sentQueues = new HashSet<>();
    // Messages for which the link had no room, to be sent when the other process has read some.
    private final Map<Integer, Range> unsentRanges = new LinkedHashMap<>();
    private final Deque<Gone> unsentGone = new ArrayDeque<>();
    private int sent;
    private boolean broken;
    private boolean closed;
    private boolean stopReported;

    // Grows by replacement. The elements are immutable (final fields) and are checked by their key, so a reader needs no fence.
    private volatile RemoteRegion[] regions = NO_REGIONS;
    private volatile boolean hasWithdrawn;

    // Guarded by the lock of the registry, LocalProcess.remotes.
    private int users;
    private long idleSince;

    /**
     * The identity of a process.
     *
     * @param pid the process number that the kernel reports
     * @param high the upper half of the random identity
     * @param low the lower half of the random identity
     */
    record Identity(int pid, long high, long low) {
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

    /** Shared memory that this process withdraws. */
    private record Gone(int kind, int id) {
    }

    private record QueueFiles(SharedMemory posted, SharedMemory memory, EventPipe event) {
        void release() {
            posted.release();
            memory.release();
            if (event != null) {
                event.release();
            }
        }
    }

    private RemoteProcess(LocalProcess local, int pid, Object mark, long number, Link link, boolean maker) {
        this.local = local;
        this.pid = pid;
        this.mark = mark;
        this.number = number;
        this.link = link;
        this.maker = maker;
        this.account = link == null ? null : local.mappings().account(origin());
    }

    /** Creates the view of this process itself. */
    static RemoteProcess self(LocalProcess local) {
        RemoteProcess self = new RemoteProcess(local, local.identity().pid(), null, 0, null, false);
        self.identity = local.identity();
        self.table = local.regions().memory().retain();
        self.tableAddress = self.table.address();
        return self;
    }

    /**
     * Creates the view of a process by a link to it.
     *
     * @param mark distinguishes processes that have no number in this PID namespace, {@code null} if nothing does
     * @param number the number of the link, which the process that creates the link assigns
     * @param maker whether this process has created the link
     */
    static RemoteProcess linked(LocalProcess local, int pid, Object mark, long number, Link link, boolean maker)
            throws RpmaException {
        RemoteProcess other = new RemoteProcess(local, pid, mark, number, link, maker);
        boolean done = false;
        try {
            SharedMemory table = local.regions().memory();
            other.send(ControlMessage.of(ControlMessage.SHARED).attach(ControlMessage.TABLE, 0, table.size(), table.fd()));
            done = true;
            return other;
        } finally {
            if (!done) {
                link.close();
            }
        }
    }

    int pid() {
        return pid;
    }

    /**
     * Returns the number to which the limits of one process apply: its process number, or, if it is in another PID namespace and
     * has none here, a negative number computed from its mark.
     */
    int origin() {
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
    long number() {
        return number;
    }

    boolean isSelf() {
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
    void release() {
        local.release(this);
    }

    /** Returns whether the link can no longer be used for another connection. */
    synchronized boolean isGone() {
        return closed || broken || link != null && link.hasHungUp();
    }

    /**
     * Returns whether the other process can no longer access memory that it has received from this one: it has died, or has
     * closed its end of the link, which it does when it has no connection left. The end of a control socket does not imply that.
     */
    synchronized boolean hasEnded() {
        return link != null && (closed || link.hasHungUp());
    }

    /** Logs, once, that the other process has stopped in the middle of an operation. */
    void reportStopped() {
        synchronized (this) {
            if (stopReported) {
                return;
            }
            stopReported = true;
        }
        SoftLog.violation(User.process(pid) + " has stopped in the middle of an operation in memory of this process; what it may"
            + " still write to is not used for anything else before that process goes on or ends");
    }

    /** Returns whether the other process has not confirmed yet that it has received its end of the link. */
    synchronized boolean isUnconfirmed() {
        return link != null && link.otherEnd() >= 0;
    }

    /** Unmaps everything. */
    synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        ranges.values().forEach(SharedMemory::release);
        slabs.values().forEach(SharedMemory::release);
        withdrawn.forEach(SharedMemory::release);
        receiveQueues.values().forEach(SharedReceives::close);
        queueFiles.values().forEach(QueueFiles::release);
        regions = NO_REGIONS;
        if (table != null) {
            table.release();
        }
        halves.close();
        link.close();
    }

    // ---- sending

    /**
     * Attaches the link's other end to a message that connects, unless that end is known to have arrived.
     *
     * @return whether it was attached: then the caller calls {@link #linkSent()} when the message has been sent or discarded
     */
    synchronized boolean attachLink(ControlMessage message) {
        if (link == null || link.otherEnd() < 0) {
            return false;
        }
        message.attach(ControlMessage.LINK, 0, 0, link.otherEnd());
        link.hold();
        return true;
    }

    /** Allows the other end that was attached to a message to be closed. */
    synchronized void linkSent() {
        link.release();
    }

    /**
     * Records that the other process has accepted a connection, and therefore has the link.
     *
     * @return whether it has the same identity as before
     */
    synchronized boolean confirm(Identity other) {
        if (identity == null) {
            identity = other;
            link.confirm();
        }
        return identity.equals(other);
    }

    /**
     * Sends a message on the link.
     *
     * @return whether there was room for it; {@code true} also if the other process has ended, which its connections report
     */
    private boolean trySend(ControlMessage message) throws RpmaException {
        int result = closed || broken ? -Sockets.EPIPE : link.send(message);
        switch (-result) {
            case 0:
                return true;
            case Posix.EAGAIN, Sockets.ETOOMANYREFS, Sockets.ENOBUFS:
                return false;
            case Sockets.EPIPE, Sockets.ECONNRESET:
                broken = true;
                return true;
            default:
                broken = true;
                throw SoftLog.failure(RpmaError.PROVIDER, -result, User.process(pid) + " cannot be told of shared memory: "
                    + Posix.strerror(-result), null);
        }
    }

    /** Sends a message that a connection needs. Without room on the link that connection fails; others are not affected. */
    private void send(ControlMessage message) throws RpmaException {
        if (!trySend(message)) {
            throw full();
        }
    }

    private RpmaException full() {
        return SoftLog.failure(RpmaError.PROVIDER, Posix.EAGAIN, User.process(pid) + " does not read what it is sent of shared"
            + " memory, so that no further connection to it can be made: it is stopped, or does not ask for the events of its"
            + " connections", null);
    }

    /** Sends a file that contains halves of connections. */
    void announceSlab(int id, SharedMemory memory) throws RpmaException {
        if (link != null) {
            synchronized (this) {
                send(ControlMessage.of(ControlMessage.SHARED).attach(ControlMessage.SLAB, id, memory.size(), memory.fd()));
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
        if (link == null) {
            return false;
        }
        for (Range range : all) {
            if (!sentRanges.contains(range.id())) {
                unsentRanges.put(range.id(), range);
            }
        }
        return sendUnsent();
    }

    /**
     * Sends the messages for which the link had no room, as far as it has room now.
     *
     * @return whether it is time to ask the other process to read its link
     */
    synchronized boolean sendUnsent() throws RpmaException {
        boolean due = false;
        while (!unsentRanges.isEmpty()) {
            ControlMessage message = ControlMessage.of(ControlMessage.SHARED);
            List<Integer> batch = unsentRanges.keySet().stream().limit(RANGES_IN_MESSAGE).toList();
            for (int id : batch) {
                Range range = unsentRanges.get(id);
                message.attach(ControlMessage.RANGE, id, range.size(), range.fd());
            }
            if (!trySend(message)) {
                return true;
            }
            batch.forEach(unsentRanges::remove);
            sentRanges.addAll(batch);
            due |= ++sent % UNREAD == 0;
        }
        while (!unsentGone.isEmpty()) {
            ControlMessage message = ControlMessage.of(ControlMessage.GONE);
            int count = 0;
            for (Gone gone : unsentGone) {
                if (message.body().remaining() >= GONE_BYTES) {
                    message.body().putInt(gone.kind()).putInt(gone.id());
                    count++;
                }
            }
            if (!trySend(message)) {
                return true;
            }
            for (int i = 0; i < count; i++) {
                unsentGone.remove();
            }
            due |= ++sent % UNREAD == 0;
        }
        return due;
    }

    /** Throws if the other process has not been sent all announced ranges. */
    synchronized void checkHasAll() throws RpmaException {
        if (!unsentRanges.isEmpty()) {
            throw full();
        }
    }

    /** Sends a shared receive queue, unless the other process has been sent it. */
    synchronized void announce(SoftSharedReceiveQueue queue) throws RpmaException {
        if (link == null || sentQueues.contains(queue.id())) {
            return;
        }
        ControlMessage message = ControlMessage.of(ControlMessage.SHARED)
            .attach(ControlMessage.QUEUE, queue.id(), queue.memory().size(), queue.memory().fd())
            .attach(ControlMessage.QUEUE_POSTED, queue.id(), queue.posted().size(), queue.posted().fd());
        int event = queue.completions() == null ? -1 : queue.completions().channel().event().openForPeer();
        try {
            if (event >= 0) {
                message.attach(ControlMessage.QUEUE_EVENT, queue.id(), 0, event);
            }
            send(message);
            sentQueues.add(queue.id());
        } finally {
            if (event >= 0) {
                Posix.close(event);
            }
        }
    }

    /**
     * Withdraws a range: it is not sent any more.
     *
     * @return whether the other process had been sent it, and is therefore notified
     */
    synchronized boolean withdraw(Range range) {
        unsentRanges.remove(range.id());
        boolean had = sentRanges.remove(range.id());
        if (had) {
            withdraw(ControlMessage.RANGE, range.id());
        }
        return had;
    }

    /** Withdraws a shared receive queue. */
    synchronized void withdraw(SoftSharedReceiveQueue queue) {
        if (sentQueues.remove(queue.id())) {
            withdraw(ControlMessage.QUEUE, queue.id());
        }
    }

    private void withdraw(int kind, int id) {
        unsentGone.add(new Gone(kind, id));
        try {
            sendUnsent();
        } catch (RpmaException e) {
            // The failure has been logged. The connections end, and with them the mappings of the other process.
            unsentGone.clear();
        }
    }

    // ---- receiving

    /**
     * Reads the messages on the link. A message for which this process has too few descriptors or too little memory left stays
     * on the link, and is read again when its content is needed.
     *
     * @return 0, or if a message stayed, an {@code errno} for {@link Shortage#failure}
     */
    synchronized int read() {
        ControlMessage.Incoming incoming = ControlMessage.incoming();
        for (int i = 0; i < MOST_READ && !closed && !broken && link != null; i++) {
            ControlMessage message = link.peek(incoming);
            if (message == null) {
                if (incoming.result == -Posix.EINVAL) {
                    link.take();
                }
                if (incoming.result == -Posix.EINTR || incoming.result == -Sockets.ECONNRESET) {
                    continue;
                }
                if (incoming.result == -Sockets.EMFILE) {
                    return Sockets.EMFILE;
                }
                if (incoming.result != -Posix.EAGAIN) {
                    broken = true;
                    if (incoming.result != 0) {
                        violated("what is no message of this protocol (" + Posix.strerror(-incoming.result) + ")");
                    }
                }
                return 0;
            }
            try {
                take(message);
            } catch (RpmaException e) {
                return e.errno();
            } finally {
                message.closeAttachments();
            }
            link.take();
        }
        return 0;
    }

    /**
     * Reads the link if memory has not been received yet that an end of a connection of the other process needs.
     *
     * @throws RpmaException if this process has too few descriptors left to receive it, with the errno {@code EMFILE}, or too
     *     little memory to map it
     */
    synchronized void fetch(EndDescription end) throws RpmaException {
        if (hasAll(end)) {
            return;
        }
        int shortage = read();
        if (shortage != 0 && !hasAll(end)) {
            throw Shortage.failure(shortage, "memory that " + User.process(pid) + " shares cannot be received");
        }
    }

    private boolean hasAll(EndDescription end) {
        return link == null || slabs.containsKey(end.slab())
            && (end.queue() == 0 || receiveQueues.containsKey(end.queue()) || queueFiles.containsKey(end.queue()));
    }

    private void violated(String what) {
        broken = true;
        SoftLog.violation(User.process(pid) + " sent " + what);
    }

    /** Takes all attachments of a message, or none if an exception is thrown. */
    private void take(ControlMessage message) throws RpmaException {
        if (message.type() == ControlMessage.GONE) {
            while (message.body().remaining() >= 8) {
                takeGone(message.body().getInt(), message.body().getInt());
            }
        } else if (message.type() == ControlMessage.SHARED && message.version() == ControlMessage.VERSION) {
            List<ControlMessage.Attachment> taken = new ArrayList<>();
            boolean done = false;
            try {
                ControlMessage.Attachment shared = message.takeFirst();
                while (shared != null && !broken) {
                    if (take(shared, message)) {
                        taken.add(shared);
                    } else {
                        violated("shared memory of kind " + shared.kind() + " that makes no sense");
                    }
                    shared = message.takeFirst();
                }
                done = true;
            } finally {
                if (!done) {
                    taken.forEach(this::giveBack);
                }
            }
        } else {
            violated("a message of type " + message.type() + " on a link");
        }
    }

    /** Releases an attachment of a message that will be read again. */
    private void giveBack(ControlMessage.Attachment shared) {
        switch (shared.kind()) {
            case ControlMessage.TABLE -> {
                table.release();
                table = null;
                tableAddress = 0;
            }
            case ControlMessage.QUEUE -> queueFiles.remove(shared.id()).release();
            case ControlMessage.RANGE -> ranges.remove(shared.id()).release();
            default -> slabs.remove(shared.id()).release();
        }
    }

    /** Takes one attachment, and with it the ownership of its descriptor. Returns whether it is valid. */
    private boolean take(ControlMessage.Attachment shared, ControlMessage message) throws RpmaException {
        Map<Integer, SharedMemory> target;
        switch (shared.kind()) {
            case ControlMessage.TABLE:
                if (table != null) {
                    Posix.close(shared.fd());
                    return false;
                }
                table = open(shared, false);
                if (table != null && table.size() != RegionTable.SIZE) {
                    table.release();
                    table = null;
                }
                tableAddress = table == null ? 0 : table.address();
                return table != null;
            case ControlMessage.QUEUE:
                return takeQueue(shared, message.take(ControlMessage.QUEUE_POSTED), message.take(ControlMessage.QUEUE_EVENT));
            case ControlMessage.RANGE:
                target = ranges;
                break;
            case ControlMessage.SLAB:
                target = slabs;
                break;
            default:
                Posix.close(shared.fd());
                return false;
        }
        if (target.containsKey(shared.id())) {
            Posix.close(shared.fd());
            return false;
        }
        SharedMemory memory = open(shared, true);
        if (memory != null) {
            target.put(shared.id(), memory);
        }
        return memory != null;
    }

    /** Maps an attachment if the limits allow it, otherwise returns {@code null}. Takes ownership of the descriptor. */
    private SharedMemory open(ControlMessage.Attachment shared, boolean writable) throws RpmaException {
        return SharedMemory.open(shared.fd(), shared.size(), writable, account);
    }

    private boolean takeQueue(ControlMessage.Attachment queue, ControlMessage.Attachment receives,
            ControlMessage.Attachment doorbell) throws RpmaException {
        EventPipe event = null;
        SharedMemory memory = null;
        SharedMemory posted = null;
        boolean complete = false;
        try {
            memory = open(queue, true);
            posted = receives == null ? null : open(receives, false);
            event = doorbell == null ? null : EventPipe.open(doorbell.fd());
            complete = memory != null && posted != null && (event != null || doorbell == null)
                && !queueFiles.containsKey(queue.id()) && !receiveQueues.containsKey(queue.id());
            if (complete) {
                queueFiles.put(queue.id(), new QueueFiles(posted, memory, event));
            }
            return complete;
        } finally {
            if (doorbell != null) {
                Posix.close(doorbell.fd());
            }
            if (!complete) {
                release(memory);
                release(posted);
                if (event != null) {
                    event.release();
                }
            }
        }
    }

    private static void release(SharedMemory memory) {
        if (memory != null) {
            memory.release();
        }
    }

    private void takeGone(int kind, int id) {
        if (kind == ControlMessage.RANGE) {
            SharedMemory memory = ranges.remove(id);
            if (memory != null) {
                RemoteRegion[] all = regions;
                for (int i = 0; i < all.length; i++) {
                    RemoteRegion region = all[i];
                    if (region != null && region.local() >= memory.address()
                        && region.local() - memory.address() < memory.size()) {
                        all[i] = null;
                    }
                }
                // Orders the removal of the regions before the loads of QueuePair.busy in awaitOwn(). QueuePair.enter() stores
                // "busy", executes a fence and looks up the region: either it does not find the region, or it is waited for.
                Memory.fullFence();
                withdrawn.add(memory);
                hasWithdrawn = true;
            }
        } else if (kind == ControlMessage.QUEUE) {
            QueueFiles files = queueFiles.remove(id);
            if (files != null) {
                files.release();
            }
            if (offeredQueues.remove(id)) {
                release(receiveQueues.get(id));
            }
        }
    }

    /**
     * Reads the messages on the link, and unmaps the memory that the other process has withdrawn. A correct process has waited
     * for the operations in it; as this cannot be relied on, this method waits for those of this process. It must not be called
     * by a thread that is executing a work request.
     */
    void readAndUnmap() {
        read();
        if (hasWithdrawn) {
            List<SharedMemory> memories;
            synchronized (this) {
                hasWithdrawn = false;
                memories = List.copyOf(withdrawn);
                withdrawn.clear();
            }
            local.awaitOwn();
            memories.forEach(SharedMemory::release);
        }
    }

    // ---- regions

    /** Returns the region of a key if it was found before, or {@code null}. For the data path: allocates and locks nothing. */
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
     * @return the region, or {@code null} if there is none with this key or its entry is not valid
     */
    synchronized RemoteRegion find(int key) {
        if (table == null) {
            read();
        }
        RegionTable.Entry entry = table == null ? null : RegionTable.read(tableAddress, key);
        if (entry == null) {
            return null;
        }
        if (entry.length() <= 0 || entry.address() <= 0 || entry.address() > Long.MAX_VALUE - entry.length()) {
            SoftLog.violation(User.process(pid) + " has a memory region of " + entry.length() + " bytes at 0x"
                + Long.toHexString(entry.address()));
            return null;
        }
        long address = 0;
        if (isSelf()) {
            address = entry.address();
        } else if (entry.range() != RegionTable.FOREIGN) {
            if (!ranges.containsKey(entry.range())) {
                // The range was sent before the key was, so it is on the link.
                int shortage = read();
                if (shortage != 0 && !ranges.containsKey(entry.range())) {
                    SoftLog.warn(Shortage.failure(shortage, "a memory region of " + User.process(pid) + " cannot be reached")
                        .getMessage());
                    return null;
                }
            }
            SharedMemory range = ranges.get(entry.range());
            if (range == null || entry.rangeOffset() < 0 || entry.length() > range.size()
                || entry.rangeOffset() > range.size() - entry.length()) {
                SoftLog.violation(User.process(pid) + " has a memory region of " + entry.length() + " bytes at "
                    + entry.rangeOffset() + " in " + (range == null ? "a range that it has not sent"
                        : "a range of " + range.size()));
                return null;
            }
            address = range.address() + entry.rangeOffset();
        }
        RemoteRegion region = new RemoteRegion(key, entry, address, RegionTable.entryAddress(tableAddress, key));
        int index = key & RegionTable.CAPACITY - 1;
        RemoteRegion[] all = regions;
        if (index >= all.length) {
            all = Arrays.copyOf(all, Math.max(16, Integer.highestOneBit(index) << 1));
        }
        all[index] = region;
        regions = all;
        return region;
    }

    /** Returns the number of mapped ranges. */
    synchronized int rangeCount() {
        return ranges.size();
    }

    // ---- halves

    /**
     * Returns memory for a half of this process. The half is a user of this view.
     *
     * @throws RpmaException {@link RpmaError#NO_MEMORY} if there is none, {@link RpmaError#PROVIDER} if the other process does
     *     not read its link
     */
    HalfMemory newHalf(int size) throws RpmaException {
        local.retain(this);
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
    long half(int slab, long offset, long size) {
        if (isSelf()) {
            return halves.find(slab, offset, size);
        }
        synchronized (this) {
            if (!slabs.containsKey(slab)) {
                read();
            }
            SharedMemory memory = slabs.get(slab);
            return memory != null && offset >= 0 && offset % Memory.APART == 0 && size <= memory.size()
                && offset <= memory.size() - size ? memory.address() + offset : 0;
        }
    }

    // ---- shared receive queues

    /** Returns the view of a shared receive queue, which the caller releases; {@code null} if it has not been received. */
    synchronized SharedReceives receiveQueue(int id, int capacity, boolean hasCompletions) {
        SharedReceives known = receiveQueues.get(id);
        if (known == null) {
            if (!queueFiles.containsKey(id)) {
                read();
            }
            QueueFiles files = queueFiles.get(id);
            if (files == null || files.memory().size() != SharedReceives.size(capacity)
                || files.posted().size() != SharedReceives.postedSize(capacity)) {
                return null;
            }
            queueFiles.remove(id);
            known = new SharedReceives(id, files.posted(), files.memory(), capacity, files.event());
            known.addUser();
            receiveQueues.put(id, known);
            offeredQueues.add(id);
        }
        if (known.capacity() != capacity || hasCompletions != (known.doorbell() != null)) {
            return null;
        }
        known.addUser();
        return known;
    }

    /**
     * Returns the view of a shared receive queue of this process itself, which the caller releases; {@code null} if it has been
     * closed.
     */
    synchronized SharedReceives localReceiveQueue(SoftSharedReceiveQueue queue) {
        SharedReceives view = receiveQueues.get(queue.id());
        if (view == null) {
            view = queue.view();
            if (view == null) {
                return null;
            }
            receiveQueues.put(queue.id(), view);
        }
        view.addUser();
        return view;
    }

    /** Removes a user of a shared receive queue. */
    synchronized void release(SharedReceives queue) {
        if (queue.removeUser()) {
            receiveQueues.remove(queue.id(), queue);
            queue.close();
        }
    }

    // ---- memory that this process cannot map

    /** Copies to memory that is not mapped here; returns 0 or {@code -errno}. */
    int copyTo(long remote, long source, long length) {
        long done = 0;
        while (done < length) {
            long count = Libc.processWrite(pid, remote + done, source + done, length - done);
            if (count <= 0) {
                return count == 0 ? -Libc.EFAULT : (int) count;
            }
            done += count;
        }
        return 0;
    }

    /** Copies from memory that is not mapped here; returns 0 or {@code -errno}. */
    int copyFrom(long remote, long target, long length) {
        long done = 0;
        while (done < length) {
            long count = Libc.processRead(pid, remote + done, target + done, length - done);
            if (count <= 0) {
                return count == 0 ? -Libc.EFAULT : (int) count;
            }
            done += count;
        }
        return 0;
    }
}
