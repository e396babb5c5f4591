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
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.Link;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import io.rpma.soft.shared.EventPipe;
import io.rpma.soft.shared.Range;
import io.rpma.soft.shared.SharedMemory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The record of what one other process has been sent of the memory of this one, and of the messages for which its {@link Link}
 * had no room. Any thread may use it, under the lock of the {@link RemoteProcess}.
 */
final class Announcements {
    /** The size of an entry of a message about withdrawn memory, in bytes. */
    static final int GONE_BYTES = 8;

    /** Messages on the link after which the other process is asked to read them. */
    private static final int UNREAD = 32;
    /** Ranges in one message: the other process needs that many free descriptors to receive it. */
    private static final int RANGES_IN_MESSAGE = 16;

    private final Link link;
    private final int pid;
    private final Set<Integer> sentRanges = new HashSet<>();
    private final Set<Integer> sentQueues = new HashSet<>();
    // Messages for which the link had no room, to be sent when the other process has read some.
    private final Map<Integer, Range> unsentRanges = new LinkedHashMap<>();
    private final Deque<Gone> unsentGone = new ArrayDeque<>();
    private int sent;

    /** Shared memory that this process withdraws. */
    private record Gone(int kind, int id) {
    }

    /**
     * Creates an empty record.
     *
     * @param pid the process number of the other process, for messages
     */
    Announcements(Link link, int pid) {
        this.link = link;
        this.pid = pid;
    }

    /** Sends the table of the memory regions of this process. */
    void sendTable(SharedMemory table) throws RpmaException {
        send(ControlMessage.of(ControlMessage.SHARED).attach(ControlMessage.TABLE, 0, table.size(), table.fd()));
    }

    /** Sends a file that contains halves of connections. */
    void sendSlab(int id, SharedMemory memory) throws RpmaException {
        send(ControlMessage.of(ControlMessage.SHARED).attach(ControlMessage.SLAB, id, memory.size(), memory.fd()));
    }

    /** Sends a shared receive queue, unless the other process has been sent it. */
    void announce(LocalReceiveQueue queue) throws RpmaException {
        if (sentQueues.contains(queue.id())) {
            return;
        }
        ControlMessage message = ControlMessage.of(ControlMessage.SHARED)
            .attach(ControlMessage.QUEUE, queue.id(), queue.memory().size(), queue.memory().fd())
            .attach(ControlMessage.QUEUE_POSTED, queue.id(), queue.posted().size(), queue.posted().fd());
        EventPipe pipe = queue.event();
        int event = pipe == null ? -1 : pipe.openForPeer();
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
     * Sends the ranges that the other process has not been sent. {@link #sendUnsent()} sends those later for which the link has
     * no room now.
     *
     * @return whether it is time to ask the other process to read its link
     */
    boolean announce(Iterable<Range> all) throws RpmaException {
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
    boolean sendUnsent() throws RpmaException {
        boolean due = false;
        while (!unsentRanges.isEmpty()) {
            if (!trySendRanges()) {
                return true;
            }
            due |= ++sent % UNREAD == 0;
        }
        while (!unsentGone.isEmpty()) {
            if (!trySendGone()) {
                return true;
            }
            due |= ++sent % UNREAD == 0;
        }
        return due;
    }

    private boolean trySendRanges() throws RpmaException {
        ControlMessage message = ControlMessage.of(ControlMessage.SHARED);
        List<Integer> batch = unsentRanges.keySet().stream().limit(RANGES_IN_MESSAGE).toList();
        for (int id : batch) {
            Range range = unsentRanges.get(id);
            message.attach(ControlMessage.RANGE, id, range.size(), range.fd());
        }
        if (!trySend(message)) {
            return false;
        }
        batch.forEach(unsentRanges::remove);
        sentRanges.addAll(batch);
        return true;
    }

    private boolean trySendGone() throws RpmaException {
        ControlMessage message = ControlMessage.of(ControlMessage.GONE);
        int count = 0;
        for (Gone gone : unsentGone) {
            if (message.body().remaining() >= GONE_BYTES) {
                message.body().putInt(gone.kind()).putInt(gone.id());
                count++;
            }
        }
        if (!trySend(message)) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            unsentGone.remove();
        }
        return true;
    }

    /** Throws if the other process has not been sent all announced ranges. */
    void checkHasAll() throws RpmaException {
        if (!unsentRanges.isEmpty()) {
            throw full();
        }
    }

    /**
     * Withdraws a range: it is not sent any more.
     *
     * @return whether the other process had been sent it, and is therefore notified
     */
    boolean withdraw(Range range) {
        unsentRanges.remove(range.id());
        boolean had = sentRanges.remove(range.id());
        if (had) {
            withdraw(ControlMessage.RANGE, range.id());
        }
        return had;
    }

    /** Withdraws a shared receive queue. */
    void withdraw(LocalReceiveQueue queue) {
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

    /**
     * Sends a message on the link.
     *
     * @return whether there was room for it; {@code true} also if the other process has ended, which its connections report
     */
    private boolean trySend(ControlMessage message) throws RpmaException {
        int result = link.isUsable() ? link.send(message) : -Sockets.EPIPE;
        switch (-result) {
            case 0:
                return true;
            case Posix.EAGAIN, Sockets.ETOOMANYREFS, Sockets.ENOBUFS:
                return false;
            case Sockets.EPIPE, Sockets.ECONNRESET:
                link.fail();
                return true;
            default:
                link.fail();
                throw SoftLog.failure(RpmaError.PROVIDER, -result, User.process(pid) + " cannot be notified of shared memory: "
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
        return SoftLog.failure(RpmaError.PROVIDER, Posix.EAGAIN, User.process(pid) + " does not read the notifications of shared"
            + " memory that are sent to it, so no further connection to it can be created: it is stopped, or does not read the"
            + " events of its connections", null);
    }
}
