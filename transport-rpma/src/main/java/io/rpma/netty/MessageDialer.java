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
import io.rpma.netty.connect.Dialer;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.QueuePair;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** The dialer of a message channel, for one connect. */
final class MessageDialer implements Dialer {
    private final MessageOptions options;
    // Computed together with the configuration, and used with the request made from it; by one thread after the other.
    private ByteBuffer privateData;
    private Fabric computedFor;

    /**
     * Creates a dialer.
     *
     * @param options a copy of the channel's options
     */
    MessageDialer(MessageOptions options) {
        this.options = options;
    }

    @Override
    public ConnectionConfig newConfig(Fabric fabric, int timeoutMillis) throws RpmaException {
        if (computedFor != fabric) {
            // Computed here, because most callers may block: memory that the private data describes may have to be registered.
            privateData = options.privateData(fabric);
            computedFor = fabric;
        }
        return options.sizes(fabric.limits()).newConfig(fabric, timeoutMillis);
    }

    @Override
    public QueuePair connect(Fabric fabric, ConnectionRequest request, InetSocketAddress remote) throws RpmaException {
        return MessageQueuePair.connect(fabric, options.sizes(fabric.limits()), request, privateData, remote);
    }
}
