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

import io.rpma.RpmaException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** What a connection request creates and its connection takes over: the queue pair and the completion queues. */
final class Queues {
    private static final AtomicInteger NEXT_QUEUE_PAIR = new AtomicInteger(ThreadLocalRandom.current().nextInt());
    // Queue pair numbers have 24 bits, as on devices.
    private static final int QUEUE_PAIR_MASK = 0xff_ffff;
    private static final int FIRST_QUEUE_PAIR = 2;

    private final QueuePair pair;
    private final TcpCompletionQueue completions;
    private final TcpCompletionQueue receiveCompletions;
    private final boolean channelShared;
    private final TcpSharedReceiveQueue shared;

    private Queues(ProtectionDomain domain, QueueSizes sizes) {
        shared = sizes.shared();
        channelShared = sizes.sharedChannel();
        SendQueue sends = new SendQueue(sizes.sends());
        pair = new QueuePair(domain, newNumber(), sends, shared == null ? new Receives(sizes.receives()) : null, shared);
        Alarm alarm = new Alarm();
        TcpCompletionQueue ofShared = shared != null && shared.hasCompletions() ? shared.completions() : null;
        completions = new TcpCompletionQueue(sizes.completions(), alarm, channelShared, sends, pair, ofShared);
        receiveCompletions = sizes.receiveCompletions() == 0 ? null : new TcpCompletionQueue(sizes.receiveCompletions(),
            channelShared ? alarm : new Alarm(), channelShared, null, pair, ofShared);
        pair.complete(completions, ofShared != null ? ofShared
            : receiveCompletions != null ? receiveCompletions : completions);
    }

    private static int newNumber() {
        int number;
        do {
            number = NEXT_QUEUE_PAIR.getAndIncrement() & QUEUE_PAIR_MASK;
        } while (number < FIRST_QUEUE_PAIR);
        return number;
    }

    /** Creates the queues; the shared receive queue counts them until they are closed. */
    static Queues create(ProtectionDomain domain, QueueSizes sizes) throws RpmaException {
        if (sizes.shared() != null) {
            sizes.shared().hold();
        }
        return new Queues(domain, sizes);
    }

    QueuePair pair() {
        return pair;
    }

    TcpCompletionQueue completions() {
        return completions;
    }

    TcpCompletionQueue receiveCompletions() {
        return receiveCompletions;
    }

    boolean isChannelShared() {
        return channelShared;
    }

    void close() {
        try {
            pair.close();
        } finally {
            completions.close();
            if (receiveCompletions != null) {
                receiveCompletions.close();
            }
            if (shared != null) {
                shared.release();
            }
        }
    }
}
