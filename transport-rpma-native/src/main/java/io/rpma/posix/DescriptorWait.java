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

package io.rpma.posix;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The wait of one thread for one descriptor. All waits of the process share one thread, which blocks in {@code epoll_wait(2)} and
 * unparks the threads whose descriptors are ready. A wait can therefore be interrupted, and a virtual thread that waits does not
 * pin its carrier.
 *
 * <p>The waiting thread uses the object behind the descriptor only within {@link #look}. A thread that closes the object first
 * marks it as closed and then calls {@link #closing}, which returns when no look is in progress. The monitor of the map orders
 * the two: either {@code closing} finds the wait, or the look finds the object closed.
 */
public final class DescriptorWait implements AutoCloseable {
    // Its monitor also guards "watcher", "watched" and "ended", and makes every change of the watched descriptors a single step.
    private static final Map<Integer, DescriptorWait> WAITS = new HashMap<>();
    // null until the first wait, and after a failure of the thread: then the next wait starts it again.
    private static Epoll watcher;

    private final int fd;
    private final Thread thread = Thread.currentThread();
    private final ReentrantLock looking = new ReentrantLock();
    private volatile boolean ready;
    private boolean watched;
    private boolean ended;

    private DescriptorWait(int fd) {
        this.fd = fd;
    }

    /** Takes an event without waiting. */
    public interface Look<T, E extends Exception> {
        /** Returns the event, or {@code null} if there is none. */
        T look() throws E;
    }

    /**
     * Begins to wait. Called by the thread that is going to wait, before it looks for an event.
     *
     * @param fd the descriptor
     * @throws IllegalStateException if another thread waits for it
     */
    public static DescriptorWait begin(int fd) {
        DescriptorWait wait = new DescriptorWait(fd);
        DescriptorWait other;
        synchronized (WAITS) {
            other = WAITS.putIfAbsent(fd, wait);
        }
        if (other != null) {
            throw new IllegalStateException("another thread (" + other.thread.getName() + ") is already waiting for this"
                + " descriptor: only one thread at a time may wait for it");
        }
        return wait;
    }

    /**
     * Wakes the thread that waits for a descriptor which is about to be closed, so that it looks again and finds it closed, and
     * returns when a look in progress has ended. The caller must not hold a lock that a look acquires. A look may call this
     * method for its own descriptor.
     *
     * @param fd the descriptor, which is still open; its object is already marked as closed
     */
    public static void closing(int fd) {
        DescriptorWait wait = take(fd);
        if (wait != null) {
            wait.looking.lock();
            wait.looking.unlock();
        }
    }

    /**
     * Does what {@link #closing} does, but returns at once. It is for objects that a look can use while they are being closed,
     * because a lock protects them.
     *
     * @param fd the descriptor, which is still open
     */
    public static void end(int fd) {
        take(fd);
    }

    private static DescriptorWait take(int fd) {
        synchronized (WAITS) {
            DescriptorWait wait = WAITS.remove(fd);
            if (wait != null) {
                wait.ended = true;
                wait.unwatch();
                wait.wake();
            }
            return wait;
        }
    }

    private void unwatch() {
        if (watched && watcher != null) {
            watcher.remove(fd);
        }
    }

    private void wake() {
        ready = true;
        LockSupport.unpark(thread);
    }

    /**
     * Looks for an event. The object behind the descriptor is not released meanwhile.
     *
     * @param look takes the event
     * @return what it returns
     */
    public <T, E extends Exception> T look(Look<T, E> look) throws E {
        looking.lock();
        try {
            return look.look();
        } finally {
            looking.unlock();
        }
    }

    /**
     * Watches the descriptor from now on. The caller then looks for its event once more, because it may have arrived before, and
     * calls {@link #await} if there is none.
     *
     * @return 0, or {@code -errno}; a later call may succeed
     */
    public int arm() {
        synchronized (WAITS) {
            // After the end of the wait, the number may be that of another descriptor, which must not be watched.
            ready = ended;
            if (ended) {
                return 0;
            }
            int result = watcher == null ? start() : 0;
            if (result == 0) {
                result = watcher.watch(fd, watched);
                watched = true;
            }
            return result;
        }
    }

    private static int start() {
        int set = Epoll.create();
        if (set < 0) {
            return set;
        }
        Epoll created = new Epoll(set);
        try {
            Thread.ofPlatform().daemon().name("rpma-wait").start(() -> run(created));
        } catch (OutOfMemoryError e) {
            // The process has too little memory or too many threads for another one.
            Posix.close(set);
            return -Posix.EAGAIN;
        }
        watcher = created;
        return 0;
    }

    private static void run(Epoll set) {
        try {
            set.run(DescriptorWait::readable);
        } finally {
            // Only an exception ends the loop; the JVM prints it. Let all threads look and arm again, which starts another loop.
            // The set stays open: its number may be that of another descriptor by now.
            synchronized (WAITS) {
                watcher = null;
                WAITS.values().forEach(DescriptorWait::wake);
            }
        }
    }

    private static void readable(int fd) {
        synchronized (WAITS) {
            DescriptorWait wait = WAITS.get(fd);
            if (wait != null) {
                wait.wake();
            }
        }
    }

    /**
     * Waits until the descriptor is readable, or is closed.
     *
     * @param nanos how long to wait at most
     * @return whether the caller has to look again
     */
    public boolean await(long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; !ready; left = end - System.nanoTime()) {
            if (left <= 0) {
                return false;
            }
            LockSupport.parkNanos(this, left);
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while waiting for an event");
            }
        }
        return true;
    }

    @Override
    public void close() {
        synchronized (WAITS) {
            if (WAITS.remove(fd, this)) {
                unwatch();
            }
        }
    }
}
