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

package io.rpma.netty.pair;

import io.rpma.CompletionStatus;

/**
 * What a connection counts. The connection's event loop alone writes it, without a lock or an atomic operation; any thread may
 * read it, and may see slightly outdated values that do not belong to the same moment.
 */
public final class ChannelCounts {
    private static final CompletionStatus[] STATUSES = CompletionStatus.values();

    public long bytesSent;
    public long messagesSent;
    public long bytesReceived;
    public long messagesReceived;
    public long controlMessagesSent;
    public long sendCopiesAvoided;
    public long sendCopiesMade;
    public long receiveCopiesAvoided;
    public long receiveCopiesMade;
    public long bulkSent;
    public long bulkReceived;
    public long bulkRefused;
    public long creditWaits;
    public long sendQueueWaits;
    public long waitNanos;
    public long completions;
    int mostUnread;
    private final int receives;
    // Null until a work request fails.
    private long[] failures;

    public ChannelCounts(int receives) {
        this.receives = receives;
    }

    public void failed(CompletionStatus status) {
        if (failures == null) {
            failures = new long[STATUSES.length];
        }
        failures[status.ordinal()]++;
    }

    public void unread(int messages) {
        if (messages > mostUnread) {
            mostUnread = messages;
        }
    }

    /** Adds the numbers of another connection. */
    void add(ChannelCounts other) {
        bytesSent += other.bytesSent;
        messagesSent += other.messagesSent;
        bytesReceived += other.bytesReceived;
        messagesReceived += other.messagesReceived;
        controlMessagesSent += other.controlMessagesSent;
        sendCopiesAvoided += other.sendCopiesAvoided;
        sendCopiesMade += other.sendCopiesMade;
        receiveCopiesAvoided += other.receiveCopiesAvoided;
        receiveCopiesMade += other.receiveCopiesMade;
        bulkSent += other.bulkSent;
        bulkReceived += other.bulkReceived;
        bulkRefused += other.bulkRefused;
        creditWaits += other.creditWaits;
        sendQueueWaits += other.sendQueueWaits;
        waitNanos += other.waitNanos;
        completions += other.completions;
        long[] more = other.failures;
        if (more != null) {
            addFailures(more);
        }
    }

    private void addFailures(long[] more) {
        if (failures == null) {
            failures = new long[STATUSES.length];
        }
        for (int i = 0; i < failures.length; i++) {
            failures[i] += more[i];
        }
    }

    /** Returns the number of completions with an error status. */
    public long failures(CompletionStatus status) {
        long[] counted = failures;
        return counted == null ? 0 : counted[status.ordinal()];
    }

    /** Returns the smallest number of free data receives so far. */
    public int receivesLowWater() {
        return Math.max(0, receives - mostUnread);
    }
}
