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

    /** Makes the descriptor ready at a time of {@code System.nanoTime()} at the latest. */
    void set(long latest) {
        if (!set || latest - deadline < 0) {
            set = true;
            deadline = latest;
            Libc.setTimer(fd, Math.max(1, latest - System.nanoTime()));
        }
    }

    /** Makes the descriptor ready in a while, for clients that have to wait because this process lacks something. */
    void setForShortage(long now) {
        set(now + SHORTAGE_NANOS);
    }

    /** Called when the descriptor is ready: the timer is not set any more. */
    void expired() {
        Libc.read(fd, Scratch.get().messageAddress(), 8);
        set = false;
    }

    void close() {
        Posix.close(fd);
    }
}
