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

import io.rpma.netty.OptionValues.Value;
import io.rpma.netty.stream.Handshake;
import io.rpma.netty.stream.Immediate;
import java.util.List;

/** The options that size a stream: those of a connection, or those with which a server accepts its connections. */
final class StreamOptions {
    static final int DEFAULT_MESSAGE_BYTES = 64 << 10;
    static final int DEFAULT_CREDITS = 16;
    static final int DEFAULT_BULK_BYTES = 1 << 20;

    private final Value<Integer> messageBytes;
    private final Value<Integer> credits;
    private final Value<Boolean> shared;
    private final Value<Integer> bulkBytes;
    private final Value<List<RpmaPath>> paths;
    private final PrivateDataOptions privateData;

    /**
     * Declares the options for a channel.
     *
     * @param maxPrivateData bytes of private data that the protocol leaves to the application
     */
    StreamOptions(OptionValues values, int maxPrivateData) {
        messageBytes = values.number(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, DEFAULT_MESSAGE_BYTES,
            Handshake.MIN_MESSAGE_BYTES, Handshake.MAX_MESSAGE_BYTES);
        credits = values.number(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, DEFAULT_CREDITS, 1, Immediate.MAX_CREDITS);
        shared = values.flag(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, true);
        bulkBytes = values.number(RpmaChannelOption.RPMA_BULK_BYTES, DEFAULT_BULK_BYTES, 0, Handshake.MAX_BULK_BYTES);
        paths = Paths.declare(values);
        privateData = new PrivateDataOptions(values, maxPrivateData);
    }

    List<RpmaPath> paths() {
        return paths.get();
    }

    /** Returns the source of the private data, by the current options. */
    PrivateDataOptions.Source privateData() {
        return privateData.source();
    }

    int messageBytes() {
        return messageBytes.get();
    }

    int credits() {
        return credits.get();
    }

    boolean shared() {
        return shared.get();
    }

    int bulkBytes() {
        return bulkBytes.get();
    }
}
