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

import io.netty.util.IllegalReferenceCountException;
import io.rpma.DeviceLimits;
import io.rpma.RpmaException;
import io.rpma.netty.DeclaredOptions.Declared;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.Slabs;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The options that size the queues of message channels: those of a connection, or those with which a server accepts its
 * connections.
 */
final class MessageOptions {
    private static final int DEFAULT_RECEIVE_BYTES = 16 << 10;
    private static final int DEFAULT_SEND_QUEUE = 64;
    private static final int MAX_QUEUE = 1 << 20;

    private final Declarations declared;
    private final OptionValues values;

    /** Creates a view of the options of one channel. */
    MessageOptions(Declarations declared, OptionValues values) {
        this.declared = declared;
        this.values = values;
    }

    /** The options, which all channels of a kind share. */
    static final class Declarations {
        private final Declared<Integer> receiveBytes;
        private final Declared<Integer> receives;
        private final Declared<Integer> sendQueue;
        private final Declared<Integer> peerReceiveBytes;
        private final Declared<List<RpmaPath>> paths;
        private final PrivateDataOptions privateData;
        private final Declared<Boolean> receiveCompletionQueue;
        private final Declared<RpmaSharedReceiveQueue> shared;

        /**
         * Declares the options.
         *
         * @param maxPrivateData bytes that a connection request, or an acceptance, can carry
         */
        Declarations(DeclaredOptions options, int maxPrivateData) {
            receiveBytes =
                options.number(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, DEFAULT_RECEIVE_BYTES, 1, Slabs.SLAB_SIZE);
            receives = options.number(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, StreamOptions.DEFAULT_CREDITS, 1, MAX_QUEUE);
            sendQueue = options.number(RpmaChannelOption.RPMA_SEND_QUEUE_SIZE, DEFAULT_SEND_QUEUE, 1, MAX_QUEUE);
            peerReceiveBytes = options.number(RpmaChannelOption.RPMA_PEER_RECEIVE_BUFFER_BYTES, 0, 0, Integer.MAX_VALUE);
            paths = Paths.declare(options);
            privateData = new PrivateDataOptions(options, maxPrivateData);
            receiveCompletionQueue = options.flag(RpmaChannelOption.RPMA_RECEIVE_COMPLETION_QUEUE, false);
            shared = options.value(RpmaChannelOption.RPMA_RECEIVE_QUEUE, RpmaSharedReceiveQueue.class, null);
        }
    }

    List<RpmaPath> paths() {
        return values.get(declared.paths);
    }

    /** Returns a copy, which does not change. */
    MessageOptions snapshot() {
        return new MessageOptions(declared, values.copy());
    }

    /** Returns the private data for a connection over a fabric, possibly empty. */
    ByteBuffer privateData(Fabric fabric) throws RpmaException {
        return declared.privateData.source(values).on(fabric);
    }

    /** Returns the sizes of the queues; fails if they exceed the limits of the device, or if the shared queue was released. */
    MessageSizes sizes(DeviceLimits limits) {
        RpmaSharedReceiveQueue from = values.get(declared.shared);
        if (from != null && from.refCnt() == 0) {
            throw new IllegalReferenceCountException("RPMA_RECEIVE_QUEUE is a " + from + " that has been released: release it"
                + " after the last connect, or after the bind");
        }
        int count = from != null ? from.receives() : values.get(declared.receives);
        int sends = values.get(declared.sendQueue);
        boolean apart = values.get(declared.receiveCompletionQueue);
        int most = limits.maxQueuePairWorkRequests();
        long completions = apart ? Math.max(count, sends) : (long) count + sends;
        if (from == null && count > most || sends > most || completions > limits.maxCompletionQueueSize()) {
            throw new IllegalArgumentException((from != null ? "RPMA_RECEIVE_QUEUE is a " + from
                : "RPMA_RECEIVE_BUFFERS is " + count) + " and RPMA_SEND_QUEUE_SIZE " + sends + "; the device offers " + most
                + " work requests for each queue and " + limits.maxCompletionQueueSize() + " completions for "
                + (apart ? "each: " : "both: ") + (from != null ? "use a smaller queue" : "lower them")
                + (apart ? "" : ", or give the receives a completion queue of their own (RPMA_RECEIVE_COMPLETION_QUEUE)"));
        }
        int peerBytes = values.get(declared.peerReceiveBytes);
        int bytes = from != null ? from.receiveBytes() : values.get(declared.receiveBytes);
        return new MessageSizes((int) Math.min(bytes, limits.maxMessageSize()), count, sends, from, apart,
            peerBytes != 0 ? peerBytes : limits.maxMessageSize());
    }
}
