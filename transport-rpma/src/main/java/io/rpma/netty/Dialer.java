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

import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import java.net.InetSocketAddress;

/** How a kind of channel connects, by its options as they were when it was told to. */
interface Dialer {
    /** Sizes the queues by what the device can do; on a thread of {@link Connector}. To be closed. */
    ConnectionConfig newConfig(Fabric fabric, int timeoutMillis) throws RpmaException;

    /**
     * Asks for the connection; on the loop.
     *
     * @param request made with {@link #newConfig}; used up, whatever happens
     * @param remote the address that was asked for
     */
    QueuePair connect(Fabric fabric, ConnectionRequest request, InetSocketAddress remote) throws RpmaException;

    /** Nothing came of the configuration, or of the request made with it, which is closed. */
    default void dropped() {
        // Nothing but the configuration was made for it.
    }
}
