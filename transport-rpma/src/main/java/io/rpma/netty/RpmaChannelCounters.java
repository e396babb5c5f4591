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

import io.rpma.CompletionStatus;

/**
 * What a connection has done so far. Written by the connection's event loop alone, without a lock or an atomic operation; read
 * by any thread, which sees each number as it was a moment ago, and not all of the same moment. See
 * {@link RpmaChannel#counters()} and {@link RpmaMessageChannel#counters()}; {@link RpmaMetrics#channels()} has the sums of the
 * process.
 */
public final class RpmaChannelCounters {
    private static final CompletionStatus[] STATUSES = CompletionStatus.values();

    long bytesSent;
    long messagesSent;
    long bytesReceived;
    long messagesReceived;
    long controlMessagesSent;
    long sendCopiesAvoided;
    long sendCopiesMade;
    long receiveCopiesAvoided;
    long receiveCopiesMade;
    long bulkSent;
    long bulkReceived;
    long bulkRefused;
    long creditWaits;
    long sendQueueWaits;
    long waitNanos;
    long completions;
    int mostUnread;
    private final int receives;
    private final long[] failures = new long[STATUSES.length];

    RpmaChannelCounters(int receives) {
        this.receives = receives;
    }

    void failed(CompletionStatus status) {
        failures[status.ordinal()]++;
    }

    void unread(int messages) {
        if (messages > mostUnread) {
            mostUnread = messages;
        }
    }

    /** Adds the numbers of another connection. */
    void add(RpmaChannelCounters other) {
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
        for (int i = 0; i < failures.length; i++) {
            failures[i] += other.failures[i];
        }
    }

    /** Returns the bytes of the application that were sent. */
    public long bytesSent() {
        return bytesSent;
    }

    /** Returns the messages that carried them. */
    public long messagesSent() {
        return messagesSent;
    }

    /** Returns the bytes of the application that arrived. */
    public long bytesReceived() {
        return bytesReceived;
    }

    /** Returns the messages that carried them. */
    public long messagesReceived() {
        return messagesReceived;
    }

    /** Returns the messages that carried nothing but credits, or the end of the stream. */
    public long controlMessagesSent() {
        return controlMessagesSent;
    }

    /** Returns the messages that were sent from the buffer that the application had written. */
    public long sendCopiesAvoided() {
        return sendCopiesAvoided;
    }

    /** Returns the messages that what was written was copied into, one or many buffers each. */
    public long sendCopiesMade() {
        return sendCopiesMade;
    }

    /** Returns the buffers given to the pipeline in which the message had arrived. */
    public long receiveCopiesAvoided() {
        return receiveCopiesAvoided;
    }

    /** Returns the buffers given to the pipeline that a message, or a part of one, was copied into. */
    public long receiveCopiesMade() {
        return receiveCopiesMade;
    }

    /** Returns those of the messages sent that were written into memory that the peer had granted for large data. */
    public long bulkSent() {
        return bulkSent;
    }

    /** Returns those of the messages received that the peer had written into memory granted for large data. */
    public long bulkReceived() {
        return bulkReceived;
    }

    /**
     * Returns how often the peer had large data and was granted no memory for it: the application had not released what it was
     * given, or there was no more (also {@code -Dio.rpma.netty.maxBulkBytes}). Large data comes in messages then.
     */
    public long bulkRefused() {
        return bulkRefused;
    }

    /** Returns how often something was to be sent when the peer had no receive left for it: the peer reads too slowly. */
    public long creditWaits() {
        return creditWaits;
    }

    /** Returns how often something was to be sent when the send queue was full: the device, or the network, is the limit. */
    public long sendQueueWaits() {
        return sendQueueWaits;
    }

    /** Returns the nanoseconds of both kinds of waits that are over. */
    public long waitNanos() {
        return waitNanos;
    }

    /** Returns the completions that were taken, of work requests of any kind, good and bad. */
    public long completions() {
        return completions;
    }

    /** Returns the completions with a status; not of {@link CompletionStatus#SUCCESS}, which all others of them have. */
    public long failures(CompletionStatus status) {
        return failures[status.ordinal()];
    }

    /**
     * Returns the fewest receives for data that were ever free: 0 means that the peer had to wait, because this end did not read.
     * Of sums of connections it is 0.
     */
    public int receivesLowWater() {
        return Math.max(0, receives - mostUnread);
    }
}
