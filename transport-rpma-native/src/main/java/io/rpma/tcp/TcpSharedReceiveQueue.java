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
package io.rpma.tcp;

import io.rpma.CompletionQueue;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.posix.EpollSet;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A shared receive queue. Its completion queue's descriptor is readable while a socket of one of its connections is, and tells
 * which: who polls it drives those that have something, however many there are.
 */
final class TcpSharedReceiveQueue implements SharedReceiveQueue, TcpCompletionQueue.Driven {
    private static final int EVENTS = 64;
    private static final int EBUSY = 16;
    /** Connections that one posted receive wakes at most: the first one may have lost its peer. */
    private static final int WOKEN = 8;

    private final TcpPeer peer;
    private final Receives receives;
    private final TcpCompletionQueue completions;
    private final MemorySegment events = Arena.ofAuto().allocate((long) EVENTS * EpollSet.EVENT_BYTES, 8);
    private final Queue<QueuePair> starving = new ConcurrentLinkedQueue<>();
    // By the number in the set; replaced under this lock.
    private volatile QueuePair[] members = new QueuePair[4];
    // For the polling thread: members that may owe an acknowledgement since it looked last.
    private QueuePair[] owing = new QueuePair[8];
    private int owingCount;
    private int users;
    private volatile boolean closed;

    TcpSharedReceiveQueue(TcpPeer peer, int slots, int completionSlots) throws RpmaException {
        this.peer = peer;
        receives = new Receives(slots);
        completions = completionSlots == 0 ? null
            : new TcpCompletionQueue(completionSlots, new Alarm().made(), false, null, this);
    }

    TcpPeer owner() {
        return peer;
    }

    Receives receives() {
        return receives;
    }

    boolean hasCompletions() {
        return completions != null;
    }

    TcpCompletionQueue completions() {
        return completions;
    }

    /** Counts a connection. */
    synchronized void hold() throws RpmaException {
        if (closed) {
            throw TcpLog.failure(RpmaError.INVALID, "the shared receive queue is closed");
        }
        users++;
    }

    synchronized void release() {
        users--;
    }

    /** Watches the socket of a connection; returns its number here. */
    synchronized int join(QueuePair pair, int socket) {
        QueuePair[] now = members;
        int free = 0;
        while (free < now.length && now[free] != null) {
            free++;
        }
        QueuePair[] then = Arrays.copyOf(now, free < now.length ? now.length : now.length * 2);
        then[free] = pair;
        members = then;
        completions.alarm().add(socket, free);
        return free;
    }

    synchronized void leave(int member, int socket) {
        QueuePair[] then = members.clone();
        then[member] = null;
        members = then;
        completions.alarm().remove(socket);
    }

    /** Wakes a connection when there is a receive. */
    void starve(QueuePair pair) {
        starving.add(pair);
    }

    @Override
    public void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        if (closed) {
            throw TcpLog.failure(RpmaError.INVALID, "the shared receive queue is closed");
        }
        TcpLocalMemoryRegion region = TcpLocalMemoryRegion.of(target);
        Receives.check(region, offset, length);
        receives.post(region, offset, length, context);
        if (!starving.isEmpty()) {
            wakeStarving();
        }
    }

    private void wakeStarving() {
        int woken = 0;
        QueuePair pair = starving.poll();
        while (pair != null) {
            if (pair.wake() && ++woken == WOKEN) {
                return;
            }
            pair = receives.isEmpty() ? null : starving.poll();
        }
    }

    /** Drives the connections that have something, and those that have owed an acknowledgement since the last time. */
    @Override
    public void drive() {
        int before = owingCount;
        QueuePair[] now = members;
        int count = EpollSet.await(completions.fd(), events.address(), EVENTS, 0);
        for (int i = 0; i < count; i++) {
            long data = EpollSet.data(events.address(), i);
            QueuePair pair = Alarm.isOwn(data) || data >= now.length ? null : now[(int) data];
            if (pair != null) {
                pair.driveAsMember();
                if (pair.owesAcknowledgement()) {
                    owes(pair);
                }
            }
        }
        for (int i = 0; i < before; i++) {
            if (owing[i].owesAcknowledgement()) {
                owing[i].kick(QueuePair.ACKNOWLEDGE);
            }
        }
        System.arraycopy(owing, before, owing, 0, owingCount - before);
        Arrays.fill(owing, owingCount - before, owingCount, null);
        owingCount -= before;
    }

    private void owes(QueuePair pair) {
        if (owingCount == owing.length) {
            owing = Arrays.copyOf(owing, 2 * owingCount);
        }
        owing[owingCount++] = pair;
    }

    @Override
    public CompletionQueue receiveCompletionQueue() {
        return completions;
    }

    @Override
    public boolean returnsUnfinishedReceives() {
        return true;
    }

    @Override
    public void close() throws RpmaException {
        synchronized (this) {
            if (closed) {
                return;
            }
            if (users > 0) {
                throw TcpLog.failure(RpmaError.PROVIDER, EBUSY, users + " connections or requests still use the shared receive"
                    + " queue: close them first", null);
            }
            closed = true;
        }
        if (completions != null) {
            completions.close();
        }
        peer.removeChild();
    }

    @Override
    public boolean isQuiescent() {
        return closed;
    }
}
