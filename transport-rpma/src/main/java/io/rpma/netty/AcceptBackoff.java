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

package io.rpma.netty;

import io.rpma.RpmaException;

/**
 * Decides how a server channel goes on after it could not take a request. One client's request may fail because the client has
 * gone: then the next one is tried at once. If this process lacks something, or nothing but failures comes, the channel has to
 * pause, because the requests that wait would fail again and again.
 *
 * <p>Used by one event loop at a time.
 */
final class AcceptBackoff {
    /** How long a channel pauses; Netty's {@code ServerBootstrap} makes a TCP server do the same. */
    static final long PAUSE_MILLIS = 1_000;
    /** How long the loop does something else after a number of failures that clients may have caused. */
    static final long YIELD_MILLIS = 10;
    /** Failures one after the other before the loop does something else. */
    static final int MAX_FAILURES = 64;
    /** How often it does that before the failures are taken for this machine's. */
    static final int MAX_YIELDS = 16;
    /** While a shortage lasts, it is reported so often. */
    private static final long REPORT_NANOS = 60_000_000_000L;

    private static final int ENOMEM = 12;
    private static final int ENFILE = 23;
    private static final int EMFILE = 24;
    private static final int EPIPE = 32;
    private static final int ECONNABORTED = 103;
    private static final int ECONNRESET = 104;
    private static final int ENOBUFS = 105;
    private static final int ENOTCONN = 107;

    private int failures;
    private int yields;
    private boolean hasReported;
    private long reportedNanos;

    /** Whether a call failed because this process, or the machine, has run out of something that becomes free again. */
    static boolean isShortage(RpmaException e) {
        return switch (e.errno()) {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM -> true;
            default -> false;
        };
    }

    /** Whether a call failed because the client has gone. */
    static boolean isClientGone(RpmaException e) {
        return switch (e.errno()) {
            case EPIPE, ECONNABORTED, ECONNRESET, ENOTCONN -> true;
            default -> false;
        };
    }

    /**
     * Takes note that no request could be taken.
     *
     * @return how long to wait before the next attempt, in milliseconds: 0, {@value #YIELD_MILLIS} or {@value #PAUSE_MILLIS}
     */
    long failed(RpmaException e) {
        if (isShortage(e)) {
            return PAUSE_MILLIS;
        }
        if (++failures < MAX_FAILURES) {
            return 0;
        }
        failures = 0;
        return ++yields < MAX_YIELDS ? YIELD_MILLIS : PAUSE_MILLIS;
    }

    /** Takes note that a request was taken, or that there is none. */
    void succeeded() {
        failures = 0;
        yields = 0;
    }

    /** Whether a pause is to be reported, because it is the first for a while. */
    boolean mayReport(long now) {
        if (hasReported && now - reportedNanos < REPORT_NANOS) {
            return false;
        }
        hasReported = true;
        reportedNanos = now;
        return true;
    }
}
