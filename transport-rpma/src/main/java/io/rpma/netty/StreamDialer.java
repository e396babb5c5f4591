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

import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import io.rpma.netty.connect.Dialer;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.receive.ReceiveBuffers;
import io.rpma.netty.stream.StreamOpening;
import io.rpma.netty.stream.StreamSizes;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** The dialer of a stream, for one connect. */
final class StreamDialer implements Dialer {
    private final int messageBytes;
    private final int credits;
    private final boolean shared;
    private final int bulkBytes;
    private final IoEventLoop loop;
    private final PrivateDataOptions.Source privateData;
    // Chosen together with the configuration, and used with the request made from it; by one thread after the other.
    private ReceiveBuffers receives;
    private ByteBuffer data;
    private Fabric dataFor;

    /**
     * Creates a dialer with the options of the channel.
     *
     * @param messageBytes the longest message to be received
     * @param credits the number of receive buffers
     * @param shared whether they come from a queue that other connections share
     * @param bulkBytes the largest area granted for large data
     * @param privateData the source of the private data for the peer
     * @param loop the loop of the channel
     */
    StreamDialer(int messageBytes, int credits, boolean shared, int bulkBytes, PrivateDataOptions.Source privateData,
            EventLoop loop) {
        this.messageBytes = messageBytes;
        this.credits = credits;
        this.shared = shared;
        this.bulkBytes = bulkBytes;
        this.loop = loop instanceof IoEventLoop own ? own : null;
        this.privateData = privateData;
    }

    private StreamSizes sizes(Fabric fabric) {
        return StreamSizes.of(messageBytes, credits, bulkBytes, fabric.limits());
    }

    @Override
    public ConnectionConfig newConfig(Fabric fabric, int timeoutMillis) throws RpmaException {
        if (dataFor != fabric) {
            // Computed here, because most callers may block: memory that the private data describes may have to be registered.
            data = privateData.on(fabric);
            dataFor = fabric;
        }
        StreamSizes sizes = sizes(fabric);
        receives = sizes.newReceives(fabric, shared, loop);
        try {
            return sizes.newConfig(receives, timeoutMillis);
        } catch (RpmaException | RuntimeException e) {
            dropped();
            throw e;
        }
    }

    @Override
    public QueuePair connect(Fabric fabric, ConnectionRequest request, InetSocketAddress remote) throws RpmaException {
        ReceiveBuffers ours = receives;
        receives = null;
        return StreamOpening.connect(PublicTypes.INSTANCE, fabric, sizes(fabric), ours, request, data, remote);
    }

    @Override
    public void dropped() {
        if (receives != null) {
            receives.leave(0);
            receives = null;
        }
    }
}
