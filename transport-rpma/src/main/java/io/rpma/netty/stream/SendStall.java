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

package io.rpma.netty.stream;

import io.rpma.netty.pair.ChannelCounts;
import java.net.InetSocketAddress;

/**
 * Measures how long a stream has data to send and cannot send it: for the counters of its channel, and as
 * {@link CreditStallEvent}.
 *
 * <p>Used by the thread that uses the queue pair.
 */
final class SendStall {
    private final ChannelCounts counters;
    private final InetSocketAddress remoteAddress;
    // Used again for each stall; null if there has been none.
    private CreditStallEvent event;
    // In nanoseconds; 0 if the stream is not stalled.
    private long since;

    SendStall(ChannelCounts counters, InetSocketAddress remoteAddress) {
        this.counters = counters;
        this.remoteAddress = remoteAddress;
    }

    /**
     * Called when data cannot be sent.
     *
     * @param credit whether the credits are used up, and not the slots of the send queue
     */
    void begin(boolean credit) {
        if (since != 0) {
            return;
        }
        if (credit) {
            counters.creditWaits++;
        } else {
            counters.sendQueueWaits++;
        }
        since = System.nanoTime();
        if (event == null) {
            event = new CreditStallEvent();
        }
        event.begin();
        event.credit = credit;
    }

    /** Called when data can be sent. */
    void end() {
        if (since == 0) {
            return;
        }
        counters.waitNanos += System.nanoTime() - since;
        since = 0;
        if (event.shouldCommit()) {
            event.remote = String.valueOf(remoteAddress);
            event.commit();
        }
    }
}
