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

import io.netty.channel.ChannelOption;

/**
 * The options that only this transport has. All of them take effect on connections made afterwards; on a server channel they
 * are what its children are accepted with.
 *
 * @param <T> the type of the value
 */
public final class RpmaChannelOption<T> extends ChannelOption<T> {
    /**
     * The size of a receive buffer in bytes, and so of the longest message the peer may send; 64 to 4 MiB, default 64 KiB. A
     * connection's share is {@link #RPMA_RECEIVE_BUFFERS} of them, and four more.
     */
    public static final ChannelOption<Integer> RPMA_RECEIVE_BUFFER_BYTES =
        valueOf(RpmaChannelOption.class, "RPMA_RECEIVE_BUFFER_BYTES");

    /**
     * How many messages of data the peer may send before this end has read any; 1 to 4095, default 16.
     */
    public static final ChannelOption<Integer> RPMA_RECEIVE_BUFFERS =
        valueOf(RpmaChannelOption.class, "RPMA_RECEIVE_BUFFERS");

    /**
     * Whether the connection takes its receives from a queue that it shares with others ({@code rpma_srq_new(3)}), so that the
     * memory for them does not grow with the number of connections; default true. A queue of its own costs its whole memory,
     * and is never waited for because of other connections.
     */
    public static final ChannelOption<Boolean> RPMA_SHARED_RECEIVE_QUEUE =
        valueOf(RpmaChannelOption.class, "RPMA_SHARED_RECEIVE_QUEUE");

    @SuppressWarnings({"deprecation", "unused"})
    private RpmaChannelOption() {
        super(null);
    }
}
