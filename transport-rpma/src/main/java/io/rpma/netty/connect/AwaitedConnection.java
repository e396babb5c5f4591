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

import io.netty.channel.IoRegistration;
import io.rpma.CompletionQueue;
import io.rpma.WorkCompletions;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.pair.EventDescriptors;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.pair.QueuePairCalls;
import io.rpma.netty.pair.QueuePairListener;

/**
 * A connection that is not established yet. An event loop watches its events. Messages that the peer sends early stay in the
 * completion queue for the channel of the connection.
 */
abstract class AwaitedConnection implements RpmaIoHandle, QueuePairListener {
    // Null while there is no connection, or none any more.
    QueuePair pair;
    // Null while the connection is not watched.
    IoRegistration registration;
    // Set when the connection has been established, has ended, or is not wanted any more.
    boolean done;

    /** Called when the connection is established: passes it on. */
    abstract void connectionEstablished();

    /** Called when the connection has ended before it was established. */
    abstract void connectionBroken();

    @Override
    public final int[] eventFds(Runnable ready) {
        return EventDescriptors.of(pair.connection, ready);
    }

    @Override
    public final void eventsReady() {
        if (done) {
            return;
        }
        QueuePairCalls.drainEvents(pair);
        if (pair.isEstablished()) {
            connectionEstablished();
        } else if (pair.broken() != null) {
            connectionBroken();
        }
    }

    @Override
    public final void established() {
        // eventsReady() checks for this after all events have been handled, since the end may be among them.
    }

    @Override
    public final void readable() {
        // eventsReady() checks for this after all events have been handled.
    }

    @Override
    public final void writable() {
        // Nothing is written yet.
    }

    @Override
    public final void posted() {
        // Nothing is posted yet.
    }

    @Override
    public final void ending() {
        // No completions are polled yet.
    }

    @Override
    public final CompletionQueue completionQueue() {
        return null;
    }

    @Override
    public final int poll(WorkCompletions batch) {
        return 0;
    }

    @Override
    public final void destroy() {
        close();
    }
}
