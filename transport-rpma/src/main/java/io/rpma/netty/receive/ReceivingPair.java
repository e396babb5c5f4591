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

package io.rpma.netty.receive;

import io.rpma.Connection;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.pair.UserTypes;
import java.net.InetSocketAddress;

/**
 * A queue pair whose receives may complete in the queue of an event loop ({@link LoopCompletions}) and not in its own.
 *
 * <p>Used by one event loop at a time.
 */
public abstract class ReceivingPair extends QueuePair {
    /** Takes a connection over; see {@link QueuePair}. */
    protected ReceivingPair(UserTypes types, Fabric fabric, Connection connection, InetSocketAddress remote, boolean active,
            int receives) {
        super(types, fabric, connection, remote, active, receives);
    }

    /** Returns the receives that complete in the queue of a loop, or {@code null} if they complete in the connection's own. */
    public abstract LoopReceives elsewhere();

    /**
     * Records the state before a completion is handled; {@link #settle} follows.
     *
     * @return whether there was nothing that the listener had still to be notified of
     */
    public abstract boolean touch();

    /** Notifies the listener of the effects of the handled completions. */
    public abstract void settle();

    /** Handles the completion of a receive that another thread has polled, without notifying the listener. */
    public abstract void handle(StreamArrival arrival);

    /** Ends only this connection, because a received message could not be processed. {@link #settle} notifies the listener. */
    public abstract void cannotTake(Throwable why);

    /** Ends only this connection, because notifying its listener failed. */
    public abstract void cannotTell(Throwable why);
}
