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

import io.rpma.RpmaException;
import io.rpma.posix.EpollSet;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.software.OpenFileLimit;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The single thread that serves all connections. For those whose owner does not drive them it does the work of a network
 * adapter: it executes the one-sided operations of peers, acknowledges, and continues to send when a socket has room again. It
 * also greets the clients of listeners.
 *
 * <p>It does not drive a connection while its owner does. When a connection is new, or data arrives on an idle one, the owner
 * gets the first chance: the connection is put on a list that is checked every few milliseconds. If the owner has not driven the
 * connection by then, this thread does, and from then on drives it as soon as its socket is ready, until the owner drives it
 * again. An idle connection is removed from the list; its socket then wakes this thread once, with the next byte. While the list
 * is empty, the thread blocks.
 */
final class Adapter {
    private static final int EVENTS = 64;
    private static final int SHORTEST_TICK = 1;
    private static final int LONGEST_TICK = 8;
    private static final int IDLE_TICKS = 2;
    private static final int CLIENT_TICK = 100;
    /** How long the thread looks for new connections by itself after the list has become empty. */
    private static final long PATIENCE_NANOS = 8_000_000L;
    private static final long WAKE = -1;

    // Null until start() has succeeded; guarded by the lock of the class.
    private static Adapter started;

    private final int set;
    private final int wake;
    private final long events = Arena.global().allocate((long) EVENTS * EpollSet.EVENT_BYTES, 8).address();
    private final ConcurrentHashMap<Long, Object> watched = new ConcurrentHashMap<>();
    private final AtomicInteger nextId = new AtomicInteger();
    private final AtomicReference<AdapterPlace> incoming = new AtomicReference<>();
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final List<AdapterPlace> listed = new ArrayList<>();
    private final List<Acceptor> acceptors = new ArrayList<>();
    private final Set<Expiring> expiring = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean warned = new AtomicBoolean();
    // Whether the thread wakes up by itself to look for deadlines, at least once more. It goes on for a while after the last one,
    // so that a client that makes one connection after the other need not wake the thread for each.
    private volatile boolean ticking;
    private long nextExpiry;
    private volatile boolean sleeping;
    // Whether the thread looks at "incoming" within LONGEST_TICK, even if nothing wakes it. It goes on to do so for a while after
    // the list has become empty, so that short connections that follow each other need not wake the thread for each.
    private volatile boolean soon;
    private long emptySince = System.nanoTime() - PATIENCE_NANOS;
    // Whether a connection on the list may have been marked as hurried since the thread began to look at these marks.
    private volatile boolean marked;
    private int tick = SHORTEST_TICK;
    // Whether a connection has more work to be done at once.
    private boolean hurry;
    private long nextTick;

    /** Used after {@link #start()}, so that its initialization cannot fail; the JIT compiler treats the field as a constant. */
    private static final class Holder {
        static final Adapter INSTANCE = started();
    }

    private Adapter(int set, int wake) {
        this.set = set;
        this.wake = wake;
        Thread.ofPlatform().daemon().name("rpma-tcp").start(this::run);
    }

    /**
     * Starts the thread, unless it runs already. Called before each listener and each connection of a client is created.
     *
     * @throws RpmaException if there are no file descriptors left, or no room in epoll sets; a later call may succeed
     */
    static synchronized void start() throws RpmaException {
        if (started != null) {
            return;
        }
        int set = Sockets.epollCreate();
        int wake = set < 0 ? set : Posix.eventfd(0);
        int result = wake < 0 ? wake : EpollSet.add(set, wake, EpollSet.IN, WAKE);
        try {
            if (result < 0) {
                throw OpenFiles.failure(-result, "software RDMA over TCP cannot start");
            }
            started = new Adapter(set, wake);
        } finally {
            if (started == null) {
                close(set);
                close(wake);
            }
        }
    }

    private static void close(int fd) {
        if (fd >= 0) {
            Posix.close(fd);
        }
    }

    private static synchronized Adapter started() {
        return started;
    }

    /** Returns the adapter, after {@link #start()}. */
    static Adapter instance() {
        return Holder.INSTANCE;
    }

    // ---- called by any thread

    /**
     * Watches a new connection. It begins on the list, and its socket is watched when it is idle for the first time: a short
     * connection does not wake the thread.
     */
    void add(AdapterPlace place) {
        place.id = nextId.incrementAndGet() & 0xffff_ffffL;
        watched.put(place.id, place);
        enlist(place);
        if (!soon) {
            wakeUp();
        }
    }

    /** Removes a connection whose socket is about to be closed. */
    void remove(AdapterPlace place) {
        watched.remove(place.id);
    }

    /** Puts a connection on the list, so that the adapter's thread checks it soon; at once if it is marked as hurried. */
    void look(AdapterPlace place) {
        if (!enlist(place)) {
            marked = true;
        }
        wakeUp();
    }

