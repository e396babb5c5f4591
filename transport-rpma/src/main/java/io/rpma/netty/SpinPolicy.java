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

import io.netty.util.NettyRuntime;
import io.netty.util.internal.SystemPropertyUtil;

/**
 * Whether an idle loop polls on for a moment before it blocks. It learns: while the next completion tends to come within the
 * moment, spinning saves a wake-up; while it does not, spinning only burns the processor. Never on a machine with one
 * processor, where it would keep the other end from running.
 *
 * <p>{@code -Dio.rpma.netty.spinNanos} is the longest moment, 0 for never; default 50,000.
 */
final class SpinPolicy {
    private static final long MAX_NANOS =
        NettyRuntime.availableProcessors() > 1 ? SystemPropertyUtil.getLong("io.rpma.netty.spinNanos", 50_000) : 0;
    /** A wait that was blocked through costs a wake-up on top, which spinning would have saved. */
    private static final long WAKE_UP_NANOS = 60_000;
    private static final int FULL = 64;

    // How often it has paid lately, from 0 to FULL. Each wait moves it by an eighth of the distance.
    private int score = FULL;

    boolean pays() {
        return MAX_NANOS > 0 && score > FULL / 4;
    }

    long maxNanos() {
        return MAX_NANOS;
    }

    /** Spinning found work. */
    void paid() {
        score += (FULL - score + 7) / 8;
    }

    /** The loop blocked, and a completion ended the wait after so long since it was idle. */
    void waited(long nanos) {
        if (nanos <= MAX_NANOS + WAKE_UP_NANOS) {
            paid();
        } else {
            score -= (score + 7) / 8;
        }
    }
}
