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

import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.QueuePair;
import java.net.InetSocketAddress;

/** Makes a connection for one kind of channel, with the options that the channel had when connect was called. */
public interface Dialer {
    /**
     * Creates the configuration, with queues sized by the limits of the device; called on a thread of {@link Connector} or on
     * the event loop. The caller must close it.
     */
    ConnectionConfig newConfig(Fabric fabric, int timeoutMillis) throws RpmaException;

    /**
     * Requests the connection; called on the event loop, or on a thread of {@link Connector} for an iWARP device.
     *
     * @param request made with {@link #newConfig}; consumed in any case
     * @param remote the address that was requested
     */
    QueuePair connect(Fabric fabric, ConnectionRequest request, InetSocketAddress remote) throws RpmaException;

    /** Called when the configuration, or the request made with it, has been closed without a connection. */
    default void dropped() {
        // Only the configuration was created.
    }
}
