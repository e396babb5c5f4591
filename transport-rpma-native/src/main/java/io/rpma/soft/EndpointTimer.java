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
package io.rpma.soft;

import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.soft.host.Libc;

/**
 * The timer of an endpoint ({@code timerfd_create(2)}), which makes the descriptor of the endpoint ready at the earliest of the
 * times that were set.
 *
 * <p>The monitor of the endpoint guards the fields. Every caller of a method has locked it.
 */
final class EndpointTimer {
    /** The delay after which the descriptor becomes ready again for clients that lacked a file descriptor. */
    private static final long SHORTAGE_NANOS = 1_000_000_000L;

    private final int fd;
    // The time at which the timer expires; valid only if it is set.
    private long deadline;
    private boolean set;
    // Whether an expiration was not read before the timer was set again, which has cleared it.
    private boolean overdue;

    /**
     * Takes over a descriptor.
     *
     * @param fd a timer that is not set
     */
    EndpointTimer(int fd) {
        this.fd = fd;
    }

    int fd() {
        return fd;
    }

    /**
     * Makes the descriptor ready at a time of {@code System.nanoTime()} at the latest. If the timer has expired and that has not
     * been read, it is set again: a thread that waits edge-triggered has been notified of that expiration, and is notified of
     * another one only. What had to be done at the earlier time is then {@link #isOverdue() overdue}.
     */
    void set(long latest) {
        long now = System.nanoTime();
        boolean unread = set && deadline - now <= 0;
        if (!set || unread || latest - deadline < 0) {
            set = true;
            overdue |= unread;
            deadline = latest;
            Libc.setTimer(fd, Math.max(1, latest - now));
        }
    }

    /** Returns whether {@link #expired()} has to be called although the timer may not be ready. */
    boolean isOverdue() {
        return overdue;
    }

    /** Makes the descriptor ready in a while, for clients that have to wait because this process lacks something. */
    void setForShortage(long now) {
        set(now + SHORTAGE_NANOS);
    }

    /** Called when the timer is ready or overdue: it is not set any more. */
    void expired() {
        Libc.read(fd, Scratch.get().messageAddress(), 8);
        set = false;
        overdue = false;
    }

    void close() {
        Posix.close(fd);
    }
}
