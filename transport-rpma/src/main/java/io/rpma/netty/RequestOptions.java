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

/** The options of a server channel that concern the decision about its clients. */
final class RequestOptions {
    private static final int DEFAULT_TIMEOUT_MILLIS = 10_000;

    private final Declarations declared;
    private final OptionValues values;

    /** Creates a view of the options of one channel. */
    RequestOptions(Declarations declared, OptionValues values) {
        this.declared = declared;
        this.values = values;
    }

    /** The options, which all channels of a kind share. */
    static final class Declarations {
        private final Declared<RpmaRequestHandler> handler;
        private final Declared<Integer> timeoutMillis;

        /** Declares the options. */
        Declarations(DeclaredOptions options) {
            handler = options.value(RpmaChannelOption.RPMA_REQUEST_HANDLER, RpmaRequestHandler.class, null);
            timeoutMillis =
                options.number(RpmaChannelOption.RPMA_REQUEST_TIMEOUT_MILLIS, DEFAULT_TIMEOUT_MILLIS, 1, 60_000);
        }
    }

    /** Returns the handler that decides, or {@code null} if all clients are accepted. */
    RpmaRequestHandler handler() {
        return values.get(declared.handler);
    }

    int timeoutMillis() {
        return values.get(declared.timeoutMillis);
    }
}
