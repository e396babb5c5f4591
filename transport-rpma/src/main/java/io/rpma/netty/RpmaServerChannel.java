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

import io.netty.channel.socket.ServerSocketChannel;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * A {@link ServerSocketChannel} over RPMA ({@code rpma_ep_listen(3)}, {@code rpma_ep_next_conn_req(3)}). Connections are accepted
 * on this channel's own event loop as they come, with their receive buffers posted, and once established wait for {@code read()}
 * in a backlog.
 *
 * <p>A loopback or wildcard address means this host: with librpma it becomes the address of a usable device, which
 * {@link #localAddress()} tells.
 */
public final class RpmaServerChannel extends AbstractRpmaServerChannel implements ServerSocketChannel {
    private final RpmaServerChannelConfig config = new RpmaServerChannelConfig(this);
    private StreamSizes sizes;
    // For the next child.
    private ReceiveBuffers receives;
    private final Set<RefusedConnection> refused = new LinkedHashSet<>();

    /** Creates a channel that can be bound. */
    public RpmaServerChannel() {
        // With the options' defaults.
    }

    @Override
    public RpmaServerChannelConfig config() {
        return config;
    }

    @Override
    int backlog() {
        return config.getBacklog();
    }

    @Override
    ConnectionConfig newConfig(Fabric fabric) throws RpmaException {
        fabric.requireImmediateData();
        StreamOptions options = config.stream();
        sizes = StreamSizes.of(options.messageBytes(), options.credits(), options.bulkBytes(), fabric.limits());
        receives = sizes.newReceives(fabric, options.shared());
        try {
            return sizes.newConfig(receives, 1000);
        } catch (RpmaException | RuntimeException e) {
            dropConfig();
            throw e;
        }
    }

    @Override
    void dropConfig() {
        receives.leave(0);
        receives = null;
    }

    @Override
    QueuePair accept(Fabric fabric, ConnectionRequest request) throws RpmaException {
        ReceiveBuffers ours = receives;
        receives = null;
        Handshake peer;
        try {
            peer = Handshake.decodeRequest(request.privateData());
        } catch (Handshake.MismatchException e) {
            if (refusals().admits()) {
                LOGGER.warn("The connection of {} to {} is refused: {}.", request.remoteAddress(), localAddress(),
                    e.getMessage());
            }
            RpmaMetrics.accepts().addRefused();
            refuse(request, e.status(), ours);
            return null;
        } catch (RpmaException | RuntimeException e) {
            QueuePair.abandon(null, request, e);
            ours.leave(0);
            throw e;
        }
        return StreamQueuePair.accept(fabric, sizes, ours, request, peer);
    }

    private void refuse(ConnectionRequest request, int status, ReceiveBuffers ours) throws RpmaException {
        Connection connection;
        try {
            connection = request.connect(Handshake.refusal(status).encode());
        } catch (RpmaException | RuntimeException e) {
            QueuePair.abandon(null, request, e);
            ours.leave(0);
            throw e;
        }
        RefusedConnection.watch(connection, ours, refused, eventLoop());
    }

    /** The refused connections that are not destroyed yet; on the loop. */
    Set<RefusedConnection> refused() {
        return refused;
    }

    @Override
    AbstractRpmaChannel newChild(QueuePair pair) {
        return new RpmaChannel(this, (StreamQueuePair) pair);
    }
}
