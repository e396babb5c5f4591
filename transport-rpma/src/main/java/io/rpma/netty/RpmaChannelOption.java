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
 * The options that only this transport has. They take effect on connections that are made afterwards; on a server channel they
 * apply to the children that it accepts.
 *
 * @param <T> the type of the value
 */
public final class RpmaChannelOption<T> extends ChannelOption<T> {
    /**
     * The size of a receive buffer in bytes, and therefore of the longest message that the peer may send. For streams 64 bytes
     * to 4 MiB, default 64 KiB; connections share them, unless {@link #RPMA_SHARED_RECEIVE_QUEUE} is {@code false}. For message
     * channels 1 byte to 4 MiB, default 16 KiB.
     */
    public static final ChannelOption<Integer> RPMA_RECEIVE_BUFFER_BYTES =
        valueOf(RpmaChannelOption.class, "RPMA_RECEIVE_BUFFER_BYTES");

    /**
     * The number of data messages that the peer may send before this end has read any; 1 to 4095, for message channels up to
     * the limit of the device; default 16.
     */
    public static final ChannelOption<Integer> RPMA_RECEIVE_BUFFERS =
        valueOf(RpmaChannelOption.class, "RPMA_RECEIVE_BUFFERS");

    /**
     * Streams: whether the connection takes its receives from a queue that it shares with others ({@code rpma_srq_new(3)}), so
     * that a connection needs one receive buffer at most if there are many connections; default true. A connection with a queue
     * of its own needs memory for all its receives, but never waits because of other connections.
     */
    public static final ChannelOption<Boolean> RPMA_SHARED_RECEIVE_QUEUE =
        valueOf(RpmaChannelOption.class, "RPMA_SHARED_RECEIVE_QUEUE");

    /**
     * Streams: the largest piece of memory in bytes that is granted to the peer for large data, which then arrives as one
     * buffer; 0 for none, at most 4 MiB, default 1 MiB. Rounded down to a multiple of 64 KiB. A connection has up to 8 such
     * pieces while the peer has large data, and none otherwise. Until the buffer has been released and the memory freed, a peer
     * that violates the protocol can modify what it has written there. Set this option to 0 if data that has been checked must
     * not change afterwards.
     */
    public static final ChannelOption<Integer> RPMA_BULK_BYTES = valueOf(RpmaChannelOption.class, "RPMA_BULK_BYTES");

    /**
     * The paths that a connection may take, best first; by default those of {@code -Dio.rpma.netty.paths}, and if that is not
     * set, all that the process has, in the order of {@link RpmaPath}. Paths that this process does not have are left out; to
     * have several, the provider must be {@code auto} ({@link io.rpma.Rpma#providers()}). A client tries them in this order: if
     * one has not answered after 250 ms the next is tried concurrently, and the first that is established is used. A server
     * channel listens on all of them, under one port; if {@link RpmaPath#TCP} is among them, every host that reaches the
     * address by TCP can connect. {@link RpmaChannel#path()} returns the path that a connection has taken.
     */
    public static final ChannelOption<List<RpmaPath>> RPMA_PATHS = valueOf(RpmaChannelOption.class, "RPMA_PATHS");

    /**
     * Message channels: how many work requests can be under way at once; default 64. Further writes wait in the channel.
     */
    public static final ChannelOption<Integer> RPMA_SEND_QUEUE_SIZE = valueOf(RpmaChannelOption.class, "RPMA_SEND_QUEUE_SIZE");

    /**
     * Message channels: the longest message in bytes that the peer can receive, if the application knows it; 0, the default, if
     * it does not. A longer message fails its promise immediately; if the value is not set, it ends the connection instead.
     */
    public static final ChannelOption<Integer> RPMA_PEER_RECEIVE_BUFFER_BYTES =
        valueOf(RpmaChannelOption.class, "RPMA_PEER_RECEIVE_BUFFER_BYTES");

    /**
     * The private data that is sent to the peer with the connection request or its acceptance; default none. At most 56 bytes
     * for a client's message channel and 196 for a server's; at most 39 and 179 for streams, whose protocol needs some bytes
     * itself. The peer reads it by {@link RpmaMessageChannel#peerPrivateData()} or {@link RpmaChannel#peerPrivateData()}.
     */
    public static final ChannelOption<ByteBuffer> RPMA_PRIVATE_DATA = valueOf(RpmaChannelOption.class, "RPMA_PRIVATE_DATA");

    /**
     * Computes the private data when the device of the connection is known; default none. If it is set,
     * {@link #RPMA_PRIVATE_DATA} has no effect.
     */
    public static final ChannelOption<RpmaPrivateDataFactory> RPMA_PRIVATE_DATA_FACTORY =
        valueOf(RpmaChannelOption.class, "RPMA_PRIVATE_DATA_FACTORY");

    /**
     * Server channels: decides about each client before it is accepted; by default none is set and all clients are accepted.
     * Takes effect on requests that arrive afterwards.
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
     * {@code false}. If set, sends and receives together may exceed the size of one completion queue of the device.
     */
    public static final ChannelOption<Boolean> RPMA_RECEIVE_COMPLETION_QUEUE =
        valueOf(RpmaChannelOption.class, "RPMA_RECEIVE_COMPLETION_QUEUE");

    /**
     * Message channels: the receive buffers that the connections share ({@code rpma_conn_cfg_set_srq(3)}); by default none is
     * set and each connection has its own. The completion queue of each connection must have room for all of them, since one
     * connection may use them all. They belong to one device, so a server channel that has them can listen on only one path
     * ({@link #RPMA_PATHS}).
     */
    public static final ChannelOption<RpmaSharedReceiveQueue> RPMA_RECEIVE_QUEUE =
        valueOf(RpmaChannelOption.class, "RPMA_RECEIVE_QUEUE");

    @SuppressWarnings({"deprecation", "unused"})
    private RpmaChannelOption() {
        super(null);
    }
}
