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

package io.rpma.netty;

import io.netty.channel.Channel;
import io.rpma.netty.connect.PendingAccept;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntSupplier;

/**
 * The backlog of a server channel: the clients whose requests have been taken, and whose channels have not been passed to the
 * pipeline yet. A client is undecided while the application decides about it, then pending until it has established its
 * connection, then accepted until the channel reads.
 *
 * <p>Only the event loop of the server channel uses this class, so its fields need no lock.
 */
final class Backlog {
    /** The result of {@link #nanosUntilRoom()} if only the application can make room. */
    static final long NOT_KNOWN = Long.MAX_VALUE;
    /** A client that has been silent for this long may lose its place in a full backlog: an answer takes one round trip. */
    private static final long SILENT_NANOS = 1_000_000_000L;

    private final IntSupplier size;
    // In the order in which they were accepted.
    private final Set<PendingAccept> pending = new LinkedHashSet<>();
    // The requests that the application has not decided about.
    private final Map<RpmaConnectRequest, DecisionDeadline> undecided = new LinkedHashMap<>();
    private final ArrayDeque<WaitingChild> accepted = new ArrayDeque<>();

    /**
     * Creates an empty backlog.
     *
     * @param size returns the number of clients that have room, by the current options
     */
    Backlog(IntSupplier size) {
        this.size = size;
    }

    /** Returns whether there is room for another client. */
    boolean hasRoom() {
        return pending.size() + undecided.size() + accepted.size() < capacity();
    }

    private int capacity() {
        return Math.max(1, size.getAsInt());
    }

    /**
     * Returns after how many nanoseconds there is room, or room can be made by closing a client that does not answer: 0 if that
     * is so now, and {@link #NOT_KNOWN} if there will be room when the application has read, or decided.
     */
    long nanosUntilRoom() {
        if (hasRoom()) {
            return 0;
        }
        if (pending.isEmpty() || undecided.size() + accepted.size() >= capacity()) {
            return NOT_KNOWN;
        }
        long silent = System.nanoTime() - pending.iterator().next().since();
        return Math.max(0, SILENT_NANOS - silent);
    }

    /**
     * Closes the older half of the silent clients of the host that has most of them, so that the clients of one host cannot
     * fill the backlog.
     */
    void giveUpSilentClients() {
        long now = System.nanoTime();
        Map<InetAddress, List<PendingAccept>> byHost = new HashMap<>();
        List<PendingAccept> most = List.of();
        for (PendingAccept unestablished : pending) {
            if (now - unestablished.since() < SILENT_NANOS) {
                // The clients that follow are younger.
                break;
            }
            List<PendingAccept> ofHost = byHost.computeIfAbsent(unestablished.host(), host -> new ArrayList<>());
            ofHost.add(unestablished);
            if (ofHost.size() > most.size()) {
                most = ofHost;
            }
        }
        for (PendingAccept silent : most.subList(0, (most.size() + 1) / 2)) {
            silent.giveUp();
        }
    }

    /**
     * Returns after how many nanoseconds the time of a client is over that has not established its connection, 0 or less if it is
     * over now, and {@link #NOT_KNOWN} if there is none.
     */
    long nanosUntilOverdue() {
        return pending.isEmpty() ? NOT_KNOWN : pending.iterator().next().nanosLeft(System.nanoTime());
    }

    /** Closes the connections of the clients that have not established them in time. */
    void giveUpOverdueClients() {
        long now = System.nanoTime();
        for (PendingAccept unestablished : pending()) {
            if (unestablished.nanosLeft(now) > 0) {
                // The clients that follow are younger.
                break;
            }
            unestablished.overdue();
        }
    }

    /** Returns whether there is a connection, established or not, whose channel has not been passed to the pipeline. */
    boolean hasConnections() {
        return !pending.isEmpty() || !accepted.isEmpty();
    }

    // ---- clients that have not established their connection ----

    void addPending(PendingAccept unestablished) {
        pending.add(unestablished);
    }

    void removePending(PendingAccept unestablished) {
        pending.remove(unestablished);
    }

    /**
     * Takes over the connections that have been established while no loop watched them. Their clients are not silent, and must
     * not be closed to make room for others.
     */
    void catchUpWithThePast() {
        pending().forEach(PendingAccept::eventsReady);
    }

    /** Returns a copy, because each of them removes itself from the backlog when it is closed. */
    List<PendingAccept> pending() {
        return new ArrayList<>(pending);
    }

    // ---- clients that the application decides about ----

    /** Adds a request that the application has not decided about. */
    void addUndecided(RpmaConnectRequest request, DecisionDeadline deadline) {
        undecided.put(request, deadline);
    }

    /** Removes a request and stops its deadline. Returns whether it was there. */
    boolean removeUndecided(RpmaConnectRequest request) {
        DecisionDeadline deadline = undecided.remove(request);
        if (deadline == null) {
            return false;
        }
        deadline.stop();
        return true;
    }

    /** Returns the deadlines of the requests. */
    Iterable<DecisionDeadline> deadlines() {
        return undecided.values();
    }

    /** Returns a copy, because each of them is removed when it is answered. */
    List<RpmaConnectRequest> undecided() {
        return new ArrayList<>(undecided.keySet());
    }

    // ---- channels that wait for a read ----

    void addAccepted(WaitingChild child) {
        accepted.add(child);
    }

    /** Returns the channels that wait for a read, oldest first. */
    Iterable<WaitingChild> accepted() {
        return accepted;
    }

    boolean hasAccepted() {
        return !accepted.isEmpty();
    }

    /** Removes the oldest channel that waits for a read; returns {@code null} if there is none. */
    Channel pollAccepted() {
        WaitingChild oldest = accepted.poll();
        return oldest == null ? null : oldest.leave();
    }
}
