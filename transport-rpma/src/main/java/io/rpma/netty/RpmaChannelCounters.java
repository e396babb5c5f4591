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
import io.rpma.netty.pair.ChannelCounts;

/**
 * The counters of a connection. They are written by the connection's event loop alone, without a lock or an atomic operation,
 * and may be read by any thread, which may see slightly outdated values that do not belong to the same moment. See
 * {@link RpmaChannel#counters()} and {@link RpmaMessageChannel#counters()}; {@link RpmaMetrics#channels()} has the sums of the
 * process.
 */
public final class RpmaChannelCounters {
    private final ChannelCounts counts;

    RpmaChannelCounters(ChannelCounts counts) {
        this.counts = counts;
    }

    /** Returns the number of application bytes that were sent. */
    public long bytesSent() {
        return counts.bytesSent;
    }

    /** Returns the number of messages that carried the bytes sent. */
    public long messagesSent() {
        return counts.messagesSent;
    }

    /** Returns the number of application bytes that arrived. */
    public long bytesReceived() {
        return counts.bytesReceived;
    }

    /** Returns the number of messages that carried the bytes received. */
    public long messagesReceived() {
        return counts.messagesReceived;
    }

    /** Returns the number of control messages that were sent: they carry no bytes of the application. */
    public long controlMessagesSent() {
        return counts.controlMessagesSent;
    }

    /** Returns the number of messages that were sent directly from the buffer that the application had written. */
    public long sendCopiesAvoided() {
        return counts.sendCopiesAvoided;
    }

    /** Returns the number of messages that written data was copied into; each may combine several buffers. */
    public long sendCopiesMade() {
        return counts.sendCopiesMade;
    }

    /** Returns the number of buffers passed to the pipeline in which the message itself had arrived. */
    public long receiveCopiesAvoided() {
        return counts.receiveCopiesAvoided;
    }

    /** Returns the number of buffers passed to the pipeline that a message, or a part of one, was copied into. */
    public long receiveCopiesMade() {
        return counts.receiveCopiesMade;
    }

    /** Returns how many of the messages sent were written into memory that the peer had granted for large data. */
    public long bulkSent() {
        return counts.bulkSent;
    }

    /** Returns how many of the messages received were written by the peer into memory granted for large data. */
    public long bulkReceived() {
        return counts.bulkReceived;
    }

    /**
     * Returns how often the peer had large data but was granted no memory for it, because the application had not released
     * earlier buffers or no more memory was available (see also {@code -Dio.rpma.netty.maxBulkBytes}). Large data then arrives
     * in messages.
     */
    public long bulkRefused() {
        return counts.bulkRefused;
    }

    /** Returns how often data waited because the peer had no receive left for it: the peer reads too slowly. */
    public long creditWaits() {
        return counts.creditWaits;
    }

    /** Returns how often data waited because the send queue was full: the device or the network is the limit. */
    public long sendQueueWaits() {
        return counts.sendQueueWaits;
    }

    /** Returns the total nanoseconds of both kinds of waits; waits in progress are not included. */
    public long waitNanos() {
        return counts.waitNanos;
    }

    /** Returns the number of completions polled, of work requests of any kind, successful or not. */
    public long completions() {
        return counts.completions;
    }

    /**
     * Returns the number of completions with an error status. Successful ones ({@link CompletionStatus#SUCCESS}) are not
     * counted here.
     */
    public long failures(CompletionStatus status) {
        return counts.failures(status);
    }

    /**
     * Returns the smallest number of free data receives so far; 0 means that the peer had to wait because this end did not
     * read. For sums over connections it is 0.
     */
    public int receivesLowWater() {
        return counts.receivesLowWater();
    }
}
