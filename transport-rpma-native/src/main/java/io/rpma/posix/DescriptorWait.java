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

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * The wait of one thread for one descriptor. All waits of the process share one thread, which blocks in {@code epoll_wait(2)} and
 * unparks the threads whose descriptors are ready. A wait can therefore be interrupted, and a virtual thread that waits does not
 * pin its carrier.
 */
public final class DescriptorWait implements AutoCloseable {
    private static final ConcurrentHashMap<Integer, DescriptorWait> WAITS = new ConcurrentHashMap<>();

    /** Started with the first wait. */
    private static final class Watcher {
        private static final Epoll EPOLL = new Epoll();

        static {
            Thread.ofPlatform().daemon().name("rpma-wait").start(() -> EPOLL.run(fd -> {
                DescriptorWait wait = WAITS.get(fd);
                if (wait != null) {
                    wait.wake();
                }
            }));
        }
    }

    private final int fd;
    private final Thread thread = Thread.currentThread();
    private volatile boolean ready;
    private boolean watched;

    private DescriptorWait(int fd) {
        this.fd = fd;
    }

    /**
     * Begins to wait. Called by the thread that is going to wait.
     *
     * @param fd the descriptor
     * @throws IllegalStateException if another thread waits for it
     */
    public static DescriptorWait begin(int fd) {
        DescriptorWait wait = new DescriptorWait(fd);
        DescriptorWait other = WAITS.putIfAbsent(fd, wait);
        if (other != null) {
            throw new IllegalStateException("another thread (" + other.thread.getName() + ") is already waiting for this"
                + " descriptor: only one thread at a time may wait for it");
        }
        return wait;
    }

    /**
     * Wakes the thread that waits for a descriptor which is about to be closed, so that it looks again and finds it closed.
     *
     * @param fd the descriptor, which is still open
     */
    public static void closing(int fd) {
        DescriptorWait wait = WAITS.remove(fd);
        if (wait != null) {
            Watcher.EPOLL.remove(fd);
            wait.wake();
        }
    }

    private void wake() {
        ready = true;
        LockSupport.unpark(thread);
    }

    /**
     * Watches the descriptor from now on. The caller then looks for its event once more, because it may have arrived before, and
     * calls {@link #await} if there is none.
     *
     * @return 0, or {@code -errno}
     */
    public int arm() {
        ready = false;
        int result = watched ? Watcher.EPOLL.again(fd) : Watcher.EPOLL.add(fd);
        watched = true;
        return result;
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
        if (WAITS.remove(fd, this) && watched) {
            Watcher.EPOLL.remove(fd);
        }
    }
}
