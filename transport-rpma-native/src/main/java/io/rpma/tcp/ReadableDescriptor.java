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

import io.rpma.posix.Posix;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A descriptor that is always readable. Alarms share it, so that an alarm costs one descriptor, but only a few of them: the
 * kernel refuses a descriptor in more than 500 epoll sets that are themselves in other sets, as those of event loops ({@code
 * path_limits} in its {@code fs/eventpoll.c}; the number is smaller if there are further sets around these).
 */
final class ReadableDescriptor {
    /** The number of alarms that share a descriptor at most. */
    static final int MOST_USERS = 32;

    // Those that have room for another alarm. One without users stays, so that not every connection creates one. Guarded by the
    // lock of the class, like the counts.
    private static final Deque<ReadableDescriptor> WITH_ROOM = new ArrayDeque<>();

    private final int fd;
    private int users;

    private ReadableDescriptor(int fd) {
        this.fd = fd;
    }

    /** Returns a descriptor for another alarm, which must be released; {@code -errno} as its number if it cannot be created. */
    static synchronized ReadableDescriptor take() {
        ReadableDescriptor taken = WITH_ROOM.peekFirst();
        if (taken == null) {
            taken = new ReadableDescriptor(Posix.eventfd(1));
            if (taken.fd < 0) {
                return taken;
            }
            WITH_ROOM.addFirst(taken);
        }
        if (++taken.users == MOST_USERS) {
            WITH_ROOM.removeFirst();
        }
        return taken;
    }

    int fd() {
        return fd;
    }

    /** Releases the descriptor that an alarm has taken. */
    void release() {
        synchronized (ReadableDescriptor.class) {
            if (users-- == MOST_USERS) {
                WITH_ROOM.addLast(this);
            }
            if (users == 0 && WITH_ROOM.size() > 1) {
                WITH_ROOM.remove(this);
                Posix.close(fd);
            }
        }
    }
}
