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
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import java.nio.ByteBuffer;

/**
 * Accepts {@link RpmaMessageChannel}s ({@code rpma_ep_listen(3)}, {@code rpma_ep_next_conn_req(3)}), from this transport or from
 * any program that uses librpma. Connections are accepted on this channel's own event loop as they come, with their receives
 * posted, and once established wait for {@code read()} in a backlog. {@link RpmaChannelOption#RPMA_PRIVATE_DATA} may be set anew
 * at any time, for instance to the descriptor of a region that was registered after the bind; the sizes of the queues, set anew,
 * are those of the connection after the next.
 *
 * <p>A loopback or wildcard address means this host: with librpma it becomes the address of a usable device, which
 * {@link #localAddress()} tells.
 */
public final class RpmaMessageServerChannel extends AbstractRpmaServerChannel {
    private final RpmaMessageServerChannelConfig config = new RpmaMessageServerChannelConfig(this);
    private MessageSizes sizes;
    private RpmaSharedReceiveQueue held;

    /** Creates a channel that can be bound. */
    public RpmaMessageServerChannel() {
        // With the options' defaults.
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
    ConnectionConfig newConfig(Fabric fabric) throws RpmaException {
        MessageSizes next;
        try {
            next = config.messages().sizes(fabric.limits());
            hold(next.shared());
            ConnectionConfig made = next.newConfig(fabric, 1000);
            sizes = next;
            return made;
        } catch (IllegalArgumentException e) {
            if (sizes == null) {
                throw e;
            }
            // The options have been changed since the bind: the connection is to blame for it, not the listener.
            throw new RpmaException(RpmaError.INVALID, 0, e.getMessage(), e);
        }
    }

    /** Keeps the queue alive that the next connection is configured with. */
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

    @Override
    protected void doClose() throws Exception {
        try {
            super.doClose();
        } finally {
            hold(null);
        }
    }

    @Override
    QueuePair accept(Fabric fabric, ConnectionRequest request) throws RpmaException {
        ByteBuffer privateData = config.messages().privateData();
        return MessageQueuePair.accept(fabric, sizes, request, privateData);
    }

    @Override
    AbstractRpmaChannel newChild(QueuePair pair) {
        return new RpmaMessageChannel(this, (MessageQueuePair) pair);
    }
}
