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
import io.rpma.posix.DescriptorWait;
import io.rpma.posix.EpollSet;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.software.OpenFileLimit;
import java.util.HashSet;
import java.util.Set;

/**
 * A descriptor that is readable while the alarm is raised or while a watched socket is readable: an epoll set. The alarm is
 * raised by adding a {@link ReadableDescriptor}. Only adding wakes an event loop that watches the set for edges: a descriptor
 * that stays in the set, and whose events are turned on, does not. If the kernel refuses to add it for lack of resources, the
 * adapter's thread tries again every 100 ms. The set is created when it is first requested. An event loop needs none: it has a
 * task run when the alarm is raised. Guarded by its own lock, which is held for a few system calls that do not block, and while
 * the task runs.
 */
final class Alarm {
    private static final long READABLE_DATA = -1;
    private static final int NONE = -1;
    /** The number of events that {@link #mayHaveData} looks at: that of the alarm itself, and that of a socket. */
    static final int EVENTS = 2;
    private static final String FAILED = "a descriptor for events cannot be created";

    private int set = NONE;
    // Exists as long as the set.
    private ReadableDescriptor readable;
    private int socket = NONE;
    // The watched sockets that could not be added to the set; null if there are none.
    private Set<Integer> missing;
    private boolean raised;
    // Whether the readable descriptor is in the set, and whether the adapter's thread tries again to add it.
    private boolean isAdded;
    private boolean retries;
    // Run when the alarm is raised; null if there is none.
    private Runnable task;
    private boolean closed;

    /**
     * Returns the descriptor.
     *
     * @throws IllegalStateException if it cannot be created
     */
    synchronized int fd() {
        int result = create();
        if (result < 0) {
            throw new IllegalStateException(OpenFileLimit.text(-result, FAILED));
        }
        return set;
    }

    /** Creates the descriptor if there is none. Returns 0, or {@code -errno}; the next call then tries again. */
    synchronized int create() {
        if (set == NONE && !closed) {
            ReadableDescriptor taken = ReadableDescriptor.take();
            if (taken.fd() < 0) {
                return taken.fd();
            }
            int made = createSet(taken);
            if (made < 0) {
                taken.release();
                return made;
            }
            readable = taken;
            set = made;
        }
        return 0;
    }

    private int createSet(ReadableDescriptor with) {
        int made = Sockets.epollCreate();
        if (made < 0) {
            return made;
        }
        int result = raised ? EpollSet.add(made, with.fd(), EpollSet.IN, READABLE_DATA) : 0;
        isAdded = raised && result == 0;
        if (result == 0 && socket != NONE) {
            result = EpollSet.add(made, socket, EpollSet.IN, socket);
        }
        if (result < 0) {
            Posix.close(made);
            return result;
        }
        return made;
    }

    /** Creates the descriptor now, so that a lack of resources is reported here. */
    synchronized Alarm made() throws RpmaException {
        int result = create();
        if (result < 0) {
            throw OpenFiles.failure(-result, FAILED);
        }
        return this;
    }

    /**
     * Makes the descriptor readable while a socket is.
     *
     * @return 0, or {@code -errno} if the socket cannot be added
     */
    synchronized int watch(int fd) {
        socket = fd;
        return set != NONE && !closed ? insert(fd, fd) : 0;
    }

    private int insert(int fd, long data) {
        int result = EpollSet.add(set, fd, EpollSet.IN, data);
        if (result < 0) {
            if (missing == null) {
                missing = new HashSet<>();
            }
            missing.add(fd);
        }
        return result;
    }

    private void delete(int fd) {
        EpollSet.remove(set, fd);
        if (missing != null && missing.remove(fd) && missing.isEmpty()) {
            missing = null;
        }
    }

    /** Stops watching the socket. */
    synchronized void unwatch() {
        if (socket != NONE && set != NONE && !closed) {
            delete(socket);
        }
        socket = NONE;
    }

    /**
     * Returns whether a watched socket may be readable. This costs less than an attempt to read: it takes no lock of the
     * socket, which the kernel needs in order to deliver data.
     *
     * @param events memory for {@link #EVENTS} events
     */
    synchronized boolean mayHaveData(long events) {
        if (set == NONE || closed || missing != null) {
            return true;
        }
        int count = EpollSet.await(set, events, EVENTS, 0);
        for (int i = 0; i < count; i++) {
            if (!isOwn(EpollSet.data(events, i))) {
                return true;
            }
        }
        return count < 0;
    }

    /**
     * Adds one of many sockets. The descriptor exists already.
     *
     * @return 0, or {@code -errno} if the socket cannot be added
     */
    synchronized int add(int fd, long data) {
        return closed ? 0 : insert(fd, data);
    }

    /** Removes one of many sockets. */
    synchronized void remove(int fd) {
        if (!closed && set != NONE) {
            delete(fd);
        }
    }

    /** Has a task run whenever the alarm is raised, and now if it is. The task replaces an earlier one. It must not block. */
    synchronized void run(Runnable onRaise) {
        task = onRaise;
        if (raised && !closed) {
            onRaise.run();
        }
    }

    synchronized void raise() {
        if (!raised && !closed) {
            raised = true;
            if (task != null) {
                task.run();
            }
            if (set != NONE) {
                addReadable();
            }
        }
    }

    private void addReadable() {
        int result = EpollSet.add(set, readable.fd(), EpollSet.IN, READABLE_DATA);
        isAdded = result == 0;
        if (result < 0 && !retries) {
            // Otherwise nothing would wake the thread that waits for the event.
            retries = true;
            Adapter.instance().warnOnce(-result);
            Adapter.instance().add((Adapter.Expiring) now -> endsRetries());
        }
    }

    /** Tries again to add the readable descriptor. Returns whether that has succeeded, or is not necessary any more. */
    private synchronized boolean endsRetries() {
        if (raised && !isAdded && !closed) {
            addReadable();
        }
        retries = raised && !isAdded && !closed;
        return !retries;
    }

    synchronized void clear() {
        if (raised && !closed) {
            raised = false;
            if (isAdded) {
                isAdded = false;
                EpollSet.remove(set, readable.fd());
            }
        }
    }

    /** Called when its object is marked as closed: ends a wait for the descriptor, as {@link DescriptorWait#closing} does. */
    void closing() {
        int fd = descriptor();
        if (fd != NONE) {
            DescriptorWait.closing(fd);
        }
    }

    private synchronized int descriptor() {
        return set;
    }

    synchronized void close() {
        if (!closed) {
            closed = true;
            if (set != NONE) {
                DescriptorWait.end(set);
                Posix.close(set);
                readable.release();
            }
        }
    }

    /** Returns whether the data of an event is that of the alarm itself. */
    static boolean isOwn(long data) {
        return data == READABLE_DATA;
    }
}
