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

package io.rpma;

import io.rpma.posix.DescriptorWait;
import java.time.Duration;

import static io.rpma.posix.Posix.strerror;

/** Waits for events that a descriptor signals, for programs without an event loop. */
final class EventWait {
    private EventWait() {
    }

    /**
     * Waits for an event.
     *
     * @param fd a descriptor that becomes readable when there may be an event; negative if its object is closed
     * @param timeout how long to wait at most; with 0 there is a single attempt
     * @param attempt takes an event without waiting; {@link DescriptorWait#closing} waits for it to end
     * @return the event, or {@code null} if none arrived in time
     * @throws IllegalArgumentException if the timeout is negative
     * @throws IllegalStateException if another thread waits for the same descriptor
     */
    static <T> T forIt(int fd, Duration timeout, DescriptorWait.Look<T, RpmaException> attempt)
            throws RpmaException, InterruptedException {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("the timeout is " + timeout + "; it must not be negative (0 does not wait)");
        }
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before waiting for an event");
        }
        if (timeout.isZero() || fd < 0) {
            // There is no descriptor only if its object has been closed before the descriptor was created, which the attempt
            // reports.
            return attempt.look();
        }
        // Limit the deadline to the range in which values of nanoTime() can be compared.
        long nanos = timeout.compareTo(Duration.ofNanos(Long.MAX_VALUE >> 1)) > 0 ? Long.MAX_VALUE >> 1 : timeout.toNanos();
        long end = System.nanoTime() + nanos;
        try (DescriptorWait wait = DescriptorWait.begin(fd)) {
            T found = wait.look(attempt);
            while (found == null) {
                int error = wait.arm();
                // Look again: the event may have arrived, or the object may have been closed, before the descriptor was watched.
                found = wait.look(attempt);
                if (found != null) {
                    return found;
                }
                if (error != 0) {
                    throw new RpmaException(RpmaError.PROVIDER, -error, "the descriptor " + fd + " cannot be watched: "
                        + strerror(-error), null);
                }
                if (!wait.await(end - System.nanoTime())) {
                    return wait.look(attempt);
                }
            }
            return found;
        }
    }
}
