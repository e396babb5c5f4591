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

import io.rpma.Connection;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.UserTypes;
import io.rpma.netty.receive.ReceivingPair;
import java.net.InetSocketAddress;

/**
 * One end of a stream, as its sender and its receiver see it.
 *
 * <p>Used by one event loop at a time.
 */
abstract class StreamEnd extends ReceivingPair {
    StreamEnd(UserTypes types, Fabric fabric, Connection connection, InetSocketAddress remote, boolean active, int receives) {
        super(types, fabric, connection, remote, active, receives);
    }

    /** Returns whether the connection is closed, or has ended, or is about to end. */
    abstract boolean isEnded();

    /**
     * Handles a message that could not be posted. An iWARP device refuses it when the peer has disconnected, while other
     * devices accept and flush it; the reason is given by an event.
     */
    abstract void refused(RpmaException e, int kind);
}
