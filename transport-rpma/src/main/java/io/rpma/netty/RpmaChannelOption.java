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
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The options that only this transport has. All of them take effect on connections made afterwards; on a server channel they
 * are what its children are accepted with.
 *
 * @param <T> the type of the value
 */
public final class RpmaChannelOption<T> extends ChannelOption<T> {
    /**
     * The size of a receive buffer in bytes, and so of the longest message the peer may send. For streams 64 to 4 MiB, default
     * 64 KiB; a connection's share is {@link #RPMA_RECEIVE_BUFFERS} of them, and four more. For message channels 1 to 4 MiB,
     * default 16 KiB.
     */
    public static final ChannelOption<Integer> RPMA_RECEIVE_BUFFER_BYTES =
        valueOf(RpmaChannelOption.class, "RPMA_RECEIVE_BUFFER_BYTES");

    /**
     * How many messages of data the peer may send before this end has read any; 1 to 4095, for message channels as many as the
     * device offers; default 16.
     */
    public static final ChannelOption<Integer> RPMA_RECEIVE_BUFFERS =
        valueOf(RpmaChannelOption.class, "RPMA_RECEIVE_BUFFERS");

    /**
     * Streams: whether the connection takes its receives from a queue that it shares with others ({@code rpma_srq_new(3)}), so
     * that the memory for them does not grow with the number of connections; default true. A queue of its own costs its whole
     * memory, and is never waited for because of other connections.
     */
    public static final ChannelOption<Boolean> RPMA_SHARED_RECEIVE_QUEUE =
        valueOf(RpmaChannelOption.class, "RPMA_SHARED_RECEIVE_QUEUE");

    /**
     * Streams: the largest piece of memory in bytes that the peer is granted to write large data into, which then arrives as one
     * buffer; 0 for none, at most 4 MiB, default 1 MiB. Rounded down to a multiple of 64 KiB. A connection has up to 8 such
     * pieces while the peer has large data, and none otherwise. Until the buffer is released and the memory freed, a peer that
     * breaks the rules can change what it has written there: turn it off where what has been checked must not change
     * afterwards.
     */
    public static final ChannelOption<Integer> RPMA_BULK_BYTES = valueOf(RpmaChannelOption.class, "RPMA_BULK_BYTES");

    /**
     * The paths that a connection may take, best first; default {@code -Dio.rpma.netty.paths}, and without that all that the
     * process has, in the order of {@link RpmaPath}. Those that this process does not have are left out; to have several, the
     * provider must be {@code auto} ({@link io.rpma.Rpma#providers()}). A client asks them in this order: one that has not
     * answered after 250 ms gets company by the next, and the first that is established is taken. A server channel listens on
     * all of them, under one port: with {@link RpmaPath#TCP} among them, every host that reaches the address by TCP can connect.
     * {@link RpmaChannel#path()} tells which one a connection has taken.
     */
    public static final ChannelOption<List<RpmaPath>> RPMA_PATHS = valueOf(RpmaChannelOption.class, "RPMA_PATHS");

    /**
     * Message channels: how many work requests can be under way at once; default 64. What is written beyond waits in the channel.
     */
    public static final ChannelOption<Integer> RPMA_SEND_QUEUE_SIZE = valueOf(RpmaChannelOption.class, "RPMA_SEND_QUEUE_SIZE");

    /**
     * Message channels: the longest message in bytes that the peer can receive, if the application knows it; 0, the default, if
     * not. A longer one fails its promise at once; unknown, it ends the connection.
     */
    public static final ChannelOption<Integer> RPMA_PEER_RECEIVE_BUFFER_BYTES =
        valueOf(RpmaChannelOption.class, "RPMA_PEER_RECEIVE_BUFFER_BYTES");

    /**
     * The private data that the peer is told with the connection request or its acceptance; default none. Of a client's message
     * channel at most 56 bytes, of a server's 196; of streams, whose protocol needs some itself, 39 and 179.
     * {@link RpmaMessageChannel#peerPrivateData()} and {@link RpmaChannel#peerPrivateData()} are how it is read.
     */
    public static final ChannelOption<ByteBuffer> RPMA_PRIVATE_DATA = valueOf(RpmaChannelOption.class, "RPMA_PRIVATE_DATA");

    /**
     * Computes the private data when the device of the connection is known, in place of
     * {@link #RPMA_PRIVATE_DATA}, which has no effect beside it; default none.
     */
    public static final ChannelOption<RpmaPrivateDataFactory> RPMA_PRIVATE_DATA_FACTORY =
        valueOf(RpmaChannelOption.class, "RPMA_PRIVATE_DATA_FACTORY");

    /**
     * Server channels: decides about each client before it is accepted; default none: all are accepted. Takes effect on requests
     * that come afterwards.
     */
    public static final ChannelOption<RpmaRequestHandler> RPMA_REQUEST_HANDLER =
        valueOf(RpmaChannelOption.class, "RPMA_REQUEST_HANDLER");

    /**
     * Server channels: how many milliseconds the decision about a client may take before the client is refused; 1 to 60,000,
     * default 10,000.
     */
    public static final ChannelOption<Integer> RPMA_REQUEST_TIMEOUT_MILLIS =
        valueOf(RpmaChannelOption.class, "RPMA_REQUEST_TIMEOUT_MILLIS");

    /**
     * Message channels: whether receives complete in a queue of their own ({@code rpma_conn_cfg_set_rcq_size(3)}); default
     * {@code false}. Then sends and receives together may be more than a completion queue of the device holds.
     */
    public static final ChannelOption<Boolean> RPMA_RECEIVE_COMPLETION_QUEUE =
        valueOf(RpmaChannelOption.class, "RPMA_RECEIVE_COMPLETION_QUEUE");

    /**
     * Message channels: the receive buffers that the connections share ({@code rpma_conn_cfg_set_srq(3)}); default none: each has
     * its own. Their number counts for each connection's completion queue, since one may take them all.
     */
    public static final ChannelOption<RpmaSharedReceiveQueue> RPMA_RECEIVE_QUEUE =
        valueOf(RpmaChannelOption.class, "RPMA_RECEIVE_QUEUE");

    @SuppressWarnings({"deprecation", "unused"})
    private RpmaChannelOption() {
        super(null);
    }
}
