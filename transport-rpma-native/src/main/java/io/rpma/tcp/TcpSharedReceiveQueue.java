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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A shared receive queue. The descriptor of its completion queue is an epoll set of the sockets of its connections. The polling
 * thread drives only the connections whose sockets are readable, regardless of the number of connections.
 */
final class TcpSharedReceiveQueue implements SharedReceiveQueue, TcpCompletionQueue.Driven {
    private static final int EVENTS = 64;
    private static final int EBUSY = 16;
    /** The number of connections that one posted receive wakes at once: the first ones may have lost their peers. */
    private static final int WOKEN = 8;
    /** The time after which as many others are woken if there still is a receive, so that silent peers do not stop them. */
    private static final long NEXT_MILLIS = 20;
    /** How long a message may hold a receive while no other one is left and connections wait; see {@link MessageDeadline}. */
    static final long MESSAGE_MILLIS = 10_000;
    /** How often such messages are checked in that time. */
    private static final int CHECKS = 10;

    /** {@link #MESSAGE_MILLIS} of the queues that are created from now on. Only tests change it. */
    static volatile long millisOfNext = MESSAGE_MILLIS;

    private final ProtectionDomain domain;
    private final ReceiveStack receives;
    private final TcpCompletionQueue completions;
    private final MemorySegment events = Arena.ofAuto().allocate((long) EVENTS * EpollSet.EVENT_BYTES, 8);
    private final Queue<Waiter> starving = new ConcurrentLinkedQueue<>();
    // The queue pairs that take receives from here.
    private final Set<Member> attached = ConcurrentHashMap.newKeySet();
    private final long messageNanos = TimeUnit.MILLISECONDS.toNanos(millisOfNext);
    // Whether the adapter checks the messages that hold receives, and when it does next; the latter is used by its thread.
    private final AtomicBoolean checks = new AtomicBoolean();
    private long nextCheck = System.nanoTime();
    // Whether the adapter's thread will wake further connections.
    private final AtomicBoolean continues = new AtomicBoolean();
    // By the number in the epoll set. The array is replaced under the lock of this object.
    private volatile Member[] members = new Member[4];
    // The members whose sockets could not be added to the epoll set. The array is replaced in the same way.
    private volatile Member[] unwatched = {};
    // Used by the polling thread: members that may have had a pending acknowledgement at its last poll.
    private Member[] owing = new Member[8];
    private int owingCount;
    // The thread that has polled last, and how often this queue has been polled; see QueuePair.drive.
    private Thread poller;
    private long polls;
    private int users;
    private volatile boolean closed;

    /**
     * A queue pair that takes its receives from here. The thread that polls the shared receive queue drives it, and any thread
     * that posts a receive may wake it. {@link QueuePair} alone implements it.
     */
    interface Member {
        /**
         * Looks for completions on behalf of the thread that polls the shared receive queue.
         *
         * @param isPatient whether that thread polls again before it waits, so that an acknowledgement may stay pending
         */
        void driveAsMember(boolean isPatient);

        /**
         * Returns whether the peer waits for an acknowledgement that this thread can send. The result may be stale if another
         * thread drives.
         */
        boolean owesAcknowledgement();

        /** Sends the acknowledgement that is pending; if {@code isPatient}, not yet, unless it has been pending for long. */
        void acknowledge(boolean isPatient);

        /** Returns the last argument of {@link #setListed}. */
        boolean isListed();

        /** Notes whether this queue pair is on the list of those with a pending acknowledgement. */
        void setListed(boolean isListed);

        /** Ends the connection if a message of it has held a receive for too long. Called by the adapter's thread. */
        void checkMessage();

        /** Handles a receive posted to the shared receive queue. Returns whether this queue pair waited for one. */
        boolean wake();
    }

    /**
     * The entry of a queue pair on the list of those that wait for a receive. The thread that has taken it from there may wake
     * the queue pair much later, when that has another entry.
     */
    static final class Waiter {
        private final Member pair;
        private volatile boolean taken;

