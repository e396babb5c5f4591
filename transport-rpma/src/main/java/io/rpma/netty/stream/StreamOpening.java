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
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.FailedOpening;
import io.rpma.netty.pair.UserTypes;
import io.rpma.netty.receive.LoopCompletions;
import io.rpma.netty.receive.OwnReceives;
import io.rpma.netty.receive.ReceiveBuffers;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** Opens streams: makes the queue pair of a connection request, with its receives posted and the handshake of this end sent. */
public final class StreamOpening {
    private StreamOpening() {
    }

    /**
     * Requests a connection.
     *
     * @param types what the queue pair needs of the public types
     * @param receives the receives that the request was configured with; returned when the connection ends or cannot be made
     * @param request made by the blocking part of connecting; consumed in any case
     * @param data the private data of the application
     */
    public static StreamQueuePair connect(UserTypes types, Fabric fabric, StreamSizes sizes, ReceiveBuffers receives,
            ConnectionRequest request, ByteBuffer data, InetSocketAddress remote) throws RpmaException {
        return open(types, fabric, sizes, receives, request, !fabric.hasImmediateData(), data, true, remote);
    }

    /**
     * Accepts a connection.
     *
     * @param types what the queue pair needs of the public types
     * @param receives the receives that the request was configured with; returned when the connection ends or cannot be made
     * @param request the request of the client; consumed in any case
     * @param data the private data of the application
     * @param peer the handshake of the client
     */
    public static StreamQueuePair accept(UserTypes types, Fabric fabric, StreamSizes sizes, ReceiveBuffers receives,
            ConnectionRequest request, ByteBuffer data, Handshake peer) throws RpmaException {
        StreamQueuePair pair = open(types, fabric, sizes, receives, request, peer.isPrefixedWith(fabric), data, false,
            request.remoteAddress());
        try {
            pair.peerIs(peer);
        } catch (RpmaException | RuntimeException e) {
            pair.close();
            throw e;
        }
        return pair;
    }

    private static StreamQueuePair open(UserTypes types, Fabric fabric, StreamSizes sizes, ReceiveBuffers receives,
            ConnectionRequest request, boolean prefixed, ByteBuffer data, boolean active, InetSocketAddress remote)
            throws RpmaException {
        int posted = 0;
        Connection connection = null;
        LoopCompletions elsewhere = receives.completions();
        if (elsewhere != null) {
            elsewhere.expect();
        }
        try {
            // Receives are posted before the connection exists, so that the peer's first message finds them.
            receives.post(request, sizes.receiveQueue());
            posted = sizes.receiveQueue();
            connection = request.connect(Handshake.of(sizes, prefixed, data).encode());
            if (receives instanceof OwnReceives own) {
                own.connected(connection);
            }
            StreamQueuePair pair = new StreamQueuePair(types, fabric, sizes, active, receives, connection, remote);
            if (elsewhere != null) {
                elsewhere.add(pair);
            }
            return pair;
        } catch (RpmaException | RuntimeException e) {
            FailedOpening.abandon(connection, request, e);
            if (elsewhere != null) {
                elsewhere.expectNoMore();
            }
            receives.leave(posted);
            throw e;
        }
    }
}
