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

import io.netty.channel.Channel;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.socket.ServerSocketChannel;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import io.rpma.netty.connect.RefusedConnection;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.FailedOpening;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.receive.ReceiveBuffers;
import io.rpma.netty.stream.Handshake;
import io.rpma.netty.stream.StreamOpening;
import io.rpma.netty.stream.StreamQueuePair;
import io.rpma.netty.stream.StreamSizes;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A {@link ServerSocketChannel} over RPMA ({@code rpma_ep_listen(3)}, {@code rpma_ep_next_conn_req(3)}). Connections are
 * accepted on this channel's own event loop as they arrive, with their receive buffers posted; once established they wait for
 * {@code read()} in a backlog.
 *
 * <p>A wildcard address means all addresses of this host, of both families; with librpma, those of its usable devices at the
 * time of the bind, except link-local ones. With librpma, a loopback address is replaced by the address of a usable device,
 * which {@link #localAddress()} returns.
 */
public final class RpmaServerChannel extends AbstractRpmaServerChannel implements ServerSocketChannel {
    private final RpmaServerChannelConfig config = new RpmaServerChannelConfig(this, optionOwner());
    // The group that the children are registered with; null while it is not known.
    private volatile IoEventLoopGroup children;

    /** Creates a channel that can be bound. */
    public RpmaServerChannel() {
        // All options have their defaults.
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
    List<RpmaPath> paths() {
        return config.stream().paths();
    }

    @Override
    NextChild newNext(Fabric fabric, boolean first) throws RpmaException {
        StreamOptions options = config.stream();
        if (first) {
            // The channel is being bound. A factory that fails must fail the bind, and not each client.
            options.privateData().on(fabric);
        }
        StreamSizes sizes = StreamSizes.of(options.messageBytes(), options.credits(), options.bulkBytes(), fabric.limits());
        ReceiveBuffers receives = sizes.newReceives(fabric, options.shared(), nextLoop());
        try {
            return new NextStream(fabric, sizes, receives, sizes.newConfig(receives, REQUEST_TIMEOUT_MILLIS));
        } catch (RpmaException | RuntimeException e) {
            receives.leave(0);
            throw e;
        }
    }

    /** Returns the loop of the next child, or {@code null} if its group is not known. */
    private IoEventLoop nextLoop() {
        IoEventLoopGroup group = children;
        return group == null || group.isShuttingDown() ? null : group.next();
    }

    /**
     * Called when a child is about to be registered with a group: the next children are created for the loops of that group.
     * Any thread.
     */
    void childrenGoTo(IoEventLoopGroup group) {
        if (children != group) {
            children = group;
            childLoopsKnown();
        }
    }

    @Override
    boolean wantsChildLoops() {
        return children == null && config.stream().shared();
    }

    @Override
    RequestOptions requests() {
        return config.requests();
    }

    private void refuse(ConnectionRequest request, Handshake refusal, ReceiveBuffers ours) throws RpmaException {
        Connection connection;
        try {
            connection = request.connect(refusal.encode());
        } catch (RpmaException | RuntimeException e) {
            FailedOpening.abandon(null, request, e);
            ours.leave(0);
            throw e;
        }
        RefusedConnection.watch(connection, ours, refused(), eventLoop());
    }

    @Override
    Channel newChild(QueuePair pair) {
        return new RpmaChannel(this, (StreamQueuePair) pair);
    }

    /** Prepares the next stream. */
    private final class NextStream extends NextChild {
        private final StreamSizes sizes;
        private final ReceiveBuffers receives;

        NextStream(Fabric fabric, StreamSizes sizes, ReceiveBuffers receives, ConnectionConfig config) {
            super(fabric, config);
            this.sizes = sizes;
            this.receives = receives;
        }

        @Override
        void release() {
            receives.leave(0);
        }

        @Override
        QueuePair accept(ConnectionRequest request) throws RpmaException {
            Admission admission = admit(request);
            return admission == null ? null : admission.accept(null);
        }

        @Override
        Admission admit(ConnectionRequest request) throws RpmaException {
            Handshake peer;
            try {
                peer = Handshake.decodeRequest(request.privateData());
                peer.requireFor(fabric);
            } catch (Handshake.MismatchException e) {
                if (refusals().admits()) {
                    LOGGER.warn("The connection of {} to {} is refused: {}.", request.remoteAddress(), localAddress(),
                        e.getMessage());
                }
                RpmaMetrics.accepts().addRefused();
                refuse(request, Handshake.refusal(e.status()), receives);
                return null;
            } catch (RpmaException | RuntimeException e) {
                FailedOpening.abandon(null, request, e);
                receives.leave(0);
                throw e;
            }
            return new StreamAdmission(fabric, sizes, receives, request, peer);
        }
    }

    /** A client that uses the stream protocol. */
    private final class StreamAdmission implements Admission {
        private final Fabric fabric;
        private final StreamSizes sizes;
        private final ReceiveBuffers ours;
        private final ConnectionRequest request;
        private final Handshake peer;

        /**
         * Creates the admission of a request.
         *
         * @param sizes the queue sizes that the request was configured with
         * @param ours the receives that the request was configured with
         */
        StreamAdmission(Fabric fabric, StreamSizes sizes, ReceiveBuffers ours, ConnectionRequest request, Handshake peer) {
            this.fabric = fabric;
            this.sizes = sizes;
            this.ours = ours;
            this.request = request;
            this.peer = peer;
        }

        @Override
        public ByteBuffer privateData() {
            return peer.data();
        }

        @Override
        public int maxPrivateData() {
            return Handshake.MAX_ANSWER_DATA;
        }

        @Override
        public QueuePair accept(ByteBuffer answer) throws RpmaException {
            ByteBuffer data;
            try {
                data = answer != null ? answer : config.stream().privateData().on(fabric);
            } catch (RpmaException e) {
                FailedOpening.abandon(null, request, e);
                ours.leave(0);
                throw e;
            }
            return StreamOpening.accept(PublicTypes.INSTANCE, fabric, sizes, ours, request, data, peer);
        }

        @Override
        public void refuse(byte[] reason) throws RpmaException {
            RpmaServerChannel.this.refuse(request, Handshake.refusal(Handshake.REFUSED_BY_APPLICATION, ByteBuffer.wrap(reason)),
                ours);
        }

        @Override
        public void reject() throws RpmaException {
            try {
                request.close();
            } finally {
                ours.leave(0);
            }
        }
    }
}
