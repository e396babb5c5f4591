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

import io.rpma.RpmaException;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.EndDescription;
import io.rpma.soft.control.Link;
import io.rpma.soft.host.MappingLimit;
import io.rpma.soft.host.Shortage;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import io.rpma.soft.shared.EventPipe;
import io.rpma.soft.shared.RegionTable;
import io.rpma.soft.shared.SharedMemory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The memory of one other process that this process has received on the {@link Link} and mapped: the table of memory regions, the
 * ranges that regions lie in, and the slabs that contain halves of connections. It reads the messages on the link, and hands the
 * shared receive queues among their contents to {@link ReceiveQueueViews}.
 *
 * <p>Any thread may use it, under the lock of the {@link RemoteProcess}; only {@link #hasWithdrawn()} needs no lock.
 */
final class ReceivedMemory {
    /** Messages read by one call, far more than a link has room for: a process that keeps sending cannot hold up this one. */
    private static final int MOST_READ = 4_096;

    private final Link link;
    private final int pid;
    private final MappingLimit.Account account;
    private final ReceiveQueueViews queues;
    private final RegionCache regions;
    private final Map<Integer, SharedMemory> ranges = new HashMap<>();
    private final Map<Integer, SharedMemory> slabs = new HashMap<>();
    private final List<SharedMemory> withdrawn = new ArrayList<>();
    private volatile boolean hasWithdrawn;
    private SharedMemory table;

    private ReceivedMemory(Link link, int pid, MappingLimit.Account account, SharedMemory table, ReceiveQueueViews queues,
            RegionCache regions) {
        this.link = link;
        this.pid = pid;
        this.account = account;
        this.table = table;
        this.queues = queues;
        this.regions = regions;
    }

    /**
     * Creates the memory that is received on a link, initially none.
     *
     * @param pid the process number of the other process, for messages
     * @param account what the other process makes this one map
     */
    static ReceivedMemory on(Link link, int pid, MappingLimit.Account account, ReceiveQueueViews queues, RegionCache regions) {
        return new ReceivedMemory(link, pid, account, null, queues, regions);
    }

    /** Creates the memory of this process itself, which has no link: there is only the table. */
    static ReceivedMemory ofSelf(int pid, SharedMemory table, ReceiveQueueViews queues, RegionCache regions) {
        return new ReceivedMemory(null, pid, null, table.retain(), queues, regions);
    }

    /** Returns the table of memory regions, {@code null} if it has not been received. */
    SharedMemory table() {
        if (table == null) {
            read();
        }
        return table;
    }

    boolean hasRange(int id) {
        return ranges.containsKey(id);
    }

    /** Returns a range, {@code null} if it has not been received. */
    SharedMemory range(int id) {
        return ranges.get(id);
    }

    /** Returns whether more memory can be received. */
    boolean isLinkUsable() {
        return link.isUsable() && !link.hasHungUp();
    }

    /** Returns the number of mapped ranges. */
    int rangeCount() {
        return ranges.size();
    }

    /** Returns the address of a half of the other process, 0 if it does not lie in memory that has been received. */
    long half(int slab, long offset, long size) {
        if (!slabs.containsKey(slab)) {
            read();
        }
        SharedMemory memory = slabs.get(slab);
        return memory != null && offset >= 0 && offset % Memory.APART == 0 && size <= memory.size()
            && offset <= memory.size() - size ? memory.address() + offset : 0;
    }

    /**
     * Reads the messages on the link. A message for which this process has too few descriptors or too little memory left stays
     * on the link, and is read again when its content is needed.
     *
     * @return 0, or if a message stayed, an {@code errno} for {@link Shortage#failure}
     */
    int read() {
        if (link == null) {
            return 0;
        }
        ControlMessage.Incoming incoming = ControlMessage.incoming();
        for (int i = 0; i < MOST_READ && link.isUsable(); i++) {
            ControlMessage message = link.peek(incoming);
            if (message == null) {
                if (incoming.result == -Posix.EINVAL) {
                    link.take();
                }
                if (incoming.result == -Posix.EINTR || incoming.result == -Sockets.ECONNRESET) {
                    continue;
                }
                return noMessage(incoming.result);
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

    /** Handles the result of reading no message. Returns the result of {@link #read()}. */
    private int noMessage(int result) {
        if (result == -Sockets.EMFILE) {
            return Sockets.EMFILE;
        }
        if (result != -Posix.EAGAIN) {
            link.fail();
            if (result != 0) {
                violated("something that is not a message of this protocol (" + Posix.strerror(-result) + ")");
            }
        }
        return 0;
    }

    /**
     * Reads the link if memory has not been received yet that an end of a connection of the other process needs.
     *
     * @throws RpmaException if this process has too few descriptors left to receive it, with the errno {@code EMFILE}, or too
     *     little memory to map it
     */
    void fetch(EndDescription end) throws RpmaException {
        if (hasAll(end)) {
            return;
        }
        int shortage = read();
        if (shortage != 0 && !hasAll(end)) {
            throw Shortage.failure(shortage, "memory that " + User.process(pid) + " shares cannot be received");
        }
    }

    private boolean hasAll(EndDescription end) {
        return link == null || slabs.containsKey(end.slab()) && (end.queue() == 0 || queues.has(end.queue()));
    }

    private void violated(String what) {
        link.fail();
        SoftLog.violation(User.process(pid) + " sent " + what);
    }

    /** Takes all attachments of a message, or none if an exception is thrown. */
    private void take(ControlMessage message) throws RpmaException {
        if (message.type() == ControlMessage.GONE) {
            while (message.body().remaining() >= Announcements.GONE_BYTES) {
                takeGone(message.body().getInt(), message.body().getInt());
            }
        } else if (message.type() == ControlMessage.SHARED && message.version() == ControlMessage.VERSION) {
            List<ControlMessage.Attachment> taken = new ArrayList<>();
            boolean done = false;
            try {
                // The attachments behind an invalid one stay in the message, and are closed with it.
                while (link.isUsable() && !message.attachments().isEmpty()) {
                    ControlMessage.Attachment shared = message.takeFirst();
                    if (take(shared, message)) {
                        taken.add(shared);
                    } else {
                        violated("invalid shared memory of kind " + shared.kind());
                    }
                }
                done = true;
            } finally {
                if (!done) {
                    taken.forEach(this::giveBack);
                }
            }
        } else {
            violated("an unexpected message of type " + message.type() + " on a link");
        }
    }

    /** Releases an attachment of a message that will be read again. */
    private void giveBack(ControlMessage.Attachment shared) {
        switch (shared.kind()) {
            case ControlMessage.TABLE -> {
                table.release();
                table = null;
            }
            case ControlMessage.QUEUE -> queues.giveBack(shared.id());
            case ControlMessage.RANGE -> ranges.remove(shared.id()).release();
            default -> slabs.remove(shared.id()).release();
        }
    }

    /** Takes one attachment, and with it the ownership of its descriptor. Returns whether it is valid. */
    private boolean take(ControlMessage.Attachment shared, ControlMessage message) throws RpmaException {
        return switch (shared.kind()) {
            case ControlMessage.TABLE -> takeTable(shared);
            case ControlMessage.QUEUE -> takeQueue(shared, message);
            case ControlMessage.RANGE -> takeMemory(shared, ranges);
            case ControlMessage.SLAB -> takeMemory(shared, slabs);
            default -> {
                Posix.close(shared.fd());
                yield false;
            }
        };
    }

    private boolean takeTable(ControlMessage.Attachment shared) throws RpmaException {
        if (table != null) {
            Posix.close(shared.fd());
            return false;
        }
        table = open(shared, false);
        if (table != null && table.size() != RegionTable.SIZE) {
            table.release();
            table = null;
        }
        return table != null;
    }

    private boolean takeMemory(ControlMessage.Attachment shared, Map<Integer, SharedMemory> target) throws RpmaException {
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

    /** Takes a queue, whose other files lie in the message. Each is removed when it is its turn, so none is lost on failure. */
    private boolean takeQueue(ControlMessage.Attachment queue, ControlMessage message) throws RpmaException {
        EventPipe event = null;
        SharedMemory memory = null;
        SharedMemory posted = null;
        ControlMessage.Attachment doorbell = null;
        boolean complete = false;
        try {
            memory = open(queue, true);
            ControlMessage.Attachment receives = message.take(ControlMessage.QUEUE_POSTED);
            posted = receives == null ? null : open(receives, false);
            doorbell = message.take(ControlMessage.QUEUE_EVENT);
            event = doorbell == null ? null : EventPipe.open(doorbell.fd());
            complete = memory != null && posted != null && (event != null || doorbell == null)
                && !queues.has(queue.id());
            if (complete) {
                queues.add(queue.id(), posted, memory, event);
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
                regions.removeIn(memory);
                withdrawn.add(memory);
                hasWithdrawn = true;
            }
        } else if (kind == ControlMessage.QUEUE) {
            queues.withdraw(id);
        }
    }

    /** Returns whether the other process has withdrawn memory that is still mapped. Any thread may call it without the lock. */
    boolean hasWithdrawn() {
        return hasWithdrawn;
    }

    /** Takes the memory that the other process has withdrawn. The caller waits for the operations in it, and releases it. */
    List<SharedMemory> takeWithdrawn() {
        hasWithdrawn = false;
        List<SharedMemory> memories = List.copyOf(withdrawn);
        withdrawn.clear();
        return memories;
    }

    /** Unmaps everything. */
    void close() {
        ranges.values().forEach(SharedMemory::release);
        slabs.values().forEach(SharedMemory::release);
        withdrawn.forEach(SharedMemory::release);
        queues.close();
        regions.clear();
        if (table != null) {
            table.release();
        }
    }
}
