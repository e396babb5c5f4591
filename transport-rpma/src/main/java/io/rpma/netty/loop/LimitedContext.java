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

package io.rpma.netty.loop;

import io.netty.channel.IoHandlerContext;

/**
 * The context of a loop's turn, except that the wait is limited. Only the thread of the loop uses this class, so its field needs
 * no lock.
 */
final class LimitedContext implements IoHandlerContext {
    private final long maxNanos;
    private IoHandlerContext context;

    /**
     * Creates a context.
     *
     * @param maxNanos the longest wait in nanoseconds; 0 if the wait must not block
     */
    LimitedContext(long maxNanos) {
        this.maxNanos = maxNanos;
    }

    /** Sets the context of the loop, and returns this object. */
    LimitedContext of(IoHandlerContext loop) {
        context = loop;
        return this;
    }

    /** Returns whether the context of the loop has been set. */
    boolean isSet() {
        return context != null;
    }

    @Override
    public boolean canBlock() {
        return maxNanos > 0 && context.canBlock();
    }

    @Override
    public long delayNanos(long currentTimeNanos) {
        return Math.min(maxNanos, context.delayNanos(currentTimeNanos));
    }

    @Override
    public long deadlineNanos() {
        // Epoll sets its timer, to delayNanos(), only if the deadline differs from the one before.
        return maxNanos > 0 ? System.nanoTime() + maxNanos : context.deadlineNanos();
    }

    @Override
    public void reportActiveIoTime(long activeNanos) {
        context.reportActiveIoTime(activeNanos);
    }

    @Override
    public boolean shouldReportActiveIoTime() {
        return context.shouldReportActiveIoTime();
    }
}
