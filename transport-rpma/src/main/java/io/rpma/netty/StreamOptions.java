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

import io.rpma.netty.DeclaredOptions.Declared;
import io.rpma.netty.stream.Handshake;
import io.rpma.netty.stream.Immediate;
import java.util.List;

/** The options that size a stream: those of a connection, or those with which a server accepts its connections. */
final class StreamOptions {
    static final int DEFAULT_MESSAGE_BYTES = 64 << 10;
    static final int DEFAULT_CREDITS = 16;
    static final int DEFAULT_BULK_BYTES = 1 << 20;

    private final Declarations declared;
    private final OptionValues values;

    /** Creates a view of the options of one channel. */
    StreamOptions(Declarations declared, OptionValues values) {
        this.declared = declared;
        this.values = values;
    }

    /** The options, which all channels of a kind share. */
    static final class Declarations {
        private final Declared<Integer> messageBytes;
        private final Declared<Integer> credits;
        private final Declared<Boolean> shared;
        private final Declared<Integer> bulkBytes;
        private final Declared<List<RpmaPath>> paths;
        private final PrivateDataOptions privateData;

        /**
         * Declares the options.
         *
         * @param maxPrivateData bytes of private data that the protocol leaves to the application
         */
        Declarations(DeclaredOptions options, int maxPrivateData) {
            messageBytes = options.number(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, DEFAULT_MESSAGE_BYTES,
                Handshake.MIN_MESSAGE_BYTES, Handshake.MAX_MESSAGE_BYTES);
            credits = options.number(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, DEFAULT_CREDITS, 1, Immediate.MAX_CREDITS);
            shared = options.flag(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, true);
            bulkBytes = options.number(RpmaChannelOption.RPMA_BULK_BYTES, DEFAULT_BULK_BYTES, 0, Handshake.MAX_BULK_BYTES);
            paths = Paths.declare(options);
            privateData = new PrivateDataOptions(options, maxPrivateData);
        }
    }

    List<RpmaPath> paths() {
        return values.get(declared.paths);
    }

    /** Returns the source of the private data, by the current options. */
    PrivateDataOptions.Source privateData() {
        return declared.privateData.source(values);
    }

    int messageBytes() {
        return values.get(declared.messageBytes);
    }

    int credits() {
        return values.get(declared.credits);
    }

    boolean shared() {
        return values.get(declared.shared);
    }

    int bulkBytes() {
        return values.get(declared.bulkBytes);
    }
}