        private Waiter(Member pair) {
            this.pair = pair;
        }

        /** Returns whether this entry is not on the list any more, and its queue pair is about to be woken, or has been. */
        boolean isTaken() {
            return taken;
        }

        /** Wakes the queue pair. Called by the thread that has taken this entry from the list. */
        boolean wake() {
            // Before the queue pair is driven, which may have to enter it into the list again.
            taken = true;
            return pair.wake();
        }
    }

    TcpSharedReceiveQueue(ProtectionDomain domain, int slots, int completionSlots) throws RpmaException {
        this.domain = domain;
        receives = new ReceiveStack(slots);
        completions = completionSlots == 0 ? null
            : new TcpCompletionQueue(completionSlots, new Alarm().made(), false, null, this, null);
    }

    /** Returns the protection domain that the queue belongs to. */
    ProtectionDomain domain() {
        return domain;
    }

    ReceiveStack receives() {
        return receives;
    }

    boolean hasCompletions() {
        return completions != null;
    }

    TcpCompletionQueue completions() {
        return completions;
    }

    /** Adds a connection or a request to the use count. */
    synchronized void hold() throws RpmaException {
        if (closed) {
            throw TcpLog.failure(RpmaError.INVALID, "the shared receive queue is closed");
        }
        users++;
    }

    synchronized void release() {
        users--;
    }

    /**
     * Adds a connection that takes receives from here. If there is a completion queue, its descriptor can then watch the socket.
     *
     * @return its number in the epoll set, -1 if there is none
     */
    synchronized int join(Member pair) {
        attached.add(pair);
        if (completions == null) {
            return -1;
        }
        Member[] now = members;
        int free = 0;
        while (free < now.length && now[free] != null) {
            free++;
        }
        Member[] then = Arrays.copyOf(now, free < now.length ? now.length : now.length * 2);
        then[free] = pair;
        members = then;
        return free;
    }

    /** Removes a connection that takes no receives any more; a second call has no effect if it passes the number -1. */
    synchronized void leave(Member pair, int member, int socket) {
        attached.remove(pair);
        if (member < 0) {
            return;
        }
        Member[] then = members.clone();
        then[member] = null;
        members = then;
        unwatch(pair, socket);
    }

    /**
     * Has the descriptor of the completion queue watch the socket of a member. If it cannot, each poll drives the member.
     *
     * @return 0, or {@code -errno} if the socket cannot be watched
     */
    synchronized int watch(Member pair, int member, int socket) {
        int result = completions.alarm().add(socket, member);
        if (result < 0) {
            Member[] then = Arrays.copyOf(unwatched, unwatched.length + 1);
            then[unwatched.length] = pair;
            unwatched = then;
        }
        return result;
    }

    /** Stops watching the socket of a member. */
    synchronized void unwatch(Member pair, int socket) {
        completions.alarm().remove(socket);
        if (unwatched.length > 0) {
            unwatched = Arrays.stream(unwatched).filter(other -> other != pair).toArray(Member[]::new);
        }
    }

    /** Registers a connection to be woken by the next receive. Returns its entry. */
    Waiter starve(Member pair) {
        Waiter waiter = new Waiter(pair);
        starving.add(waiter);
        if (!checks.get() && checks.compareAndSet(false, true)) {
            // Another object each time: the one before may not have been removed yet.
            Adapter.instance().add((Adapter.Expiring) this::check);
        }
        return waiter;
    }

    /** Returns the time that a message may hold a receive. */
    long messageNanos() {
        return messageNanos;
    }

    /** Checks the messages that hold receives, if there are no others and connections wait. Returns whether none waits. */
    private boolean check(long now) {
        if (starving.isEmpty()) {
            // Cleared before the list is read again. A connection is added to the list first.
            checks.set(false);
            return starving.isEmpty() || !checks.compareAndSet(false, true);
        }
        if (receives.isEmpty() && now - nextCheck >= 0) {
            nextCheck = now + messageNanos / CHECKS;
            attached.forEach(Member::checkMessage);
        }
        return false;
    }