    /** Has the adapter's thread add a connection to the list. Returns whether it was not on it. */
    private boolean enlist(AdapterPlace place) {
        if (!place.enter()) {
            return false;
        }
        AdapterPlace head;
        do {
            head = incoming.get();
            place.next = head;
        } while (!incoming.compareAndSet(head, place));
        return true;
    }

    /**
     * Arms the socket of a connection, which is open, to wake the adapter's thread once more. If it cannot be added to the epoll
     * set, the connection stays on the list.
     *
     * @param events what wakes it, of the events of {@link EpollSet}; errors and the end of both directions do so in any case
     */
    void arm(AdapterPlace place, int socket, int events) {
        if (place.watched) {
            EpollSet.modify(set, socket, EpollSet.ONCE | events, place.id);
            return;
        }
        int result = EpollSet.add(set, socket, EpollSet.ONCE | events, place.id);
        place.watched = result == 0;
        place.unwatched = result == 0 ? AdapterPlace.NO_SOCKET : socket;
        if (result < 0) {
            warnOnce(-result);
            // If the adapter's thread is just removing the connection from the list, it arms the socket after that.
            if (enlist(place)) {
                wakeUp();
            }
        }
    }

    /** Reports that a socket cannot be added to an epoll set. Its connection works, but this thread has to look for its data. */
    void warnOnce(int errno) {
        if (!warned.getAndSet(true)) {
            // A log of the application may throw, which would end the connection if the thread that drives it called the log.
            execute(() -> TcpLog.warn("a thread looks for the data of some connections every " + LONGEST_TICK + " ms: "
                + OpenFileLimit.text(errno, "a socket cannot be watched")));
        }
    }

    /** Runs something on the adapter's thread. */
    void execute(Runnable task) {
        tasks.add(task);
        wakeUp();
    }

    private void wakeUp() {
        if (sleeping) {
            sleeping = false;
            Posix.signalEvent(wake);
        }
    }

    // ---- for clients and shared receive queues

    /** Something with a deadline: a connection whose listener has to answer, or the messages that hold shared receives. */
    interface Expiring {
        /**
         * Checks the deadline. Called by the adapter's thread.
         *
         * @param now the time in terms of {@link System#nanoTime}
         * @return whether it need not be watched any more
         */
        boolean expire(long now);
    }

    /** Watches a deadline until it need not be watched, or until {@link #remove(Expiring)}. It is checked every 100 ms. */
    void add(Expiring deadline) {
        // Added before "ticking" is read; the adapter's thread clears "ticking" before it reads the set.
        expiring.add(deadline);
        checkDeadlines();
    }

    /** Forgets a deadline. The adapter's thread may check it once more. */
    void remove(Expiring deadline) {
        expiring.remove(deadline);
    }

    // ---- for listeners

    /**
     * Watches the clients of a listener until {@link #remove(Acceptor)}.
     *
     * @throws RpmaException if they cannot be watched
     */
    void add(Acceptor acceptor) throws RpmaException {
        acceptor.id = nextId.incrementAndGet() & 0xffff_ffffL;
        watched.put(acceptor.id, acceptor);
        int result = EpollSet.add(set, acceptor.set(), EpollSet.IN, acceptor.id);
        if (result < 0) {
            watched.remove(acceptor.id);
            throw OpenFiles.failure(-result, "the clients of a listener cannot be watched");
        }
        execute(() -> acceptors.add(acceptor));
    }

    /**
     * Has the thread check the deadlines of all clients soon, and decide then when it does so next. Called after another thread
     * has added a client to an acceptor.
     */
    void checkDeadlines() {
        if (!ticking) {
            ticking = true;
            wakeUp();
        }
    }

    /** Removes a listener whose descriptors have been closed. */
    void remove(Acceptor acceptor) {
        watched.remove(acceptor.id);
        execute(() -> acceptors.remove(acceptor));
    }

    // ---- the thread

    private void run() {
        while (true) {
            try {
                turn();
            } catch (RuntimeException | Error e) {
                failed(e);
            }
        }
    }

    private static void failed(Throwable cause) {
        try {
            TcpLog.warn("the thread of software RDMA over TCP failed and continues: " + cause);
        } catch (RuntimeException | Error e) {
            // The log itself fails, so this cannot be reported. The other connections still need this thread.
            cause.addSuppressed(e);
        }
    }

    private void turn() {
        // Set before timeout() reads "incoming", "tasks" and "marked". A thread that changes one of these reads "sleeping"
        // afterwards: either timeout() finds the change or that thread writes to the descriptor "wake".
        sleeping = true;
        soon = !listed.isEmpty() || System.nanoTime() - emptySince < PATIENCE_NANOS;
        int timeout = timeout();
        int count = EpollSet.await(set, events, EVENTS, timeout);
        sleeping = false;
        for (int i = 0; i < count; i++) {
            long id = EpollSet.data(events, i);
            if (id == WAKE) {
                Posix.clearEvent(wake);
                continue;
            }
            try {
                ready(id, EpollSet.events(events, i));
            } catch (RuntimeException | Error e) {
                // The other sockets have been disarmed, and would not wake this thread again.
                failed(e);
            }
        }
        Runnable task = tasks.poll();
        while (task != null) {
            task.run();
            task = tasks.poll();
        }
        takeIncoming();
        long now = System.nanoTime();
        if (!listed.isEmpty() && now - nextTick >= 0) {
            tick();
            nextTick = System.nanoTime() + tick * 1_000_000L;
        }
        for (int i = acceptors.size() - 1; i >= 0; i--) {
            acceptors.get(i).expire(now);
        }
        if (ticking && now - nextExpiry >= 0) {
            nextExpiry = now + CLIENT_TICK * 1_000_000L;
            ticking = false;
            if (!expiring.isEmpty()) {
                ticking = true;
                expiring.removeIf(deadline -> deadline.expire(now));
            }
        }
    }

