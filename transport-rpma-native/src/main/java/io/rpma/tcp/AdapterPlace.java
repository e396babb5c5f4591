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

import java.util.concurrent.atomic.AtomicBoolean;

/** The {@link Adapter}'s record of a connection. Any thread may call its methods. */
final class AdapterPlace {
    /** The value of {@link #unwatched} while there is no such socket. */
    static final int NO_SOCKET = -1;

    final Drivable pair;
    private final AtomicBoolean listed = new AtomicBoolean();
    // The connection that was to be listed before this one; written by the thread that enters this one.
    AdapterPlace next;
    // Written before any other thread knows the connection.
    long id;
    // Whether the socket is in the adapter's epoll set; used by the holder of the queue pair.
    boolean watched;
    // The socket that could not be added to the set, or NO_SOCKET. The holder of the queue pair writes it.
    volatile int unwatched = NO_SOCKET;
    // Used only by the adapter's thread.
    boolean mine;
    long seenDrives;
    int idle;

    AdapterPlace(Drivable pair) {
        this.pair = pair;
    }

    boolean isListed() {
        return listed.get();
    }

    /**
     * Notes that the connection is on the list, or about to be added. Returns whether it was not, so that the caller has to
     * add it: the holder of the queue pair and the adapter's thread may both be about to do so.
     */
    boolean enter() {
        return !listed.get() && listed.compareAndSet(false, true);
    }

    /** Notes that the connection is not on the list any more. */
    void leave() {
        listed.set(false);
    }
}
