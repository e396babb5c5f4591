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
import io.netty.util.IllegalReferenceCountException;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.netty.connect.RefusedConnection;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.FailedOpening;
import io.rpma.netty.pair.QueuePair;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Accepts {@link RpmaMessageChannel}s ({@code rpma_ep_listen(3)}, {@code rpma_ep_next_conn_req(3)}) from this transport or from
 * any program that uses librpma. Connections are accepted on this channel's own event loop as they arrive, with their receives
 * posted; once established they wait for {@code read()} in a backlog. {@link RpmaChannelOption#RPMA_PRIVATE_DATA} may be
 * changed at any time, for instance to the descriptor of a region that was registered after the bind. A change of the queue
 * sizes takes effect from the connection after the next.
 *
 * <p>A wildcard address means all addresses of this host, of both families; with librpma, those of its usable devices at the
 * time of the bind, except link-local ones. With librpma, a loopback address is replaced by the address of a usable device,
 * which {@link #localAddress()} returns.
 */
public final class RpmaMessageServerChannel extends AbstractRpmaServerChannel {
    private final RpmaMessageServerChannelConfig config = new RpmaMessageServerChannelConfig(this, optionOwner());
    // Whether the options have been valid for a connection at least once.
    private boolean sized;
    private RpmaSharedReceiveQueue held;

    /** Creates a channel that can be bound. */
    public RpmaMessageServerChannel() {
        // All options have their defaults.
    }

    @Override
    public RpmaMessageServerChannelConfig config() {
        return config;
    }

    @Override
    int backlog() {
        return config.backlog();
    }

    @Override
    List<RpmaPath> paths() {
        return config.messages().paths();
    }

    @Override
    NextChild newNext(Fabric fabric, boolean first) throws RpmaException {
        if (first) {
            // The channel is being bound. A factory that fails must fail the bind, and not each client.
            config.messages().privateData(fabric);
        }
        try {
            MessageSizes sizes = config.messages().sizes(fabric.limits());
            hold(sizes.shared());
            NextChild next = new NextMessages(fabric, sizes, sizes.newConfig(fabric, REQUEST_TIMEOUT_MILLIS));
            sized = true;
            return next;
        } catch (IllegalArgumentException | IllegalReferenceCountException e) {
            if (!sized) {
                throw e;
            }
            // The options have been changed since the bind: only the connection fails, not the listener.
            throw new RpmaException(RpmaError.INVALID, 0, e.getMessage(), e);
        }
    }

    /**
     * Retains the queue that the options name, because its creator may release it as soon as it is set. Each child that is
     * prepared retains its own queue: the options may be changed before its client arrives.
     */
    private void hold(RpmaSharedReceiveQueue next) {
        RpmaSharedReceiveQueue before = held;
        if (next != before) {
            if (next != null) {
                next.retain();
            }
            held = next;
            if (before != null) {
                before.release();
            }
        }
    }

    private static void retain(MessageSizes sizes) {
        if (sizes.shared() != null) {
            sizes.shared().retain();
        }
    }

    private static void release(MessageSizes sizes) {
        if (sizes.shared() != null) {
            sizes.shared().release();
        }
    }

    @Override
    protected void doClose() throws Exception {
        try {
            super.doClose();
        } finally {
            hold(null);
        }
    }

    @Override
    RequestOptions requests() {
        return config.requests();
    }

    private QueuePair accept(Fabric fabric, MessageSizes with, ConnectionRequest request, ByteBuffer answer)
            throws RpmaException {
        ByteBuffer privateData;
        try {
            privateData = answer != null ? answer : config.messages().privateData(fabric);
        } catch (RpmaException | RuntimeException e) {
            FailedOpening.abandon(null, request, e);
            throw e;
        }
        return MessageQueuePair.accept(fabric, with, request, privateData);
    }

    @Override
    Channel newChild(QueuePair pair) {
        return new RpmaMessageChannel(this, (MessageQueuePair) pair);
    }

    /** Prepares the next connection. */
    private final class NextMessages extends NextChild {
        private final MessageSizes sizes;

        NextMessages(Fabric fabric, MessageSizes sizes, ConnectionConfig config) {
            super(fabric, config);
            this.sizes = sizes;
            retain(sizes);
        }

        @Override
        void release() {
            RpmaMessageServerChannel.release(sizes);
        }

        @Override
        QueuePair accept(ConnectionRequest request) throws RpmaException {
            try {
                return RpmaMessageServerChannel.this.accept(fabric, sizes, request, null);
            } finally {
                release();
            }
        }

        @Override
        Admission admit(ConnectionRequest request) throws RpmaException {
            try {
                return new MessageAdmission(fabric, sizes, request);
            } catch (RpmaException | RuntimeException e) {
                FailedOpening.abandon(null, request, e);
                throw e;
            } finally {
                release();
            }
        }
    }

    /** A client, which may be any program that uses librpma. */
    private final class MessageAdmission implements Admission {
        private final Fabric fabric;
        private final MessageSizes sizes;
        private final ConnectionRequest request;
        private final ByteBuffer privateData;

        /**
         * Creates the admission of a request.
         *
         * @param sizes the queue sizes that the request was configured with
         */
        MessageAdmission(Fabric fabric, MessageSizes sizes, ConnectionRequest request) throws RpmaException {
            this.fabric = fabric;
            this.sizes = sizes;
            this.request = request;
            privateData = request.privateData();
            // The options may be changed before this client is decided about.
            retain(sizes);
        }

        @Override
        public ByteBuffer privateData() {
            return privateData;
        }

        @Override
        public int maxPrivateData() {
            return ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA;
        }

        @Override
        public QueuePair accept(ByteBuffer answer) throws RpmaException {
            try {
                return RpmaMessageServerChannel.this.accept(fabric, sizes, request, answer);
            } finally {
                release(sizes);
            }
        }

        @Override
        public void refuse(byte[] reason) throws RpmaException {
            try {
                QueuePair pair =
                    MessageQueuePair.accept(fabric, sizes.withoutReceives(), request, ByteBuffer.wrap(reason));
                RefusedConnection.watch(pair, refused(), eventLoop());
            } finally {
                release(sizes);
            }
        }

        @Override
        public void reject() throws RpmaException {
            try {
                request.close();
            } finally {
                release(sizes);
            }
        }
    }
}