    private int timeout() {
        if (hurry || marked || incoming.get() != null || !tasks.isEmpty()) {
            return 0;
        }
        if (!listed.isEmpty()) {
            return tick;
        }
        if (soon) {
            return LONGEST_TICK;
        }
        if (ticking) {
            return CLIENT_TICK;
        }
        for (Acceptor acceptor : acceptors) {
            if (acceptor.hasDeadline()) {
                return CLIENT_TICK;
            }
        }
        return -1;
    }

    private void ready(long id, int occurred) {
        switch (watched.get(id)) {
            case AdapterPlace place -> ready(place, occurred);
            case Acceptor acceptor -> acceptor.ready();
            case null, default -> { }
        }
    }

    /** Handles a socket that is readable, has room or has come to its end. */
    private void ready(AdapterPlace place, int occurred) {
        if ((occurred & EpollSet.ANY_END) != 0) {
            place.pair.kick(Drivable.HUNG_UP);
        }
        boolean room = place.pair.isBlocked();
        if (place.mine || room) {
            place.pair.kick(Drivable.RECEIVE | Drivable.ACKNOWLEDGE | Drivable.ARM);
        }
        if (place.enter()) {
            list(place);
        }
    }

    private void list(AdapterPlace place) {
        if (listed.isEmpty()) {
            tick = SHORTEST_TICK;
            nextTick = System.nanoTime() + tick * 1_000_000L;
        }
        place.idle = 0;
        place.seenDrives = place.pair.drives();
        listed.add(place);
    }

    private void takeIncoming() {
        hurry = false;
        marked = false;
        AdapterPlace place = incoming.getAndSet(null);
        while (place != null) {
            AdapterPlace next = place.next;
            place.next = null;
            list(place);
            place = next;
        }
        for (int i = 0; i < listed.size(); i++) {
            Drivable pair = listed.get(i).pair;
            if (pair.takeHurry()) {
                pair.kick(Drivable.RECEIVE | Drivable.SEND);
                hurry |= pair.isHurried();
            }
        }
    }

    private void tick() {
        boolean needed = false;
        for (int i = listed.size() - 1; i >= 0; i--) {
            AdapterPlace place = listed.get(i);
            Drivable pair = place.pair;
            if (pair.isStopped()) {
                unlist(i);
                continue;
            }
            long drives = pair.drives();
            if (drives != place.seenDrives) {
                place.seenDrives = drives;
                place.idle = 0;
                place.mine = false;
                continue;
            }
            long before = pair.work();
            pair.kick(Drivable.RECEIVE | Drivable.ACKNOWLEDGE);
            if (pair.work() != before) {
                needed = true;
                place.idle = 0;
                place.mine = true;
                pair.kick(Drivable.ARM);
            } else if (++place.idle >= IDLE_TICKS && place.unwatched != AdapterPlace.NO_SOCKET) {
                check(place);
            } else if (place.idle >= IDLE_TICKS) {
                unlist(i);
                place.leave();
                // Send an acknowledgement that is pending now, and do what a drive has left over. A thread that leaves one of
                // these later finds the connection not on the list and adds it, because it has left the list first.
                pair.kick(Drivable.ACKNOWLEDGE | Drivable.ARM | (pair.takeHurry() ? Drivable.RECEIVE : 0));
            }
        }
        tick = needed ? SHORTEST_TICK : Math.min(LONGEST_TICK, tick * 2);
    }

    /** Checks a connection that stays on the list: whether it has come to its end, and whether its socket can be watched now. */
    private static void check(AdapterPlace place) {
        place.idle = 0;
        // If another thread closes the socket meanwhile, the queue pair is closed too, and ignores what is found here.
        int occurred = Sockets.poll(place.unwatched, (short) EpollSet.READ_END, 0);
        boolean ended = occurred > 0 && (occurred & EpollSet.ANY_END) != 0;
        place.pair.kick(Drivable.ACKNOWLEDGE | Drivable.ARM | (ended ? Drivable.HUNG_UP : 0));
    }

    private void unlist(int index) {
        int last = listed.size() - 1;
        listed.set(index, listed.get(last));
        listed.remove(last);
        if (last == 0) {
            emptySince = System.nanoTime();
        }
    }
}
