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

/**
 * The deadline of a message that holds a receive of a shared receive queue while other connections wait for one. The message has
 * to end within a time, or at least {@link #LEAST_BYTES} of it have to arrive in each such time. The time begins at the first
 * check, and anew after a pause in which the message was not checked, because nobody waited for its receive. Only the holder of
 * the queue pair uses it.
 */
final class MessageDeadline {
    /** The bytes that have to arrive in each such time. If one byte were enough, a peer could hold a receive for very long. */
    static final long LEAST_BYTES = 64 << 10;

    // The number of the message, and the rest of it and the time when it was checked first, or had made progress.
    private long message;
    private long left;
    private long since;
    // The time of the last check.
    private long checked;

    /**
     * Checks a message that holds a receive.
     *
     * @param number the number of the message in this connection
     * @param bytesLeft how many bytes of it are missing
     * @param now {@code System.nanoTime()}
     * @param nanos the time that it has; while others wait for its receive, it is checked far more often
     * @return whether the time has passed
     */
    boolean hasPassed(long number, long bytesLeft, long now, long nanos) {
        boolean paused = now - checked >= nanos / 2;
        checked = now;
        if (paused || number != message || left - bytesLeft >= LEAST_BYTES) {
            message = number;
            left = bytesLeft;
            since = now;
            return false;
        }
        return now - since >= nanos;
    }
}
