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

import java.io.IOException;
import java.net.InetSocketAddress;

/** Thrown by a stream's connect if the application of the server refused the connection ({@link RpmaConnectRequest#refuse}). */
public final class RpmaRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    private final String reason;

    RpmaRefusedException(InetSocketAddress remote, String reason) {
        super("the application at " + remote + " refused the connection" + (reason.isEmpty() ? "" : ": " + reason));
        this.reason = reason;
    }

    /**
     * Returns the reason that the server gave, possibly empty. It is not to be trusted. Characters that are not text, such as
     * control characters, have been replaced by question marks.
     */
    public String reason() {
        return reason;
    }
}
