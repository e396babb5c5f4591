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
import io.rpma.posix.Posix;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.Link;
import io.rpma.soft.host.MappingLimit;
import io.rpma.soft.shared.Range;
import io.rpma.soft.shared.RegionTable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The views of the processes that this one has connections to, and of this process itself: which there are, who uses them, and
 * when they are closed. Thread-safe.
 */
public final class RemoteProcesses {
    /** How long the view of another process is kept after the last connection to it. */
    private static final long KEEP_MILLIS = 1_000;
    private static final long MAX_SWEEP_MILLIS = 4_000;
    private static final int MAX_ROUTES = 1_024;
    /**
     * The number of unused views that are kept of the links that one other process has created. A correct process has one link,
     * or a few if it contains several copies of this provider, and closes each soon after the last connection.
     */
    static final int MOST_UNUSED = 16;
    /** The same for all processes without a number in this PID namespace together, which may pass for one another. */
    static final int MOST_UNUSED_WITHOUT_NUMBER = 16 * MOST_UNUSED;

    private final RemoteProcess.Identity identity;
    private final RegionTable regions;
    private final MappingLimit mappings;
    private final Runnable awaitOwn;
    private final AtomicLong nextLink = new AtomicLong();
    private final RemoteProcess self;
    // The names under which this process listens, and how often each one is held or about to be acquired. The number of a process
    // is not enough to recognize this one, because another class loader may have loaded these classes once more.
    private final Map<String, Integer> listeners = new ConcurrentHashMap<>();
    // Also the lock that guards the use counts of its elements.
    private final List<RemoteProcess> remotes = new ArrayList<>();
    // The links that this process has created, by the names of the listeners that they lead to. Guarded by the lock above.
    private final Map<String, RemoteProcess> routes = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, RemoteProcess> eldest) {
            return size() > MAX_ROUTES;
        }
    };
    private boolean sweepScheduled;

    /**
     * Creates the view of this process itself, and no other.
     *
     * @param identity the identity of this process
     * @param regions the table of its memory regions
     * @param mappings the limit of the memory that other processes make this one map
     * @param awaitOwn waits for the end of the operations that threads of this process may be executing
     */
    public RemoteProcesses(RemoteProcess.Identity identity, RegionTable regions, MappingLimit mappings, Runnable awaitOwn) {
        this.identity = identity;
        this.regions = regions;
        this.mappings = mappings;
        this.awaitOwn = awaitOwn;
        self = RemoteProcess.self(this);
    }

    RemoteProcess.Identity identity() {
        return identity;
    }

    RegionTable regions() {
        return regions;
    }

    MappingLimit mappings() {
        return mappings;
    }

    /** Waits for the end of the operations that threads of this process may be executing. */
    void awaitOwn() {
        awaitOwn.run();
    }

    /** Returns the view of this process itself. */
    public RemoteProcess self() {
        return self;
    }

    private List<RemoteProcess> views() {
        synchronized (remotes) {
            return List.copyOf(remotes);
        }
    }

    /** Records that this process is about to acquire the name of a listener. */
    public void listens(String name) {
        listeners.merge(name, 1, Integer::sum);
    }

    /** Records that this process has released the name of a listener, or has not acquired it. */
    public void listensNoMore(String name) {
        listeners.computeIfPresent(name, (key, count) -> count > 1 ? count - 1 : null);
    }

    /**
     * Returns the view of a process to which a connection request is about to be sent, and adds a user to it. A process in which
     * several class loaders have loaded these classes counts as several processes, which have the same number. Their listeners
     * tell them apart: a link is used for the listener that it was created for, and for all others that have the same identity.
     *
     * @param pid the process number that the kernel reports, 0 if it reports none
     * @param token distinguishes processes without a number, {@code null} if nothing does
     * @param listener the name of the listener
     */
    public RemoteProcess connecting(int pid, String token, String listener) throws RpmaException {
        if (pid == identity.pid() && listeners.containsKey(listener)) {
            return self;
        }
        synchronized (remotes) {
            RemoteProcess remote = routes.get(listener);
            if (remote == null || !remote.is(pid, token) || remote.isGone()) {
                remote = RemoteProcess.linked(this, pid, token, nextLink.incrementAndGet(), Link.create(), true);
                remotes.add(remote);
                routes.put(listener, remote);
            }
            remote.addUser();
            return remote;
        }
    }

    /**
     * Decides which link is used for the listener that has just confirmed one. If an older link leads to the same process, it is
     * that one, and the confirmed link ends with its connections.
     */
    void confirmed(RemoteProcess remote, RemoteProcess.Identity other) {
        synchronized (remotes) {
            for (RemoteProcess candidate : remotes) {
                if (candidate != remote && candidate.isMaker() && candidate.is(other) && !candidate.isGone()) {
                    routes.replaceAll((listener, route) -> route == remote ? candidate : route);
                    return;
                }
            }
        }
    }

    // Closes a view that has been removed from the list.
    private void close(RemoteProcess remote) {
        routes.values().removeIf(route -> route == remote);
        remote.close();
    }

    /**
     * Returns the view of a process that has sent a connection request, and adds a user to it.
     *
     * @param number the number of the link that it has created
     * @param end the end of that link, {@code null} if the request states that this process already has it
     * @return the view, or {@code null} if this process has no such link
     */
    public RemoteProcess accepting(RemoteProcess.Identity other, long number, ControlMessage.Attachment end)
            throws RpmaException {
        if (other.equals(identity)) {
            if (end != null) {
                Posix.close(end.fd());
            }
            return self;
        }
        synchronized (remotes) {
            RemoteProcess remote = null;
            for (RemoteProcess candidate : remotes) {
                if (!candidate.isMaker() && candidate.number() == number && candidate.is(other)) {
                    remote = candidate;
                }
            }
            if (remote != null && end != null) {
                Posix.close(end.fd());
            } else if (remote == null && end != null) {
                remote = RemoteProcess.linked(this, other.pid(), other, number, Link.of(end.fd()), false);
                remote.confirm(other);
                remotes.add(remote);
            }
            if (remote != null) {
                remote.addUser();
            }
            return remote;
        }
    }

    /** Adds a user to a view. Only a user may call it. */
    public void retain(RemoteProcess remote) {
        if (!remote.isSelf()) {
            synchronized (remotes) {
                remote.addUser();
            }
        }
    }

    /**
     * Removes a user of a view. After the last one the view is kept for a while, so that a new connection finds everything
     * mapped. The process that created the link closes it after that time; the other process observes the end of the link. A
     * process that creates one link after another and closes none has only some of them kept open here.
     */
    void release(RemoteProcess remote) {
        if (remote.isSelf()) {
            return;
        }
        synchronized (remotes) {
            if (remote.removeUser(System.nanoTime())) {
                if (remote.isUnconfirmed() || remote.isGone()) {
                    remotes.remove(remote);
                    close(remote);
                } else {
                    if (!remote.isMaker()) {
                        closeSurplus(remote);
                    }
                    scheduleSweep(KEEP_MILLIS);
                }
            }
        }
    }

    /** Closes the view that has not been used for the longest time, if too many are not used that have the origin of this one. */
    private void closeSurplus(RemoteProcess like) {
        boolean numbered = like.pid() > 0;
        int unused = 0;
        RemoteProcess oldest = null;
        for (RemoteProcess remote : remotes) {
            if (remote.isIdle() && !remote.isMaker() && (numbered ? remote.pid() == like.pid() : remote.pid() <= 0)) {
                unused++;
                if (oldest == null || remote.idleSince() - oldest.idleSince() < 0) {
                    oldest = remote;
                }
            }
        }
        if (unused > (numbered ? MOST_UNUSED : MOST_UNUSED_WITHOUT_NUMBER)) {
            remotes.remove(oldest);
            close(oldest);
        }
    }

    private void scheduleSweep(long millis) {
        if (!sweepScheduled) {
            sweepScheduled = true;
            CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS).execute(() -> {
                synchronized (remotes) {
                    sweepScheduled = false;
                    sweep(KEEP_MILLIS);
                    if (remotes.stream().anyMatch(RemoteProcess::isIdle)) {
                        scheduleSweep(Math.min(2 * millis, MAX_SWEEP_MILLIS));
                    }
                }
            });
        }
    }

    /** Closes unused views whose other process has ended, and unused views whose link this process created, after a while. */
    public void sweep() {
        sweep(KEEP_MILLIS);
    }

    private void sweep(long keepMillis) {
        synchronized (remotes) {
            long since = System.nanoTime() - keepMillis * 1_000_000;
            remotes.removeIf(remote -> {
                boolean over = remote.isIdle() && (remote.isMaker() && remote.idleSince() - since <= 0 || remote.isGone());
                if (over) {
                    close(remote);
                }
                return over;
            });
        }
    }

    /** Closes the views that are not used, without keeping any of them for a while. */
    public void closeIdle() {
        sweep(0);
    }

    /**
     * Withdraws a range from the processes that have been sent it.
     *
     * @return the processes that had been sent it, and are therefore notified
     */
    public Set<RemoteProcess> withdraw(Range range) {
        Set<RemoteProcess> told = new HashSet<>();
        for (RemoteProcess remote : views()) {
            if (remote.withdraw(range)) {
                told.add(remote);
            }
        }
        return told;
    }

    /** Withdraws a shared receive queue from the processes that have been sent it. */
    public void withdraw(LocalReceiveQueue queue) {
        for (RemoteProcess remote : views()) {
            remote.withdraw(queue);
        }
    }

    /** Returns the number of views of other processes, for tests. */
    public int count() {
        synchronized (remotes) {
            return remotes.size();
        }
    }
}
