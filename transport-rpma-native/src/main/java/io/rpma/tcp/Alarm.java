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

/**
 * A descriptor that is readable while the alarm is raised or while a watched socket is readable: an epoll set. The alarm is
 * raised by adding a descriptor that is always readable; the whole process shares it, so that an alarm costs one descriptor.
 * The set is created when it is first requested. Guarded by its own lock, which is held for a few system calls that do not block.
 */
final class Alarm {
    private static final long BEACON_DATA = -1;
    private static final int NONE = -1;
    /** The number of events that {@link #mayHaveData} looks at: that of the alarm itself, and that of a socket. */
    static final int EVENTS = 2;
    private static final String FAILED = "a descriptor for events cannot be created";

    // The descriptor that is always readable. It is created, under the lock of the class, before the set of the first alarm, so
    // every alarm that has a set finds it.
    private static int beacon = NONE;

    private int set = NONE;
    private int socket = NONE;
    private boolean raised;
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

    /** Creates the descriptor that raises alarms if there is none. Returns 0, or {@code -errno}. */
    private static synchronized int createBeacon() {
        if (beacon == NONE) {
            int made = Posix.eventfd(1);
            if (made < 0) {
                return made;
            }
            beacon = made;
        }
        return 0;
    }

    /** Creates the descriptor if there is none. Returns 0, or {@code -errno}; the next call then tries again. */
    synchronized int create() {
        if (set == NONE && !closed) {
            int result = createBeacon();
            if (result < 0) {
                return result;
            }
            int made = Sockets.epollCreate();
            if (made < 0) {
                return made;
            }
            set = made;
            if (socket != NONE) {
                EpollSet.add(set, socket, EpollSet.IN, socket);
            }
            if (raised) {
                EpollSet.add(set, beacon, EpollSet.IN, BEACON_DATA);
            }
        }
        return 0;
    }

    /** Creates the descriptor now, so that a lack of resources is reported here. */
    synchronized Alarm made() throws RpmaException {
        int result = create();
        if (result < 0) {
            throw OpenFiles.failure(-result, FAILED);
        }
        return this;
    }

    /** Makes the descriptor readable while a socket is. */
    synchronized void watch(int fd) {
        socket = fd;
        if (set != NONE && !closed) {
            EpollSet.add(set, fd, EpollSet.IN, fd);
        }
    }

    /** Stops watching the socket. */
    synchronized void unwatch() {
        if (socket != NONE && set != NONE && !closed) {
            EpollSet.remove(set, socket);
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
        if (set == NONE || closed) {
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

    /** Adds one of many sockets. */
    synchronized void add(int fd, long data) {
        if (!closed) {
            EpollSet.add(fd(), fd, EpollSet.IN, data);
        }
    }

    /** Removes one of many sockets. */
    synchronized void remove(int fd) {
        if (!closed && set != NONE) {
            EpollSet.remove(set, fd);
        }
    }

    synchronized void raise() {
        if (!raised && !closed) {
            raised = true;
            if (set != NONE) {
                EpollSet.add(set, beacon, EpollSet.IN, BEACON_DATA);
            }
        }
    }

    synchronized void clear() {
        if (raised && !closed) {
            raised = false;
            if (set != NONE) {
                EpollSet.remove(set, beacon);
            }
        }
    }

    synchronized void close() {
        if (!closed) {
            closed = true;
            if (set != NONE) {
                DescriptorWait.end(set);
                Posix.close(set);
            }
        }
    }

    /** Returns whether the data of an event is that of the alarm itself. */
    static boolean isOwn(long data) {
        return data == BEACON_DATA;
    }
}