    /** Removes the entry of a connection that needs no receive any more, unless it has been taken. */
    void forget(Waiter waiter) {
        starving.remove(waiter);
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

    /**
     * Posts a receive again that a connection has taken and not used. Returns whether there was room for it. The adapter's thread
     * wakes the connections that wait: the calling thread may be parsing data that is in its {@link Batch}, which it would
     * overwrite if it drove them.
     */
    boolean giveBack(Receives.Taken taken) {
        if (!receives.giveBack(taken)) {
            return false;
        }
        if (!starving.isEmpty()) {
            Adapter.instance().execute(this::wakeStarving);
        }
        return true;
    }

    private void wakeStarving() {
        int woken = 0;
        Waiter waiter = starving.poll();
        while (waiter != null) {
            if (waiter.wake() && ++woken == WOKEN) {
                continueLater();
                return;
            }
            waiter = receives.isEmpty() ? null : starving.poll();
        }
    }

    private void continueLater() {
        if (!starving.isEmpty() && continues.compareAndSet(false, true)) {
            CompletableFuture.delayedExecutor(NEXT_MILLIS, TimeUnit.MILLISECONDS, Adapter.instance()::execute).execute(() -> {
                continues.set(false);
                if (!receives.isEmpty()) {
                    wakeStarving();
                }
            });
        }
    }

    /**
     * Drives the connections that have data, and those whose acknowledgement has been pending since the last call. A thread that
     * polls again before it waits leaves acknowledgements pending for some polls: another frame may carry them meanwhile, and one
     * acknowledgement is for all messages that have arrived.
     */
    @Override
    public void drive() {
        poller = Thread.currentThread();
        polls++;
        boolean isPatient = completions.isPatient();
        int before = owingCount;
        Member[] now = members;
        int count = EpollSet.await(completions.fd(), events.address(), EVENTS, 0);
        for (int i = 0; i < count; i++) {
            long data = EpollSet.data(events.address(), i);
            Member pair = Alarm.isOwn(data) || data >= now.length ? null : now[(int) data];
            if (pair != null) {
                drive(pair, isPatient);
            }
        }
        for (Member pair : unwatched) {
            drive(pair, isPatient);
        }
        acknowledge(before, isPatient);
    }

    private void drive(Member pair, boolean isPatient) {
        pair.driveAsMember(isPatient);
        if (pair.owesAcknowledgement()) {
            owes(pair);
        }
    }

    /** Handles the first members on the list of those with a pending acknowledgement, and removes those that have none left. */
    private void acknowledge(int before, boolean isPatient) {
        int kept = 0;
        int next = 0;
        try {
            for (; next < owingCount; next++) {
                Member pair = owing[next];
                if (next < before && pair.owesAcknowledgement()) {
                    pair.acknowledge(isPatient);
                }
                if (pair.owesAcknowledgement()) {
                    owing[kept++] = pair;
                } else {
                    pair.setListed(false);
                }
            }
        } finally {
            // If a log of the application has thrown an exception, the rest of the members stay on the list.
            int rest = owingCount - next;
            System.arraycopy(owing, next, owing, kept, rest);
            Arrays.fill(owing, kept + rest, owingCount, null);
            owingCount = kept + rest;
        }
    }

    /** Returns whether a thread was the last to poll this queue. A stale result is possible only for another thread. */
    boolean isPolledBy(Thread thread) {
        return poller == thread;
    }

    /** Returns how often this queue has been polled. Only for the thread that polls it. */
    long polls() {
        return polls;
    }

    private void owes(Member pair) {
        if (pair.isListed()) {
            return;
        }
        pair.setListed(true);
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
        domain.release();
    }

    @Override
    public boolean isQuiescent() {
        return closed;
    }
}
