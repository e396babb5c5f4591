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

package io.rpma.netty.connect;

import io.rpma.RpmaException;

/**
 * Decides how a server channel continues after it could not take a request. If one request failed because its client has gone,
 * the next one is tried immediately. If this process lacks a resource, or many requests fail in succession, the channel has to
 * pause, because the waiting requests would fail again and again.
 *
 * <p>Used by one event loop at a time.
 */
public final class AcceptBackoff {
    /** How long a channel pauses; Netty's {@code ServerBootstrap} does the same for a TCP server. */
    public static final long PAUSE_MILLIS = 1_000;
    /** How long the event loop does other work after a number of failures that clients may have caused. */
    static final long YIELD_MILLIS = 10;
    /** The number of consecutive failures before the event loop does other work. */
    static final int MAX_FAILURES = 64;
    /** The number of such interruptions before the failures are attributed to this machine. */
    static final int MAX_YIELDS = 16;
    /** The interval at which a lasting shortage is reported. */
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

    /**
     * Returns whether a call failed because this process, or the machine, has run out of a resource that becomes available
     * again.
     */
    public static boolean isShortage(RpmaException e) {
        return switch (e.errno()) {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM -> true;
            default -> false;
        };
    }

    /** Returns whether a call failed because the client has gone. */
    public static boolean isClientGone(RpmaException e) {
        return switch (e.errno()) {
            case EPIPE, ECONNABORTED, ECONNRESET, ENOTCONN -> true;
            default -> false;
        };
    }

    /**
     * Called when no request could be taken.
     *
     * @return how long to wait before the next attempt, in milliseconds: 0, {@value #YIELD_MILLIS} or {@value #PAUSE_MILLIS}
     */
    public long failed(RpmaException e) {
        if (isShortage(e)) {
            return PAUSE_MILLIS;
        }
        if (++failures < MAX_FAILURES) {
            return 0;
        }
        failures = 0;
        return ++yields < MAX_YIELDS ? YIELD_MILLIS : PAUSE_MILLIS;
    }

    /** Called when a request was taken, or when there is none. */
    public void succeeded() {
        failures = 0;
        yields = 0;
    }

    /** Returns whether a pause is to be reported, because none has been reported for a while. */
    public boolean mayReport(long now) {
        if (hasReported && now - reportedNanos < REPORT_NANOS) {
            return false;
        }
        hasReported = true;
        reportedNanos = now;
        return true;
    }
}
