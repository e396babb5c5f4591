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

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the outcomes of the connection requests that clients sent to the server channels of this process. A request that is
 * rejected because no server channel listens is not counted. Thread-safe. See {@link RpmaMetrics#accepts()}.
 */
public final class RpmaAcceptCounters {
    private final LongAdder established = new LongAdder();
    private volatile Runnable pauseListener = () -> { };
    private final LongAdder refused = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder unanswered = new LongAdder();
    private final LongAdder pauses = new LongAdder();

    RpmaAcceptCounters() {
        // Created by RpmaMetrics.
    }

    void addEstablished() {
        established.increment();
    }

    void addRefused() {
        refused.increment();
    }

    void addFailed() {
        failed.increment();
    }

    void addUnanswered() {
        unanswered.increment();
    }

    void addPause() {
        pauses.increment();
        pauseListener.run();
    }

    /** Sets a listener that runs when a pause begins, on the loop that pauses. For tests. */
    void onPause(Runnable listener) {
        pauseListener = listener;
    }

    /** Returns the number of connections that were accepted and established. */
    public long established() {
        return established.sum();
    }

    /**
     * Returns the number of connections that were refused, because the client does not use a compatible stream protocol, or
     * because an {@link RpmaRequestHandler} refused or rejected it, or did not decide in time.
     */
    public long refused() {
        return refused.sum();
    }

    /**
     * Returns the number of requests that could not be accepted, because the client had gone or this process lacked a resource.
     */
    public long failed() {
        return failed.sum();
    }

    /**
     * Returns the number of connections that were accepted and never established, because the client went away or did not
     * answer in time.
     */
    public long unanswered() {
        return unanswered.sum();
    }

    /** Returns how often a server channel stopped accepting for a second, usually for lack of file descriptors. */
    public long pauses() {
        return pauses.sum();
    }
}
